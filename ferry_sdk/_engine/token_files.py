"""A token that is kept in a file."""

from __future__ import annotations

import os
import select
from collections.abc import Callable
from pathlib import Path
from typing import Final

from ferry_sdk.errors import ConfigurationError

_LONGEST: Final = 64 * 1024
"""Bytes: no token is longer, and a device has no end."""
_PATIENCE: Final = 30.0
"""Seconds between two pieces of what comes through a pipe."""


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
        content = _content(file)
        token = content.decode("utf-8-sig").strip()
    except (OSError, ValueError):
        raise ConfigurationError(f"token file {file}: it cannot be read") from None
    if not token:
        raise ConfigurationError(f"token file {file}: it is empty")
    if len(content) > _LONGEST or len(token.split()) > 1:
        raise ConfigurationError(f"token file {file}: more than a token stands in it")
    return token


def _content(file: Path) -> bytes:
    """What is in the file, as far as a token may be long; of a pipe, what comes in time.

    Raises:
        OSError: It cannot be read, or nothing came.
    """
    # A pipe that nobody writes to is empty: to open it would block without this flag.
    descriptor = os.open(file, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    content = b""
    with os.fdopen(descriptor, "rb", buffering=0) as opened:
        while len(content) <= _LONGEST:
            piece = opened.read(_LONGEST)
            if piece is None:  # whoever writes to the pipe has not done so yet
                if not select.select([descriptor], [], [], _PATIENCE)[0]:
                    raise TimeoutError
            elif piece:
                content += piece
            else:
                break
    return content
