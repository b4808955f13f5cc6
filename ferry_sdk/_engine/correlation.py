"""Correlation ids: one id for all requests and log records of a call."""

from __future__ import annotations

from collections import OrderedDict
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
    """Return the id of a new call: that of `correlation`, else a UUID of its own."""
    return _current.get() or f"{next(_numbers):08x}{_rest}"


_numbers: Iterator[int]
_rest: str


def _start_ids() -> None:
    """Begin the ids of this process: one random UUID whose first digits count the calls.

    After ``1f0c3a5e-7a3b-…`` comes ``1f0c3a5f-7a3b-…``. An id must be unique, not secret, and a
    random UUID for each call takes ten times as long.
    """
    global _numbers, _rest
    first = uuid4()
    # Of the 32 bits of the first digits, 31 are random, so that counting does not overflow them.
    _numbers, _rest = count(first.int >> 97), str(first)[8:]


_start_ids()
after_fork_in_child(_start_ids)


class RecentIds(OrderedDict[str, None]):
    """The ids of recent calls of this process, the latest last.

    Each step is one call of C, so threads need no lock. If several threads add at the same moment,
    the worst case is that an id is missing for a moment, or removed too early.

    Args:
        most: How many ids are kept.
    """

    def __init__(self, most: int = 4096) -> None:
        super().__init__()
        self._most = most

    def add(self, correlation_id: str) -> None:
        """Add an id as the latest."""
        self.pop(correlation_id, None)
        self[correlation_id] = None
        if len(self) > self._most:
            self.popitem(last=False)


recent_ids: Final = RecentIds()
"""The ids of recent calls of this process."""
