"""Correlation ids: one id for all requests and log records of a call."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from itertools import count
from typing import TYPE_CHECKING, Final
from uuid import uuid4

from ferry_sdk._engine.validation import header_value
from ferry_sdk._runtime.fork import after_fork_in_child

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

_current: ContextVar[str | None] = ContextVar("ferry_sdk_correlation", default=None)


@contextmanager
def correlation(correlation_id: str) -> Generator[str]:
    """Set the correlation id of every call inside the block; threads and tasks keep their own.

    Interface: Conventions for all REST requests, x-client-correlation-id.

    Args:
        correlation_id: Printable ASCII.

    Yields:
        The id.

    Raises:
        InvalidInputError: The id is not valid in a header.

    Example:
        ```python
        from ferry_sdk import Ferry, correlation
        from ferry_sdk.sandbox import Sandbox

        with Sandbox() as sandbox, Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
            with correlation("order-4711"):
                answer = ferry.with_raw_response.catalogue.ports()
            print(answer.correlation_id)
            # > order-4711
        ```
    """
    token = _current.set(header_value(correlation_id, "correlation_id"))
    try:
        yield correlation_id
    finally:
        _current.reset(token)


def next_correlation_id() -> str:
    """Return the id of a new call: the context's, else a UUID of its own."""
    return _current.get() or f"{next(_numbers):08x}{_rest}"


_numbers: Iterator[int]
_rest: str


def _start_ids() -> None:
    """Begin the ids of this process: one random UUID whose first digits count the calls.

    An id must be unique, not secret, and a UUID for each call takes ten times as long.
    """
    global _numbers, _rest
    first = uuid4()
    _numbers, _rest = count(first.int >> 97), str(first)[8:]  # 31 of the 32 bits: there is room


_start_ids()
after_fork_in_child(_start_ids)


class RecentIds:
    """A bounded set of the ids of recent calls of this process.

    There are two sets: when the newer one is full, it replaces the older one. This needs no lock.
    If several threads add at the same moment, the worst case is that an id is forgotten too early.
    """

    def __init__(self, most: int = 4096) -> None:
        self._most = most
        self._newer: set[str] = set()
        self._older: set[str] = set()

    def add(self, correlation_id: str) -> None:
        """Add an id."""
        newer = self._newer
        newer.add(correlation_id)
        if len(newer) >= self._most:
            self._older, self._newer = newer, set()

    def __contains__(self, correlation_id: str) -> bool:
        return correlation_id in self._newer or correlation_id in self._older


recent_ids: Final = RecentIds()
"""The ids of recent calls of this process."""
