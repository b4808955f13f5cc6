"""The steps of a check: calls, and what they observe.

The probes are generators without I/O. They yield a `Step` and are sent its `Observation`. An
interruption is thrown into the generator, which can still make a call, such as to cancel a booking.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, Final, TypeVar, cast

import anyio

from ferry_sdk._engine.effects import drive, drive_async
from ferry_sdk._engine.http import RawResponse
from ferry_sdk._protocols.mcp.jsonrpc import EventStream
from ferry_sdk.client import AsyncFerry, Ferry
from ferry_sdk.errors import APIError, FerryError, UnexpectedResponseError

T = TypeVar("T")

_WITHOUT_REPLY: Final = {"recover", "routes.find"}
"""The calls that consist of others, so that they have no reply of their own."""


class Step:
    """A call of a client by its name, such as ``bookings.get``, with its arguments.

    Attributes:
        reply: Its reply, as soon as there is one, even if an interruption keeps it from the steps.
        correlation_id: The id that it is sent with; None: a new one.
    """

    def __init__(self, operation: str, *arguments: object, **options: object) -> None:
        self.operation = operation
        self.reply: Observation | None = None
        self.correlation_id: str | None = None
        self._arguments = arguments
        self._options = options

    def make(self, ferry: Ferry | AsyncFerry) -> Any:  # noqa: ANN401 -- the result of any call
        """Make the call; with an `AsyncFerry` the result is awaited."""
        if self.correlation_id is not None:
            ferry = ferry.with_options(correlation_id=self.correlation_id)
        group = ferry if self.operation in _WITHOUT_REPLY else ferry.with_raw_response
        return attrgetter(self.operation)(group)(*self._arguments, **self._options)


@dataclass(frozen=True, slots=True)
class Observation:
    """The result or the error of a call; its repr shows no content.

    Attributes:
        value: The parsed result; None if the call failed.
        status: The HTTP status; None without a reply.
        body: The decoded body; of an error, the part that the error has.
        headers: The headers; empty for an error.
        error: The error of the call.
        requests: How many requests it sent.
    """

    value: Any = field(default=None, repr=False)
    status: int | None = None
    body: Any = field(default=None, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    error: FerryError | None = None
    requests: int = 0

    def require(self) -> Any:  # noqa: ANN401 -- the result of any call
        """Return the result, or raise the error."""
        if self.error is not None:
            raise self.error
        return self.value


Steps = Generator[Step, Observation, T]
Observe = Callable[[Step, Observation], None]


def perform(ferry: Ferry, steps: Steps[T], observe: Observe) -> T:
    """Make the calls of the steps, show each to `observe`, and return the steps' result."""

    def make(step: Step) -> Observation:
        try:
            step.reply = _reply(step.make(ferry))
        except FerryError as error:
            step.reply = _failure(error)
        observe(step, step.reply)
        return step.reply

    return drive(steps, make)


async def perform_async(ferry: AsyncFerry, steps: Steps[T], observe: Observe) -> T:
    """Make the calls of the steps, show each to `observe`, and return the steps' result."""

    async def make(step: Step) -> Observation:
        try:
            step.reply = _reply(await step.make(ferry))
        except FerryError as error:
            step.reply = _failure(error)
        observe(step, step.reply)
        return step.reply

    async def make_shielded(step: Step) -> Observation | None:
        with anyio.CancelScope(shield=True):
            await make(step)
        return step.reply

    return await drive_async(steps, make, make_shielded)


def _reply(answer: object) -> Observation:
    if not isinstance(answer, RawResponse):
        return Observation(answer)
    raw = cast("RawResponse[object]", answer)
    body = decode(raw.content, raw.headers.get("content-type", ""))
    sent = len(raw.attempts)
    return Observation(raw.parse(), raw.status_code, body, raw.headers, requests=sent)


def _failure(error: FerryError) -> Observation:
    sent = sum(attempt.sent for attempt in error.attempts)
    if not isinstance(error, APIError | UnexpectedResponseError):
        return Observation(error=error, requests=sent)
    body = decode(error.body) if isinstance(error.body, bytes) else error.body
    return Observation(None, error.status_code, body, error=error, requests=sent)


def decode(content: bytes, media_type: str = "") -> object:
    """Return the JSON of a body, or of the last event of a stream, else the text."""
    if media_type.startswith("text/event-stream"):
        stream = EventStream()
        events = [*stream.feed(content), *stream.finish()]
        content = next(filter(None, reversed(events)), b"")
    text = content.decode("utf-8", "replace")
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
