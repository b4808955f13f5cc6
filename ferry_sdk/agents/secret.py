"""The secret of requests over HTTP."""

from __future__ import annotations

from ferry_sdk.errors import ConfigurationError


def check_secret(secret: object) -> str:
    """Return a secret that a header can have.

    Raises:
        ConfigurationError: It is empty, or has other characters than printable ASCII.
    """
    is_sendable = isinstance(secret, str) and secret.isascii() and secret.isprintable()
    if not isinstance(secret, str) or not is_sendable or len(secret.split()) != 1:
        raise ConfigurationError("secret: expected printable ASCII without spaces")
    return secret
