"""A host: the official client, which starts the server as a child, with either protocol version."""

import json
import os
import sys
from contextlib import ExitStack

import pytest
from mcp import Client
from mcp.client.extension import advertise
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.types import ElicitResult

from tests.support.processes import launch_command
from tests.support.tiers import mostly_long

MODES = {"modern": "auto", "legacy": "legacy"}
VERSIONS = {"modern": "2026-07-28", "legacy": "2025-11-25"}
YES = ElicitResult(action="accept", content={"approve": True})
NO = ElicitResult(action="decline")
PAGES = advertise("io.modelcontextprotocol/ui", {"mimeTypes": ["text/html;profile=mcp-app"]})
"""The declaration of a host that shows pages (MCP Apps)."""
NOT_AN_APPROVAL = {
    "declined": NO,
    "cancelled": ElicitResult(action="cancel"),
    "declined with a tick": ElicitResult(action="decline", content={"approve": True}),
    "sent without a tick": ElicitResult(action="accept", content={"approve": False}),
    "sent empty": ElicitResult(action="accept", content={}),
    "a word for a tick": ElicitResult(action="accept", content={"approve": "true"}),
}


def command(*options):
    return [sys.executable, "-m", "ferry_sdk", "mcp", "--tools", "all", *options]


def environment(sandbox):
    """Return the environment of the server: that of the tests, so that it has the same day."""
    return {**os.environ, "FERRY_TOKEN": sandbox.token, "FERRY_BASE_URL": sandbox.base_url}


class Person:
    """Who sits at the host: the questions and boxes that they were shown, and their one answer.

    The answer may be a function; ``approve`` is the box of the question, whatever its name.
    """

    def __init__(self, answer=YES):
        self.shown = []
        self.boxes = []
        self.answer = answer

    async def __call__(self, _context, params):
        self.shown.append(params.message)
        (box,) = params.requested_schema["properties"]
        self.boxes.append(box)
        return named(self.answer() if callable(self.answer) else self.answer, box)


def named(answer, box):
    boxes = {
        box if name == "approve" else name: one for name, one in (answer.content or {}).items()
    }
    return ElicitResult(action=answer.action, content=boxes or answer.content)


class Host:
    """The client of one protocol version, with the face of a toolkit."""

    def __init__(self, portal, client, errors):
        self.client = client
        self._portal = portal
        self._errors = errors

    @property
    def stderr(self):
        return self._errors.read_text("utf-8")

    def wait(self, method, *arguments):
        return self._portal.call(method, *arguments)

    def start_call(self, name, arguments):
        return self._portal.start_task_soon(self.client.call_tool, name, arguments)

    def tools(self):
        return {tool.name: tool for tool in self.wait(self.client.list_tools).tools}

    def call(self, name, arguments=None):
        return answer_of(self.wait(self.client.call_tool, name, arguments or {}))


class CardHost:
    """A host that shows cards: what its model and its pages see, and what a person presses."""

    def __init__(self, host):
        self.host = host

    def show(self, tool, arguments):
        """Call a tool for the model; return the card that its page shows."""
        return Card(self, self.host.wait(self.host.client.call_tool, tool, arguments))

    def press(self, call, *, approved):
        """Answer a card as its page does; return the result."""
        arguments = {"call": call, "approved": approved}
        return self.host.wait(self.host.client.call_tool, "approval_card_answer", arguments)


class Card:
    """A card, with the face of a toolkit's answer."""

    def __init__(self, host, result):
        self._host = host
        self.answer = answer_of(result)
        self.data = (result.meta or {}).get("ferry-sdk/card")
        self.text = result.content[0].text

    @property
    def rows(self):
        return dict(map(tuple, self.data["rows"]))

    @property
    def call(self):
        return self.data["call"]

    def press(self, *, approved=True):
        """Press a button; return what the page gets, as a card if it is one."""
        return Card(self._host, self._host.press(self.call, approved=approved))


def answer_of(result):
    """Return the answer in a result; assert that its text and its structure are equal."""
    (block,) = result.content
    answer = json.loads(block.text)
    assert result.is_error is ("error" in answer)
    assert result.structured_content == (None if result.is_error else answer)
    return answer


class Hosts:
    def __init__(self, portal, sandbox, era, folder, stack):
        self.era = era
        self._portal, self._sandbox, self._folder, self._stack = portal, sandbox, folder, stack

    def __call__(self, person=None, *options, run=None, env=None, extensions=()):
        """Start a host; it declares elicitation if there is a person to ask."""
        found = environment(self._sandbox) if env is None else env
        started, *arguments = launch_command(run or command(*options), found)
        parameters = StdioServerParameters(command=started, args=arguments, env=found)
        errors = self._folder / f"stderr-{len(list(self._folder.iterdir()))}"
        file = self._stack.enter_context(errors.open("w", encoding="utf-8"))
        transport = stdio_client(parameters, errlog=file)
        client = Client(
            transport,
            mode=MODES[self.era],
            elicitation_callback=person,
            extensions=extensions,
        )
        self._stack.enter_context(self._portal.wrap_async_context_manager(client))
        assert client.protocol_version == VERSIONS[self.era]
        return Host(self._portal, client, errors)


@pytest.fixture(params=mostly_long(MODES))
def hosts(request, asyncio_portal, ferry_sandbox, tmp_path):
    with ExitStack() as stack:
        yield Hosts(asyncio_portal, ferry_sandbox, request.param, tmp_path, stack)


@pytest.fixture
def older_hosts(asyncio_portal, ferry_sandbox, tmp_path):
    """Start hosts with a handshake, which are asked over the connection."""
    with ExitStack() as stack:
        yield Hosts(asyncio_portal, ferry_sandbox, "legacy", tmp_path, stack)
