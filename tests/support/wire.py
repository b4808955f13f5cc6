"""What goes over the wire, written down: a client whose exchanges can be looked at."""

import json
import ssl
from contextlib import contextmanager

import httpx

TLS = ssl.create_default_context()
"""Made once, as it takes longer than a test; the addresses are of plain http."""


class Wire:
    """The exchanges of a client, in order."""

    def __init__(self):
        self.requests = []
        self.responses = []

    @property
    def last(self):
        return self.requests[-1]

    @property
    def path(self):
        return self.last.url.raw_path.decode()

    @property
    def body(self):
        return json.loads(self.last.content)

    def tool_arguments(self):
        assert self.body["method"] == "tools/call"
        return self.body["params"]["arguments"]


@contextmanager
def recorded(clients, sandbox, **settings):
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

    async def note_request(request):
        wire.requests.append(request)

    async def note_response(response):
        wire.responses.append(response)

    hooks = {"request": [note_request], "response": [note_response]}
    async_client = httpx.AsyncClient(event_hooks=hooks, verify=TLS)
    try:
        yield clients(http_client=async_client, **given), wire
    finally:
        clients.portal.call(async_client.aclose)
