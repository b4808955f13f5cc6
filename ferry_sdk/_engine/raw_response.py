"""`RawResponse`: a result together with its HTTP reply."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from ferry_sdk._engine.http import Reply
from ferry_sdk.types import Attempt

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True, slots=True)
class RawResponse(Generic[T_co]):
    """A result with its HTTP reply; no repr shows the content.

    Attributes:
        reply: The HTTP reply.
        correlation_id: The id sent with every attempt.
        elapsed: Seconds from the start of the call to its end, waits included.
        attempts: All attempts, in order.
    """

    _value: T_co = field(repr=False)
    reply: Reply = field(repr=False)
    correlation_id: str
    elapsed: float
    attempts: tuple[Attempt, ...]

    def of(self, value: T) -> RawResponse[T]:
        """Return the same reply with another result."""
        return RawResponse(value, self.reply, self.correlation_id, self.elapsed, self.attempts)

    def parse(self) -> T_co:
        """Return the result that the call returns without `with_raw_response`."""
        return self._value

    @property
    def status_code(self) -> int:
        """The HTTP status."""
        return self.reply.status_code

    @property
    def headers(self) -> Mapping[str, str]:
        """The HTTP headers; names are case-insensitive."""
        return self.reply.headers

    @property
    def content(self) -> bytes:
        """The decompressed body, as far as it was read."""
        return self.reply.content

    @property
    def request_id(self) -> str | None:
        """The service's id of the exchange."""
        return self.reply.request_id
