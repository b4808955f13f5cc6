"""The latest requests to the local service, without bodies, tokens and travellers' data."""

from __future__ import annotations

import re
import sys
import threading
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from ferry_sdk.sandbox.clock import Clock
from ferry_sdk.sandbox.request_context import RequestContext

if TYPE_CHECKING:
    from starlette.types import Scope

_SIZE = 1000
_LONGEST = 128
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_UNLOGGED = ("_sandbox", "docs", "health", "openapi.json")


@dataclass(frozen=True, slots=True)
class LoggedRequest:
    """A request and its reply.

    Attributes:
        at: The time of the request, by the service's clock.
        method: The HTTP method; `OTHER` for an unusual one.
        path: The path; segments that are neither words of the service nor ids are `…`.
        operation: The public name of the operation, such as `bookings.create`, if there is one.
        status: The HTTP status of the reply; None if there is none.
        milliseconds: The real time until the reply was ready to send.
        correlation_id: The correlation id that the client sent, else the request id.
        request_id: The request id.
        faults: The kinds of the faults that occurred.
        booking_id: The booking that the answer names, even if a fault kept the reply back.
        ticket_id: The ticket that the answer names.
    """

    at: datetime
    method: str
    path: str
    operation: str | None
    status: int | None
    milliseconds: float
    correlation_id: str
    request_id: str
    faults: tuple[str, ...] = ()
    booking_id: str | None = None
    ticket_id: str | None = None

    def __str__(self) -> str:
        status = "-" if self.status is None else self.status
        line = f"{self.method} {self.path} {status} {self.milliseconds:.0f} ms"
        return " ".join([line, self.correlation_id, *self.faults])


class RequestLog:
    """The latest 1,000 requests; thread-safe. Controls, documents and health are not logged.

    Example:
        ```python
        from ferry_sdk import Ferry
        from ferry_sdk.sandbox import Sandbox

        with Sandbox() as sandbox, Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
            ferry.with_options(correlation_id="order-4711").catalogue.ports()
            for request in sandbox.request_log.entries("order-4711"):
                print(request.method, request.path, request.status)
                # > GET /api/port 200
            sandbox.request_log.clear()
        ```
    """

    def __init__(self, clock: Clock, *, prints: bool = False) -> None:
        """Make an empty log.

        Args:
            clock: The clock of the service.
            prints: Whether each request is also a line on standard error.
        """
        self._clock = clock
        self._prints = prints
        self._lock = threading.Lock()
        self._entries: deque[LoggedRequest] = deque(maxlen=_SIZE)
        self._words: frozenset[str] = frozenset()

    def show_paths(self, paths: Sequence[str]) -> None:
        """Show the words of these paths; the log shows no other word, as it may be a name.

        Of `/voucher/{ticket_id}/{key}.pdf`, this is `voucher`.
        """
        segments = "/".join(paths).split("/")
        self._words = frozenset(segment for segment in segments if "{" not in segment)

    def entries(self, correlation_id: str | None = None) -> tuple[LoggedRequest, ...]:
        """Return the requests, oldest first; only those with a correlation id, if one is given."""
        with self._lock:
            entries = tuple(self._entries)
        return tuple(each for each in entries if correlation_id in {None, each.correlation_id})

    def add(
        self,
        scope: Scope,
        *,
        status: int | None,
        seconds: float,
        correlation_id: str,
        request_id: str,
    ) -> None:
        """Add a request.

        Args:
            scope: The request as ASGI; its `state` has the context of the request.
            status: The status of the reply, if there was one.
            seconds: How long it took.
            correlation_id: The id that the client sent; only its beginning is kept.
            request_id: The id that the service gave it.
        """
        first, *rest = scope["path"].removeprefix("/").split("/")
        if first in _UNLOGGED:
            return

        method = scope["method"]
        context = scope.get("state", {}).get("context") or RequestContext()
        entry = LoggedRequest(
            at=self._clock.now(),
            method=method if method in _METHODS else "OTHER",
            path="/" + "/".join(self._anonymize(segment) for segment in (first, *rest)),
            operation=context.operation,
            status=status,
            milliseconds=round(seconds * 1000, 1),
            correlation_id=_printable(correlation_id[:_LONGEST]),
            request_id=request_id,
            faults=tuple(context.faults),
            **context.answer_ids,
        )

        with self._lock:
            self._entries.append(entry)
        if self._prints:
            with suppress(AttributeError, OSError, ValueError):  # nobody reads it any more
                sys.stderr.write(f"{entry}\n")
                sys.stderr.flush()

    def clear(self) -> None:
        """Forget the requests."""
        with self._lock:
            self._entries.clear()

    def _anonymize(self, segment: str) -> str:
        is_harmless = segment in self._words or _ID.fullmatch(segment)
        return segment if is_harmless else "…"


def _printable(text: str) -> str:
    return "".join(character if character.isprintable() else "?" for character in text)
