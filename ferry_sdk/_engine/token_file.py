"""Files with a secret: the access token, which another program may replace, or that of a server."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import Final

from ferry_sdk._runtime.files import read_file
from ferry_sdk.errors import ConfigurationError

_LONGEST: Final = 64 * 1024
"""Bytes of a file that are read at most; a device such as /dev/zero never ends."""
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO


class FileToken:
    """A function that reads the token from a file at each call.

    Attributes:
        first_token: The token at the beginning. Later ones are of the same account.

    Raises:
        ConfigurationError: The file cannot be read, is empty, or holds more than a token.
    """

    def __init__(self, file: Path) -> None:
        self.first_token: str = read_secret(file, "token")
        # A pipe, such as `--token-file <(…)`, can be read only once.
        self._file = file if file.is_file() else None

    def __call__(self) -> str:
        """Return the token in the file."""
        return self.first_token if self._file is None else read_secret(self._file, "token")


def file_of(option: Path | None) -> Path | None:
    """Return the token file: that of the option, else the one in ``FERRY_TOKEN_FILE``."""
    if option is not None:
        return option
    path = os.environ.get("FERRY_TOKEN_FILE")
    return Path(path) if path else None


def read_secret(file: Path, name: str) -> str:
    """Return the secret in a file.

    Args:
        file: The file.
        name: What it holds, for the errors, such as ``token``.

    Raises:
        ConfigurationError: The file cannot be read, is empty, or holds more than a secret.
    """
    try:
        content = read_file(file, _LONGEST)
        secret = content.decode("utf-8-sig").strip()
    except (OSError, ValueError):
        raise ConfigurationError(f"{name} file {file}: cannot be read") from None
    if not secret:
        raise ConfigurationError(f"{name} file {file}: is empty")
    if secret.lower().startswith("bearer "):
        raise ConfigurationError(f'{name} file {file}: expected the {name} alone, without "Bearer"')
    if len(content) > _LONGEST or len(secret.split()) > 1:
        raise ConfigurationError(f"{name} file {file}: contains more than a {name}")
    return secret


def has_other_readers(file: Path) -> bool:
    """Return whether other users of the machine can read a file, or write to it."""
    with suppress(OSError):
        mode = file.stat().st_mode
        return os.name == "posix" and stat.S_ISREG(mode) and bool(mode & _OTHERS)
    return False
