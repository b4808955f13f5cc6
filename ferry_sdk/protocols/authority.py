"""Whose token a request carries."""

from __future__ import annotations

from typing import Literal

from ferry_sdk.checks import header_value
from ferry_sdk.effects import Ask, Steps
from ferry_sdk.errors import ConfigurationError, InvalidInputError
from ferry_sdk.settings import Settings

Authority = Literal["token", "organisation_token"]


def authorisation(settings: Settings, authority: Authority) -> Steps[str]:
    """The value of the Authorization header; a callable token is asked for it.

    Raises:
        ConfigurationError: There is no such token, or it cannot stand in a header.
    """
    secret = settings.token if authority == "token" else settings.organisation_token
    if secret is None:
        raise ConfigurationError("missing: organisation_token=… or FERRY_ORGANISATION_TOKEN")
    token = secret.source if isinstance(secret.source, str) else (yield from Ask(secret.source))
    try:
        secret.shown = header_value(token, authority)
    except InvalidInputError as error:
        raise ConfigurationError(str(error)) from None
    return f"Bearer {token}"
