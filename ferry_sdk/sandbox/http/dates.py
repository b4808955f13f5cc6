"""The dates in a response's headers, by the service's clock."""

from __future__ import annotations

from datetime import datetime, timezone
from email.utils import format_datetime, parsedate_to_datetime
from typing import TYPE_CHECKING

from starlette.datastructures import MutableHeaders

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from ferry_sdk.sandbox.clock import Clock


class Dated:
    """Gives every response its `Date`, and moves a `Retry-After` that is a date along with it."""

    def __init__(self, app: ASGIApp, clock: Clock) -> None:
        self._app = app
        self._clock = clock

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and date its response."""

        async def send_dated(message: Message) -> None:
            if message["type"] == "http.response.start":
                now = self._clock.now()
                headers = MutableHeaders(scope=message)
                headers["date"] = format_datetime(now, usegmt=True)
                again = headers.get("retry-after", "0")
                if not again.isdigit():
                    moved = now - datetime.now(timezone.utc)
                    moment = parsedate_to_datetime(again) + moved
                    headers["retry-after"] = format_datetime(moment, usegmt=True)
            await send(message)

        await self._app(scope, receive, send_dated)
