"""An answer together with how it came."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from threading import get_ident
from typing import Final, Generic, TypeVar

from ferry_sdk._engine.http import Reply
from ferry_sdk.types import Attempt

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

LONG_REPLY: Final = 2 * 1024 * 1024
"""Bytes from which on a reply takes so long to read that nobody should wait for it in the loop."""

is_in_worker_thread: ContextVar[bool] = ContextVar("ferry_sdk_aside", default=False)
"""Whether a reply is read in a thread of its own, where others should get their turn meanwhile."""


def read_in_thread(work: Callable[[], T], waiting: int) -> T:
    """Read a reply.

    Args:
        work: What reads it.
        waiting: The thread that waits for it, which may be this one.
    """
    is_in_worker_thread.set(get_ident() != waiting)
    return work()


@dataclass(frozen=True, slots=True)
class RawResponse(Generic[T_co]):
    """An answer with the HTTP reply it stood in; its content shows in no repr.

    Attributes:
        reply: The HTTP reply.
        correlation_id: The id that every attempt carried.
        elapsed: Seconds from the beginning of the call to its end, waits included.
        attempts: What was tried, in order.
    """

    _value: T_co = field(repr=False)
    reply: Reply = field(repr=False)
    correlation_id: str
    elapsed: float
    attempts: tuple[Attempt, ...]

    def of(self, value: T) -> RawResponse[T]:
        """The same reply with another answer made of it."""
        return RawResponse(value, self.reply, self.correlation_id, self.elapsed, self.attempts)

    def parse(self) -> T_co:
        """What the call would have given without `with_raw_response`."""
        return self._value

    @property
    def status_code(self) -> int:
        """The HTTP status."""
        return self.reply.status_code

    @property
    def headers(self) -> Mapping[str, str]:
        """The HTTP headers; their names are told apart without regard to case."""
        return self.reply.headers

    @property
    def content(self) -> bytes:
        """The body, unpacked, as far as it was read."""
        return self.reply.content

    @property
    def request_id(self) -> str | None:
        """The service's id of the exchange."""
        return self.reply.request_id
