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
from tests.support.tiers import mostly_long
from tests.system.interop.official_server import MODES, NEWEST, Hosted, Official, plain_server

OBJECT = dict[str, Any]
LIST = list[OBJECT]
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


@pytest.fixture(scope="module", params=mostly_long(MODES | NEWEST))
def running(request):
    """A server of the official SDK that has the catalogues."""
    server = plain_server()
    for name, read in CATALOGUES.items():
        server.resource(f"resource://service/{name}", name=name)(read)
    with Official(request.param, server) as official:
        yield official


@pytest.fixture
def official(running):
    """The server, without the requests of earlier tests."""
    running.hosted.asked.clear()
    return running


def offer_tools(official, give, returns=None):
    """Have every tool give the same; return a list that grows with each booking."""
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
    """Return what a tool gives if it raises this error."""

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
        lambda error: content("no", structured=error, is_error=True),
        None,
    ),
    "raised": (lambda error: raising(ToolError(json.dumps(error)))(), None),
    "raised for the protocol": (lambda error: raising(MCPError(-32000, "no", error))(), None),
}
"""How a tool gives something, and the type that it says it returns."""


@pytest.mark.parametrize("count", [0, 1, 2])
@pytest.mark.parametrize("name", LISTS)
def test_every_record_of_a_list_arrives(clients, official, name, count):
    envelope, returns = LISTS[name]
    offers = [availability(f"a{number}", SEPARATORS) for number in range(count)]
    offer_tools(official, lambda: envelope(offers), returns)
    found = search(official.hosted.client(clients))
    sent = [(offer["id"], SEPARATORS) for offer in offers]
    assert [(one.id, one.ship_name) for one in found] == sent
    assert official.hosted.methods == ["initialize", "tools/call"]


every_record = pytest.mark.parametrize("name", RECORDS)


@every_record
def test_every_field_of_a_ticket_arrives(clients, official, name):
    envelope, returns = RECORDS[name]
    offer_tools(official, lambda: envelope(TICKET), returns)
    assert view(official.hosted.client(clients)).ticket_number == TICKET["ticket_number"]


@every_record
def test_booking_arrives_once(clients, official, name):
    envelope, returns = RECORDS[name]
    done = offer_tools(official, lambda: envelope(BOOKING), returns)
    assert book(official.hosted.client(clients)).booking_id == "b1"
    assert len(done) == 1


every_failure = pytest.mark.parametrize("name", FAILURES)


@every_failure
def test_missing_ticket_has_its_named_error(clients, official, name):
    envelope, returns = FAILURES[name]
    offer_tools(official, lambda: envelope(failure()), returns)
    with pytest.raises(sdk.TicketNotFoundError, match="No such ticket"):
        view(official.hosted.client(clients))


@every_failure
def test_failed_search_has_its_named_error(clients, official, name):
    envelope, returns = FAILURES[name]
    nothing = failure("AVAILABILITY_ERROR", "Nothing sails")
    offer_tools(official, lambda: envelope(nothing), returns)
    with pytest.raises(sdk.AvailabilityError):
        search(official.hosted.client(clients))


@every_failure
def test_refused_booking_has_its_named_error(clients, official, name):
    envelope, returns = FAILURES[name]
    sold_out = failure("BOOKING_CREATE_ERROR", "Sold out")
    done = offer_tools(official, lambda: envelope(sold_out), returns)
    with pytest.raises(sdk.BookingCreateError) as caught:
        book(official.hosted.client(clients))
    assert (caught.value.message, caught.value.outcome) == ("Sold out", "rejected")
    assert len(done) == 1


ERRORS = {
    "for the caller": (ToolError("the quay is closed"), "the quay is closed"),
    "of the server": (RuntimeError("inside"), "Error"),
}
"""What a tool raises, and what its caller reads of it."""


@pytest.mark.parametrize(("error", "words"), ERRORS.values(), ids=ERRORS)
def test_error_without_a_code_has_none(clients, official, error, words):
    offer_tools(official, raising(error))
    with pytest.raises(APIError) as caught:
        view(official.hosted.client(clients))
    assert words in caught.value.message
    assert (caught.value.code, caught.value.status_code) == (None, 200)
    assert "inside" not in caught.value.message


@pytest.mark.parametrize("error", [error for error, _ in ERRORS.values()], ids=ERRORS)
def test_write_that_fails_without_a_code_is_unknown(clients, official, error):
    client = official.hosted.client(clients)
    done = offer_tools(official, raising(error))
    with pytest.raises(APIError):
        view(client)
    with pytest.raises(OutcomeUnknownError):
        book(client)
    assert len(done) == 1
    assert official.hosted.methods == ["initialize", "tools/call", "tools/call"]


def test_write_without_a_result_is_unknown(clients, official):
    done = offer_tools(official, lambda: None)
    with pytest.raises(OutcomeUnknownError) as caught:
        book(official.hosted.client(clients))
    assert isinstance(caught.value.__cause__, UnexpectedResponseError)
    assert len(done) == 1


def test_missing_argument_of_a_tool_is_named(clients, official):
    offer_tools(official, lambda: TICKET)
    with pytest.raises(APIError, match="id"):
        official.hosted.client(clients).mcp.call_tool("view_ticket", {})


def test_unknown_tool_is_named(clients, official):
    with pytest.raises(OutcomeUnknownError) as caught:
        official.hosted.client(clients).mcp.call_tool("sink", {})
    assert isinstance(caught.value.__cause__, APIError)
    assert "Unknown tool: sink" in caught.value.__cause__.message


def test_missing_resource_is_not_found(clients, official):
    with pytest.raises(NotFoundError, match="vehicle-data"):
        official.hosted.client(clients).mcp.vehicle_data()


def test_wrong_parameters_are_a_bad_request(clients, official):
    offer_tools(official, raising(MCPError(-32602, "no such deck")))
    with pytest.raises(sdk.BadRequestError, match="no such deck"):
        view(official.hosted.client(clients))


def test_calls_share_one_handshake(clients, official):
    offer_tools(official, lambda: TICKET)
    client = official.hosted.client(clients)
    view(client)
    view(client)
    view(client)
    handshake = [("initialize", 200), ("notifications/initialized", 202)]
    refused = [("initialize", 400)]
    opening = handshake if official.has_handshake else refused
    assert official.hosted.asked == [*opening, *[("tools/call", 200)] * 3]


def test_resources_are_read(clients, official):
    mcp = official.hosted.client(clients).mcp
    assert [{"code": port.code, "name": port.name} for port in mcp.ports()] == PORTS
    assert [company.code for company in mcp.companies()] == ["CTN"]
    assert [country.code for country in mcp.countries()] == ["FR"]
    assert [brand.name for brand in mcp.vehicle_brands()] == ["Aiways"]
    assert len(mcp.departures()) == 0


def test_resources_are_listed(clients, official):
    resources = official.hosted.client(clients).mcp.list_resources()
    assert [resource.name for resource in resources] == list(CATALOGUES)


def test_tools_are_listed(clients, official):
    offer_tools(official, lambda: TICKET, OBJECT)
    tools = {tool.name: tool for tool in official.hosted.client(clients).mcp.list_tools()}
    assert tools["view_ticket"].input_schema["required"] == ["id"]


@pytest.fixture(params=mostly_long(MODES | NEWEST))
def restartable(request):
    """A server that only one test uses."""
    with Official(request.param) as official:
        yield official


def test_restarted_server_is_called_again(clients, restartable):
    done = offer_tools(restartable, lambda: BOOKING)
    client = restartable.hosted.client(clients)
    book(client)
    restartable.restart()
    book(client)
    book(client)
    if restartable.is_stateful:
        methods = ["tools/call", "initialize", "tools/call", "tools/call"]
        status = 404
    else:
        methods = ["tools/call", "tools/call"]
        status = 200
    assert restartable.hosted.methods == methods
    assert restartable.hosted.asked[0][1] == status
    assert len(done) == 3


@pytest.mark.parametrize("mode", mostly_long(MODES))
def test_unknown_method_is_not_found(clients, mode):
    with Hosted(Server("bare").streamable_http_app(**MODES[mode])) as hosted:
        client = hosted.client(clients)
        with pytest.raises(NotFoundError):
            client.mcp.list_tools()
        with pytest.raises(NotFoundError) as caught:
            book(client)
    assert caught.value.outcome == "rejected"
    assert hosted.methods == ["initialize", "tools/list", "tools/call"]


class Tokens:
    """A verifier that knows a token with the required scope and one without."""

    async def verify_token(self, token):
        known = {"good": ["ferry"], "narrow": []}
        if token in known:
            return AccessToken(token=token, client_id="us", scopes=known[token])
        return None


@pytest.fixture(scope="module", params=mostly_long(MODES))
def guarded(request):
    """A server that verifies tokens."""
    urls = {"issuer_url": "https://auth.test", "resource_server_url": "https://ferry.test/mcp"}
    settings = AuthSettings(required_scopes=["ferry"], validate_token_resource=False, **urls)
    server = plain_server(auth=settings, token_verifier=Tokens())
    with Official(request.param, server) as official:
        yield official


@pytest.mark.parametrize(
    ("token", "kind"),
    [
        pytest.param("bad", sdk.AuthenticationError, id="bad"),
        pytest.param("narrow", sdk.PermissionDeniedError, id="narrow"),
    ],
)
def test_refused_token_is_an_error(clients, guarded, token, kind):
    done = offer_tools(guarded, lambda: BOOKING)
    with pytest.raises(kind) as caught:
        book(guarded.hosted.client(clients, token=token))
    assert caught.value.outcome == "rejected"
    assert caught.value.code is None or token not in caught.value.code
    assert (guarded.hosted.methods, done) == (["initialize"], [])


def test_valid_token_is_accepted(clients, guarded):
    offer_tools(guarded, lambda: TICKET)
    assert view(guarded.hosted.client(clients, token="good")).id == "t1"


FERRY = Ferry("token", base_url="https://ferry.test")
TOOLKITS = {
    "approved by the model": Toolkit(FERRY, tools="all", writes=True, approve=None),
    "approved by a function": Toolkit(FERRY, tools="all", writes=True, approve=lambda _: False),
}

every_toolkit = pytest.mark.parametrize("toolkit", TOOLKITS.values(), ids=TOOLKITS)


@pytest.mark.slow
@every_toolkit
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
def test_definitions_fit_the_types_of_official_clients(toolkit, module, name, format_tools):
    # The import takes seconds, which the collection of the tests does not need.
    kind = getattr(import_module(module), name)
    adapter = TypeAdapter[Any](kind)
    tools = list(format_tools(toolkit))
    assert [adapter.validate_python(tool) for tool in tools] == tools
    assert [tool for tool in tools if not tool.keys() <= frozenset(kind.__annotations__)] == []


@every_toolkit
def test_mcp_tools_accept_both_schemas(toolkit):
    for definition in toolkit.definitions():
        tool = McpTool.model_validate(
            {
                "name": definition.name,
                "inputSchema": definition.input_schema,
                "outputSchema": definition.output_schema,
            }
        )
        assert tool.model_dump(by_alias=True)["outputSchema"] == definition.output_schema
