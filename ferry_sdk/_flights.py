"""Calls in flight that others of this process may join, from any thread and any event loop."""

from __future__ import annotations

import threading
from collections.abc import Hashable
from copy import copy
from typing import Any

from ._forking import in_a_child
from .errors import ConnectionFailedError, FerryError


class Flight:
    """One call, and those who wait for it.

    Attributes:
        landed: Set when its outcome is there.
    """

    def __init__(self) -> None:
        self.landed = threading.Event()
        self._value: object = None
        self._failure: BaseException | None = None

    def outcome(self) -> Any:  # noqa: ANN401 -- whatever the call gives
        """The result, or a copy of the error.

        Raises:
            FerryError: The call failed.
            ConnectionFailedError: It was interrupted, by something that is not ours.
        """
        if self._failure is None:
            return self._value
        if isinstance(self._failure, FerryError):
            raise copy(self._failure) from self._failure.__cause__
        raise ConnectionFailedError(
            "another caller's request for the same was interrupted", outcome="unknown"
        )

    def land(self, key: Hashable, value: object, failure: BaseException | None = None) -> None:
        """Let nobody join any more, and give the outcome to those who did."""
        _flights.pop(key, None)
        self._value, self._failure = value, failure
        self.landed.set()


_flights: dict[Hashable, Flight] = {}
in_a_child(_flights.clear)


def boarded(key: Hashable) -> tuple[Flight, bool]:
    """The flight of a key, and whether the caller is the one who flies it."""
    mine = Flight()
    flight = _flights.setdefault(key, mine)
    return flight, flight is mine
