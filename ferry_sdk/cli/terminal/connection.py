"""A client from the options and the environment; no token is ever an argument."""

from __future__ import annotations

import logging
import os
import stat
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

from ferry_sdk._engine.auth import file_of, token_in
from ferry_sdk.cli.terminal.output import aside, warn
from ferry_sdk.client import Ferry
from ferry_sdk.types import Recorder

_OTHERS = stat.S_IRWXG | stat.S_IRWXO


@contextmanager
def connected(
    base_url: str | None, said: Path | None, *, journal: Recorder | None = None
) -> Generator[Ferry, None, None]:
    """A client for the block; its warnings are the command's."""
    with _warnings(), Ferry(token_of(said), base_url=base_url, journal=journal) as ferry:
        yield ferry


def token_of(said: Path | None) -> Callable[[], str] | None:
    """The token in a file, read again when the service refuses it; None: the client looks itself.

    Raises:
        ConfigurationError: The file cannot be read, or holds no token, or more.
    """
    file = file_of(said)
    if file is None:
        return None
    if is_open_to_others(file):
        warn(f"others can read the token in {file}: chmod 600 {file}")
    return token_in(file)


def is_open_to_others(file: Path) -> bool:
    """Whether more people than its owner may do something with the file, where that is known."""
    try:
        mode = file.stat().st_mode
        return os.name == "posix" and stat.S_ISREG(mode) and bool(mode & _OTHERS)
    except OSError:
        return False


@contextmanager
def _warnings() -> Generator[None, None, None]:
    """What the library warns of, on standard error: an interrupted write with its id, say."""

    class Aside(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            warn(record.getMessage())

    handler = Aside(logging.WARNING)
    logger = logging.getLogger("ferry_sdk")
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        aside().file.flush()
