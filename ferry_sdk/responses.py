"""An answer together with how it came."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from .effects import Reply
from .facts import Attempt

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


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
