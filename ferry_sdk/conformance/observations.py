"""What the calls of a check show."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from ferry_sdk._engine.http import RawResponse
from ferry_sdk._protocols.mcp.jsonrpc import EventStream
from ferry_sdk.errors import APIError, FerryError, UnexpectedResponseError


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


def observe(answer: object) -> Observation:
    """Return what the result of a call shows."""
    if not isinstance(answer, RawResponse):
        return Observation(answer)
    raw = cast("RawResponse[object]", answer)
    body = decode(raw.content, raw.headers.get("content-type", ""))
    return Observation(
        value=raw.parse(),
        status=raw.status_code,
        body=body,
        headers=raw.headers,
        requests=len(raw.attempts),
    )


def observe_failure(error: FerryError) -> Observation:
    """Return what the error of a call shows."""
    sent = sum(attempt.sent for attempt in error.attempts)
    if not isinstance(error, APIError | UnexpectedResponseError):
        return Observation(error=error, requests=sent)
    body = decode(error.body) if isinstance(error.body, bytes) else error.body
    return Observation(status=error.status_code, body=body, error=error, requests=sent)


def decode(content: bytes, media_type: str = "") -> object:
    """Return the JSON of a body, or of the last event of a stream, else the text."""
    if media_type.startswith("text/event-stream"):
        stream = EventStream()
        events = [*stream.feed(content), *stream.finish()]
        filled = [event for event in events if event]
        content = filled[-1] if filled else b""

    text = content.decode("utf-8", "replace")
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
