"""A service that replays fixed replies, in a process that ends with the one that started it.

It does as little as an HTTP server can, so that what is measured is the client.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ._catalogues import catalogue_answers
from ._payload import CREATED, FEE, mcp_answers, search_answer

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Self

ROOT: Final = Path(__file__).parents[1]
FEW: Final = 10
"""The availabilities that a search below `few_url` finds."""

_BACKLOG = 2048
_ANYTHING = b""
Replies = dict[bytes, dict[bytes, bytes]]
"""Whole replies by path and by a word that is in the request's body."""


class Service:
    """The service, as long as it is entered.

    Args:
        records: How many availabilities a search finds.

    Attributes:
        base_url: Its address.
    """

    def __init__(self, records: int) -> None:
        self._records = records
        self.base_url = ""

    @property
    def few_url(self) -> str:
        """The address of the same service with small answers."""
        return f"{self.base_url}/few"

    @property
    def routes_url(self) -> str:
        """The address of a service with the catalogues of 500 routes."""
        return f"{self.base_url}/routes"

    def __enter__(self) -> Self:
        allow_many_connections()
        self._process = subprocess.Popen(  # noqa: S603 -- this module itself
            [sys.executable, "-m", __name__, str(self._records)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=ROOT,
            text=True,
        )

        assert self._process.stdout is not None  # noqa: S101 -- it was asked for
        self.base_url = f"http://127.0.0.1:{int(self._process.stdout.readline())}"
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()  # closes its input, at whose end the service ends


class ReplayProtocol(asyncio.Protocol):
    """One connection: each request gets the reply of its path.

    Args:
        replies: The replies.
        arrivals: When each request arrived; ``/arrivals`` gives the list and empties it.
    """

    def __init__(self, replies: Replies, arrivals: list[float]) -> None:
        self._replies = replies
        self._arrivals = arrivals
        self._pending = bytearray()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport, which sends the replies."""
        assert isinstance(transport, asyncio.Transport)  # noqa: S101 -- TCP is both ways
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Answer each request that has arrived whole."""
        self._pending += data
        while (head_ends := self._pending.find(b"\r\n\r\n")) >= 0:
            head = bytes(self._pending[:head_ends]).lower()
            request_ends = head_ends + 4 + _length(head)
            if len(self._pending) < request_ends:
                return
            body = bytes(self._pending[head_ends + 4 : request_ends])
            del self._pending[:request_ends]
            self._transport.write(self._reply(head.split(b" ", 2)[1], body))

    def _reply(self, path: bytes, body: bytes) -> bytes:
        if path == b"/arrivals":
            listed = json.dumps(self._arrivals).encode()
            self._arrivals.clear()
            return whole_reply("200 OK", listed)
        self._arrivals.append(time.monotonic())
        for word, reply in self._replies.get(path, {}).items():
            if word in body:
                return reply
        return whole_reply("404 Not Found", b"{}")


def whole_reply(status: str, body: bytes) -> bytes:
    """Return a reply with the headers that the service's replies have."""
    lines = (
        f"HTTP/1.1 {status}",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
        "Date: Fri, 01 May 2026 12:00:00 GMT",
        "X-Request-Id: r1",
        "X-Client-Correlation-Id: 0b8e5c0e3a1d4f7c",
    )
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def allow_many_connections() -> None:
    """Allow this process as many open connections as the system permits."""
    with suppress(ImportError, ValueError, OSError):  # there is no such limit, or no way around it
        import resource  # noqa: PLC0415 -- not every system has it

        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


async def serve(records: int) -> None:
    """Print the port, and serve until the input ends."""
    allow_many_connections()
    replies = _replies(records)
    loop = asyncio.get_running_loop()
    arrivals: list[float] = []
    server = await loop.create_server(
        lambda: ReplayProtocol(replies, arrivals), "127.0.0.1", 0, backlog=_BACKLOG
    )
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    await loop.run_in_executor(None, sys.stdin.read)


def _replies(records: int) -> Replies:
    bodies: Replies = {}
    for below, count in ((b"", records), (b"/few", FEW)):
        bodies[below + b"/api/availability"] = {_ANYTHING: search_answer(count)}
        bodies[below + b"/api/booking/cancel-fee"] = {_ANYTHING: FEE}
        bodies[below + b"/api/booking"] = {_ANYTHING: CREATED}
        bodies[below + b"/mcp"] = mcp_answers(count)
    bodies |= {b"/routes" + path: answers for path, answers in catalogue_answers().items()}
    return {path: _whole(answers) for path, answers in bodies.items()}


def _whole(answers: Mapping[bytes, bytes]) -> dict[bytes, bytes]:
    """Return the whole replies of bodies; an empty body is a 202."""
    replies: dict[bytes, bytes] = {}
    for word, body in answers.items():
        status = "200 OK" if body else "202 Accepted"
        replies[word] = whole_reply(status, body)
    return replies


def _length(head: bytes) -> int:
    """Return the length of the body that a request's head, in lower case, announces."""
    _, _, rest = head.partition(b"\r\ncontent-length:")
    return int(rest.partition(b"\r\n")[0] or 0)


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1])))
