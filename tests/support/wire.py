"""What goes over the wire, written down: a client whose exchanges can be looked at."""

from __future__ import annotations

import json
import ssl
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import httpx

if TYPE_CHECKING:
    from collections.abc import Generator

    from ferry_sdk import Ferry
    from ferry_sdk.sandbox import Sandbox
    from tests.support.both import Clients

TLS = ssl.create_default_context()
"""Made once, as it takes longer than a test; the addresses are of plain http."""


class Wire:
    """The exchanges of a client, in order."""

    def __init__(self) -> None:
        self.requests: list[httpx.Request] = []
        self.responses: list[httpx.Response] = []

    @property
    def last(self) -> httpx.Request:
        return self.requests[-1]

    @property
    def path(self) -> str:
        """The path of the last request, as it was sent."""
        return self.last.url.raw_path.decode()

    @property
    def body(self) -> Any:
        """The JSON of the last request."""
        return json.loads(self.last.content)

    def tool_arguments(self) -> Any:
        """The arguments of the last MCP tool that was called."""
        assert self.body["method"] == "tools/call"
        return self.body["params"]["arguments"]


@contextmanager
def recorded(clients: Clients, sandbox: Sandbox, **settings: Any) -> Generator[tuple[Ferry, Wire]]:
    """A client of the service and what it exchanges with it."""
    wire = Wire()
    given = {
        "token": sandbox.token,
        "organisation_token": sandbox.organisation_token,
        "base_url": sandbox.base_url,
    } | settings
    if not clients.is_async:
        noted = {"request": [wire.requests.append], "response": [wire.responses.append]}
        with httpx.Client(event_hooks=noted, verify=TLS) as http_client:
            yield clients(http_client=http_client, **given), wire
        return

    async def note_request(request: httpx.Request) -> None:
        wire.requests.append(request)

    async def note_response(response: httpx.Response) -> None:
        wire.responses.append(response)

    hooks = {"request": [note_request], "response": [note_response]}
    async_client = httpx.AsyncClient(event_hooks=hooks, verify=TLS)
    try:
        yield clients(http_client=async_client, **given), wire
    finally:
        clients.portal.call(async_client.aclose)
