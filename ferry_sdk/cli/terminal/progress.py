"""Signs of life while something takes more than a moment."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from threading import Timer

from ferry_sdk.cli.terminal.output import aside, plain

PATIENCE = 0.5
"""Seconds before anything is shown."""


@contextmanager
def working(on: str) -> Generator[Callable[[str], None], None, None]:
    """Show on a terminal what is being done in this block, once it has taken half a second.

    Gives a function that changes the words. Nothing is left of it on the screen.
    """
    console = aside()
    status = console.status(plain(on))
    if not console.is_terminal:
        yield lambda _: None
        return
    timer = Timer(PATIENCE, status.start)
    timer.daemon = True
    timer.start()
    try:
        yield lambda text: status.update(plain(text))
    finally:
        timer.cancel()
        timer.join()
        status.stop()
