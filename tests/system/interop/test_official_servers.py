"""The clients with servers of the official SDK: every envelope and session mode."""

from __future__ import annotations

import json
from functools import partial
from importlib import import_module
from typing import Any

import mcp_types
import pytest
from mcp import MCPError
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings
from mcp.server.lowlevel import Server
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import Tool as McpTool
from pydantic import BaseModel, TypeAdapter

import ferry_sdk as sdk
from ferry_sdk import APIError, Ferry, NotFoundError, OutcomeUnknownError, UnexpectedResponseError
from ferry_sdk.agents import Toolkit
from tests.support.mcp_samples import BOOKING, TICKET, availability, book, failure, search, view
from tests.support.tables import each
from tests.support.tiers import mostly_long
from tests.system.interop.official_server import MODES, Hosted, Official, plain_server

LIST, OBJECT = list[dict[str, Any]], dict[str, Any]
SEPARATORS = "line\u2028paragraph\u2029next\u0085end"
PORTS = [{"code": "FRMRS", "name": f"Marseille {SEPARATORS}"}, {"code": "TNLGN", "name": "Tunis"}]


CATALOGUES = {
    "ports": lambda: PORTS,
    "companies": lambda: json.dumps([{"code": "CTN"}]),
    "countries": lambda: b'[{"code": "FR"}]',
    "vehicle-brands": lambda: {"brands": [{"id": "1", "name": "Aiways"}]},
    "departures": lambda: "[]",
}


class Record(BaseModel, extra="allow"):
    """A record as a type of the server."""


@pytest.fixture(scope="module", params=mostly_long(MODES))
def running(request):
    server = plain_server()
    for name, read in CATALOGUES.items():
        server.resource(f"resource://service/{name}", name=name)(read)
    with Official(request.param, server) as official:
        yield official


@pytest.fixture
def official(running):
    running.hosted.asked.clear()
    return running


def offer_tools(official, give, returns=None):
    done: list[int] = []

    def search_availability(request: OBJECT, passengers: LIST):
        return give()

    def view_ticket(id: str):  # noqa: A002 -- the wire's name
        return give()

    def create_booking(availabilities: LIST, passengers: LIST):
        done.append(1)
        return give()

    for tool in (search_availability, view_ticket, create_booking):
        official.offer(tool.__name__, tool, returns)
    return done


def raising(error):
    def give():
        raise error

    return give


def content(text, structured=None, *, is_error=False):
    blocks = [mcp_types.TextContent(type="text", text=text)]
    return mcp_types.CallToolResult(
        content=blocks, structured_content=structured, is_error=is_error
    )


LISTS = {
    "N texts": (lambda offers: offers, None),
    "typed list": (lambda offers: offers, LIST),
    "list of models": (lambda offers: [Record.model_validate(one) for one in offers], list[Record]),
    "under a name": (lambda offers: {"availabilities": offers}, OBJECT),
    "JSON text": (json.dumps, None),
    "JSON text typed": (json.dumps, str),
    "structure with prose": (lambda offers: content("see", structured={"result": offers}), None),
}
RECORDS = {
    "one text": (lambda record: record, None),
    "structured": (lambda record: record, OBJECT),
    "a model": (Record.model_validate, Record),
    "JSON text": (json.dumps, None),
    "JSON text typed": (json.dumps, str),
    "a result": (lambda record: content(json.dumps(record)), None),
}
FAILURES = {
    "returned as text": (lambda error: error, None),
    "returned as structure": (lambda error: error, OBJECT),
    "returned as JSON text": (json.dumps, str),
    "is_error with text": (lambda error: content(json.dumps(error), is_error=True), None),
    "is_error with structure": (
        *(lambda error: content("no", structured=error, is_error=True), None),
    ),
    "raised": (lambda error: raising(ToolError(json.dumps(error)))(), None),
    "raised for the protocol": (lambda error: raising(MCPError(-32000, "no", error))(), None),
}
"""How a tool gives something, and the type that it says it returns."""


@each("count", [0, 1, 2])
@each("name", LISTS)
def test_every_record_of_a_list_arrives(clients, official, name, count):
    envelope, returns = LISTS[name]
    offers = [availability(f"a{number}", SEPARATORS) for number in range(count)]
    offer_tools(official, lambda: envelope(offers), returns)
    found = search(official.hosted.client(clients))
    sent = [(offer["id"], SEPARATORS) for offer in offers]
    assert [(one.id, one.ship_name) for one in found] == sent
    assert official.hosted.methods == ["initialize", "tools/call"]


@each("name", RECORDS)
def test_every_field_of_a_record_arrives(clients, official, name):
    envelope, returns = RECORDS[name]
    offer_tools(official, lambda: envelope(TICKET), returns)
    assert view(official.hosted.client(clients)).ticket_number == TICKET["ticket_number"]
    done = offer_tools(official, lambda: envelope(BOOKING), returns)
    assert book(official.hosted.client(clients)).booking_id == "b1"
    assert len(done) == 1


@each("name", FAILURES)
def test_a_failure_has_its_named_error(clients, official, name):
    envelope, returns = FAILURES[name]
    client = official.hosted.client(clients)
    offer_tools(official, lambda: envelope(failure()), returns)
    with pytest.raises(sdk.TicketNotFoundError, match="No such ticket"):
        view(client)
    nothing = failure("AVAILABILITY_ERROR", "Nothing sails")
    offer_tools(official, lambda: envelope(nothing), returns)
    with pytest.raises(sdk.AvailabilityError):
        search(client)
    sold_out = failure("BOOKING_CREATE_ERROR", "Sold out")
    done = offer_tools(official, lambda: envelope(sold_out), returns)
    with pytest.raises(sdk.BookingCreateError) as caught:
        book(client)
    assert (caught.value.message, caught.value.outcome) == ("Sold out", "rejected")
    assert len(done) == 1


@each(
    ("error", "words"),
    [(ToolError("the quay is closed"), "the quay is closed"), (RuntimeError("inside"), "Error")],
)
def test_a_failure_without_a_code_leaves_a_write_unknown(clients, official, error, words):
    client = official.hosted.client(clients)
    done = offer_tools(official, raising(error))
    with pytest.raises(APIError) as caught:
        view(client)
    assert words in caught.value.message
    assert (caught.value.code, caught.value.status_code) == (None, 200)
    assert "inside" not in caught.value.message
    with pytest.raises(OutcomeUnknownError):
        book(client)
    assert len(done) == 1
    assert official.hosted.methods == ["initialize", "tools/call", "tools/call"]


def test_there_is_one_handshake_and_what_has_no_result_is_an_error(clients, official):
    done = offer_tools(official, lambda: None)
    with pytest.raises(OutcomeUnknownError) as caught:
        book(official.hosted.client(clients))
    assert isinstance(caught.value.__cause__, UnexpectedResponseError)
    assert len(done) == 1
    offer_tools(official, lambda: TICKET)
    client = official.hosted.client(clients)
    with pytest.raises(APIError, match="id"):
        client.mcp.call_tool("view_ticket", {})
    with pytest.raises(OutcomeUnknownError) as caught:
        client.mcp.call_tool("sink", {})
    assert isinstance(caught.value.__cause__, APIError)
    assert "Unknown tool: sink" in caught.value.__cause__.message
    with pytest.raises(NotFoundError, match="vehicle-data"):
        client.mcp.vehicle_data()
    offer_tools(official, raising(MCPError(-32602, "no such deck")))
    with pytest.raises(sdk.BadRequestError, match="no such deck"):
        view(client)
    offer_tools(official, lambda: TICKET)
    client = official.hosted.client(clients)
    for _ in range(3):
        view(client)
    handshake = [("initialize", 200), ("notifications/initialized", 202)]
    assert official.hosted.asked == [*handshake, *[("tools/call", 200)] * 3]


def test_resources_are_read_and_listed_and_tools_listed(clients, official):
    mcp = official.hosted.client(clients).mcp
    assert [{"code": port.code, "name": port.name} for port in mcp.ports()] == PORTS
    assert [company.code for company in mcp.companies()] == ["CTN"]
    assert [country.code for country in mcp.countries()] == ["FR"]
    assert [brand.name for brand in mcp.vehicle_brands()] == ["Aiways"]
    assert len(mcp.departures()) == 0
    assert [resource.name for resource in mcp.list_resources()] == list(CATALOGUES)
    offer_tools(official, lambda: TICKET, OBJECT)
    tools = {tool.name: tool for tool in mcp.list_tools()}
    assert tools["view_ticket"].input_schema["required"] == ["id"]


@pytest.mark.parametrize("mode", mostly_long(MODES))
def test_a_restarted_server_is_called_again_and_an_unknown_method_is_not_found(clients, mode):
    with Official(mode) as official:
        done = offer_tools(official, lambda: BOOKING)
        client = official.hosted.client(clients)
        book(client)
        official.restart()
        book(client)
        book(client)
        lost = ["tools/call", "initialize", "tools/call", "tools/call"]
        still = ["tools/call", "tools/call"]
        assert official.hosted.methods == (lost if official.is_stateful else still)
        assert official.hosted.asked[0][1] == (404 if official.is_stateful else 200)
        assert len(done) == 3
    with Hosted(Server("bare").streamable_http_app(**MODES[mode])) as hosted:
        client = hosted.client(clients)
        with pytest.raises(NotFoundError):
            client.mcp.list_tools()
        with pytest.raises(NotFoundError) as caught:
            book(client)
        assert caught.value.outcome == "rejected"
        assert hosted.methods == ["initialize", "tools/list", "tools/call"]


class Tokens:
    async def verify_token(self, token):
        known = {"good": ["ferry"], "narrow": []}
        if token in known:
            return AccessToken(token=token, client_id="us", scopes=known[token])
        return None


@pytest.fixture(scope="module", params=mostly_long(MODES))
def guarded(request):
    urls = {"issuer_url": "https://auth.test", "resource_server_url": "https://ferry.test/mcp"}
    settings = AuthSettings(required_scopes=["ferry"], validate_token_resource=False, **urls)
    server = plain_server(auth=settings, token_verifier=Tokens())
    with Official(request.param, server) as official:
        yield official


@each(("token", "error"), [("bad", sdk.AuthenticationError), ("narrow", sdk.PermissionDeniedError)])
def test_a_rejected_token_is_an_error_and_a_valid_one_accepted(clients, guarded, token, error):
    done = offer_tools(guarded, lambda: BOOKING)
    with pytest.raises(error) as caught:
        book(guarded.hosted.client(clients, token=token))
    assert caught.value.outcome == "rejected"
    assert caught.value.code is None or token not in caught.value.code
    assert (guarded.hosted.methods, done) == (["initialize"], [])
    offer_tools(guarded, lambda: TICKET)
    assert view(guarded.hosted.client(clients, token="good")).id == "t1"


FERRY = Ferry("token", base_url="https://ferry.test")
TOOLKITS = [
    Toolkit(FERRY, tools="all", writes=True, approve=approve) for approve in (None, lambda _: False)
]


@pytest.mark.parametrize(
    ("module", "name", "format_tools"),
    mostly_long(
        [
            ("openai.types.chat", "ChatCompletionToolParam", partial(Toolkit.openai, api="chat")),
            ("openai.types.responses", "FunctionToolParam", Toolkit.openai),
            ("anthropic.types", "ToolParam", Toolkit.anthropic),
        ]
    ),
)
def test_definitions_fit_the_types_of_the_official_clients(module, name, format_tools):
    kind = getattr(import_module(module), name)  # seconds that a collection of tests does not need
    adapter = TypeAdapter[Any](kind)
    for toolkit in TOOLKITS:
        for tool in format_tools(toolkit):
            assert adapter.validate_python(tool) == tool
            assert tool.keys() <= frozenset(kind.__annotations__)


def test_mcp_tools_accept_both_schemas():
    for one in (one for toolkit in TOOLKITS for one in toolkit.definitions()):
        tool = McpTool.model_validate(
            {"name": one.name, "inputSchema": one.input_schema, "outputSchema": one.output_schema}
        )
        assert tool.model_dump(by_alias=True)["outputSchema"] == one.output_schema
