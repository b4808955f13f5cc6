"""TLS contexts, cached because making one takes longer than a call.

The trusted certificates are those of httpx: the environment's, else certifi's. A file that changes
is read again for the next connection.
"""

from __future__ import annotations

import os
import ssl
from functools import lru_cache
from pathlib import Path

import certifi

from ferry_sdk._engine.settings import CertificatePaths
from ferry_sdk._runtime.fork import FORK_LOCK
from ferry_sdk.errors import ConfigurationError


def context_of(paths: CertificatePaths) -> ssl.SSLContext:
    """Return the context for these certificates in their current version.

    Args:
        paths: Their paths; certifi's if none is set.

    Raises:
        ConfigurationError: The certificates cannot be read.
    """
    file: str | None = None
    folder: str | None = None
    if paths.file:
        file = paths.file
        sources = [file]
    elif paths.folder:
        folder = paths.folder
        sources = folder.split(os.pathsep)  # SSL_CERT_DIR may contain several folders
    else:
        file = certifi.where()
        sources = [file]

    versions = tuple(_version(source) for source in sources)
    try:
        return _verified(file, folder, versions)
    except OSError:
        problem = "SSL_CERT_FILE or SSL_CERT_DIR: no certificates can be read"
        raise ConfigurationError(problem) from None


def _version(path: str) -> tuple[int, int, int] | None:
    """Return what changes when a file, or a file in a folder, is written."""
    try:
        status = Path(path).stat()
    except OSError:  # reading the certificates reports it
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


@lru_cache(maxsize=4)
def _verified(file: str | None, folder: str | None, versions: object) -> ssl.SSLContext:  # noqa: ARG001 -- part of the cache key
    with FORK_LOCK.use(writes=True):  # OpenSSL has locks of its own
        return ssl.create_default_context(cafile=file, capath=folder)
