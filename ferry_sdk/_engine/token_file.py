"""A file with the access token, which another program may replace."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from ferry_sdk._runtime.files import read_file
from ferry_sdk.errors import ConfigurationError

_LONGEST: Final = 64 * 1024
"""Bytes of a token file that are read at most; a device such as /dev/zero never ends."""


class FileToken:
    """A function that reads the token from a file at each call.

    Attributes:
        first_token: The token at the beginning. Later ones are of the same account.

    Raises:
        ConfigurationError: The file cannot be read, is empty, or holds more than a token.
    """

    def __init__(self, file: Path) -> None:
        self.first_token: str = _read(file)
        # A pipe, such as `--token-file <(…)`, can be read only once.
        self._file = file if file.is_file() else None

    def __call__(self) -> str:
        """Return the token in the file."""
        return self.first_token if self._file is None else _read(self._file)


def file_of(option: Path | None) -> Path | None:
    """Return the token file: that of the option, else the one in ``FERRY_TOKEN_FILE``."""
    path = os.environ.get("FERRY_TOKEN_FILE")
    return option or (Path(path) if path else None)


def _read(file: Path) -> str:
    try:
        content = read_file(file, _LONGEST)
        token = content.decode("utf-8-sig").strip()
    except (OSError, ValueError):
        raise ConfigurationError(f"token file {file}: cannot be read") from None
    if not token:
        raise ConfigurationError(f"token file {file}: is empty")
    if token.lower().startswith("bearer "):
        raise ConfigurationError(f'token file {file}: expected the token alone, without "Bearer"')
    if len(content) > _LONGEST or len(token.split()) > 1:
        raise ConfigurationError(f"token file {file}: contains more than a token")
    return token
