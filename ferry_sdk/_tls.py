"""What a service is trusted by, the same for every connection: to make it takes longer than a call.

It is what httpx trusts: the environment's certificates, else certifi's.
"""

from __future__ import annotations

import os
import ssl
from functools import lru_cache

import certifi

from .errors import ConfigurationError


@lru_cache(maxsize=4)
def context_of(*, verify: bool, trust_env: bool) -> ssl.SSLContext:
    """The context of these settings, made once.

    Args:
        verify: Whether a service has to show who it is.
        trust_env: Whether ``SSL_CERT_FILE`` and ``SSL_CERT_DIR`` are asked.

    Raises:
        ConfigurationError: What the environment names cannot be read.
    """
    if verify:
        file = os.environ.get("SSL_CERT_FILE") if trust_env else None
        folder = os.environ.get("SSL_CERT_DIR") if trust_env and not file else None
        own = None if folder else certifi.where()
        try:
            return ssl.create_default_context(cafile=file or own, capath=folder or None)
        except OSError:
            raise ConfigurationError(
                "SSL_CERT_FILE or SSL_CERT_DIR names no certificates that can be read"
            ) from None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context
