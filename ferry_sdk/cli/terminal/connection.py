"""Create a client from the options and the environment.

A token is never an argument, because other users of the machine can read those.
"""

from __future__ import annotations

import logging
import os
import stat
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

from ferry_sdk._engine.auth import file_of, token_in
from ferry_sdk.cli.terminal.output import error_console, warn
from ferry_sdk.client import Ferry
from ferry_sdk.types import Recorder

_OTHERS = stat.S_IRWXG | stat.S_IRWXO


@contextmanager
def open_client(
    base_url: str | None, token_file: Path | None, *, journal: Recorder | None = None
) -> Generator[Ferry, None, None]:
    """Open a client for the block, and print its warnings."""
    token = token_of(token_file)
    with _print_warnings(), Ferry(token, base_url=base_url, journal=journal) as ferry:
        yield ferry


def token_of(token_file: Path | None) -> Callable[[], str] | None:
    """Return a function that reads the token file, or None to let the client find the token.

    The client calls the function again when the service rejects the token.

    Raises:
        ConfigurationError: The file cannot be read, or does not contain exactly one token.
    """
    file = file_of(token_file)
    if file is None:
        return None
    if is_open_to_others(file):
        warn(f"other users can read the token in {file}; run: chmod 600 {file}")
    return token_in(file)


def is_open_to_others(file: Path) -> bool:
    """Return whether others than the owner have access to the file; False if that is unknown."""
    try:
        mode = file.stat().st_mode
        return os.name == "posix" and stat.S_ISREG(mode) and bool(mode & _OTHERS)
    except OSError:
        return False


@contextmanager
def _print_warnings() -> Generator[None, None, None]:
    """Print the library's warnings on standard error, such as an interrupted write with its id."""

    class WarningHandler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            warn(record.getMessage())

    handler = WarningHandler(logging.WARNING)
    logger = logging.getLogger("ferry_sdk")
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        error_console().file.flush()
