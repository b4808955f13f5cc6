"""Calls made at the same time, each in a thread of its own, and what became of them."""

import threading
import time
from dataclasses import dataclass
from typing import Any

from tests.support.stopwatch import Stopwatch

LONG = 30.0
"""Seconds after which nothing of a test can be right any more."""


@dataclass(frozen=True)
class Outcome:
    """What a call gave or raised, and how long it took, less what others took of the machine."""

    value: Any
    error: BaseException | None
    seconds: float


class UnderWay:
    def __init__(self, call, gate=None):
        self._call = call
        self._gate = gate
        self._outcome = None
        self._thread = threading.Thread(target=self._make, daemon=True)
        self._thread.start()

    @property
    def is_over(self):
        return not self._thread.is_alive()

    def outcome(self):
        self._thread.join(LONG)
        assert self._outcome is not None, "the call hangs"
        return self._outcome

    def value(self):
        outcome = self.outcome()
        if outcome.error is not None:
            raise outcome.error
        return outcome.value

    def error(self):
        outcome = self.outcome()
        assert outcome.error is not None, f"it gave {outcome.value!r}"
        return outcome.error

    def _make(self):
        if self._gate is not None:
            self._gate.wait(LONG)
        value, error = None, None
        watch = Stopwatch()
        try:
            value = self._call()
        except BaseException as raised:  # noqa: BLE001 -- it is the test's to judge
            error = raised
        self._outcome = Outcome(value, error, watch.seconds)


def at_once(*calls):
    """The calls, begun in the same moment."""
    gate = threading.Barrier(len(calls))
    return [UnderWay(call, gate) for call in calls]


def eventually(holds, seconds=LONG, about=None):
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, f"it does not come to hold: {about}"
        time.sleep(0.01)


def threads_end():
    eventually(lambda: "ferry_sdk call" not in {one.name for one in threading.enumerate()})
