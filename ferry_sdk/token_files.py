"""A token that is kept in a file."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from .errors import ConfigurationError


def file_of(said: Path | None) -> Path | None:
    """Which file holds the token: the one that was said, else that of ``FERRY_TOKEN_FILE``."""
    named = os.environ.get("FERRY_TOKEN_FILE")
    return said or (Path(named) if named else None)


def token_in(file: Path) -> Callable[[], str]:
    """Gives the token that is in the file, read again each time.

    Raises:
        ConfigurationError: The file cannot be read, or holds no token, or more.
    """
    token = _read(file)
    # A pipe, as of `--token-file <(…)`, gives it once.
    return (lambda: _read(file)) if file.is_file() else (lambda: token)


def _read(file: Path) -> str:
    try:
        token = file.read_text("utf-8-sig").strip()
    except (OSError, UnicodeDecodeError):
        raise ConfigurationError(f"token file {file}: it cannot be read") from None
    if not token:
        raise ConfigurationError(f"token file {file}: it is empty")
    if len(token.split()) > 1:
        raise ConfigurationError(f"token file {file}: more than a token stands in it")
    return token
