"""The id that ties a call's attempts, its logs and the service's records together."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from random import Random
from typing import TYPE_CHECKING
from uuid import UUID

from ._forking import in_a_child
from .checks import header_value

if TYPE_CHECKING:
    from collections.abc import Generator

_dice = Random()  # noqa: S311 -- an id has to be new, not secret; the system is not asked each time
in_a_child(_dice.seed)
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
    return _current.get() or str(UUID(int=_dice.getrandbits(128), version=4))
