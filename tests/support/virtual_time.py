"""An event loop with a clock of its own, so that a busy machine changes no timer."""

from __future__ import annotations

import asyncio
import selectors
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

T = TypeVar("T")


class _Selector(selectors.DefaultSelector):
    """A selector that advances a clock where another one would sleep."""

    now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if ready or timeout == 0:
            return ready
        if timeout is None:
            return super().select(None)
        self.now += timeout
        return []


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """An event loop whose time passes only while it waits for a timer, and then at once."""

    def __init__(self) -> None:
        self._clock = _Selector()
        super().__init__(self._clock)

    def time(self) -> float:
        return self._clock.now

    def advance(self, seconds: float) -> None:
        """Let time pass as it does while a callback occupies the loop."""
        self._clock.now += seconds


def run_in_virtual_time(work: Callable[[VirtualTimeLoop], Coroutine[Any, Any, T]]) -> T:
    """Run a coroutine function, which is given the loop, on a loop of its own."""
    loop = VirtualTimeLoop()
    try:
        return loop.run_until_complete(work(loop))
    finally:
        loop.close()
