"""What goes over the wire, written down: a client whose exchanges can be looked at."""

import json
import ssl
from contextlib import contextmanager

TLS = ssl.create_default_context()
"""Made once, as it takes longer than a test; the addresses are of plain http."""


class Wire:
    """The requests and the responses of a client."""

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
    """Give a client of the service, and what goes over its wire."""
    wire = Wire()
    given = {
        "token": sandbox.token,
        "organisation_token": sandbox.organisation_token,
        "base_url": sandbox.base_url,
    } | settings

    def noted(notes):
        async def note(one):
            notes.append(one)

        return [note if clients.is_async else notes.append]

    hooks = {"request": noted(wire.requests), "response": noted(wire.responses)}
    yield clients(http_client=clients.http_client(event_hooks=hooks, verify=TLS), **given), wire
