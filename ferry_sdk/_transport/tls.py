"""What a service is trusted by, the same for every connection: to make it takes longer than a call.

It is what httpx trusts: the environment's certificates, else certifi's. A file that is renewed is
read again for the next connection.
"""

from __future__ import annotations

import os
import ssl
from functools import lru_cache
from pathlib import Path

import certifi

from ferry_sdk._engine.settings import CertificatePaths
from ferry_sdk.errors import ConfigurationError


def context_of(paths: CertificatePaths, *, verify: bool = True) -> ssl.SSLContext:
    """The context of these certificates as they are now, made once.

    Args:
        paths: Where they are; certifi's, where it names none.
        verify: Whether a service has to show who it is.

    Raises:
        ConfigurationError: They cannot be read.
    """
    if not verify:
        return _unverified()
    file = paths.file or (None if paths.folder else certifi.where())
    folder = None if file else paths.folder
    try:
        # SSL_CERT_DIR may name several folders.
        versions = (*map(_version, [file] if file else (folder or "").split(os.pathsep)),)
        return _verified(file, folder, versions)
    except OSError:
        raise ConfigurationError(
            "SSL_CERT_FILE or SSL_CERT_DIR names no certificates that can be read"
        ) from None


def _version(path: str) -> tuple[int, int, int] | None:
    """What changes when a file, or what is in a folder, is written anew."""
    try:
        now = Path(path).stat()
    except OSError:  # whoever reads it says so
        return None
    return now.st_mtime_ns, now.st_size, now.st_ino


@lru_cache(maxsize=4)
def _verified(
    file: str | None,
    folder: str | None,
    versions: tuple[object, ...],  # noqa: ARG001 -- they are part of the cache's key
) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=file, capath=folder)


@lru_cache(maxsize=1)
def _unverified() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context
