"""The id that ties a call's attempts, its logs and the service's records together."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from random import Random
from typing import TYPE_CHECKING, Final
from uuid import UUID

from ferry_sdk._engine.validation import header_value
from ferry_sdk._fork import after_fork_in_child

if TYPE_CHECKING:
    from collections.abc import Generator

_random = Random()  # noqa: S311 -- an id has to be new, not secret; the system is not asked each time
after_fork_in_child(_random.seed)
_current: ContextVar[str | None] = ContextVar("ferry_sdk_correlation", default=None)


@contextmanager
def correlation(correlation_id: str) -> Generator[str]:
    """Give every call inside the block this correlation id; threads and tasks keep their own.

    Interface: Conventions for all REST requests, x-client-correlation-id.

    Args:
        correlation_id: Printable ASCII.

    Yields:
        The id.

    Raises:
        InvalidInputError: The id cannot stand in a header.

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
    """The id of a call that begins now: the context's, else a new one."""
    return _current.get() or str(UUID(int=_random.getrandbits(128), version=4))


class RecentIds:
    """The ids of the calls that this process made lately, of a bounded number.

    Two sets take turns, so that nothing has to be locked: where several threads add at the same
    moment, an id may be forgotten too early, and no more than that.

    Args:
        most: How many are remembered at the least, once there were so many.
    """

    def __init__(self, most: int = 4096) -> None:
        self._most = most
        self._newer: set[str] = set()
        self._older: set[str] = set()

    def add(self, correlation_id: str) -> None:
        """Remember an id."""
        newer = self._newer
        newer.add(correlation_id)
        if len(newer) >= self._most:
            self._older, self._newer = newer, set()

    def __contains__(self, correlation_id: str) -> bool:
        return correlation_id in self._newer or correlation_id in self._older


recent_ids: Final = RecentIds()
"""The ids of this process's calls."""
