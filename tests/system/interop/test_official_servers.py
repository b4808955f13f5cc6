"""The clients with servers of the official SDK: every envelope and session mode."""

from __future__ import annotations

import json
from typing import Any

import mcp_types
import pytest
from mcp import MCPError
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings
from mcp.server.lowlevel import Server
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import BaseModel

from ferry_sdk import (
    APIError,
    AuthenticationError,
    AvailabilityError,
    BadRequestError,
    BookingCreateError,
    NotFoundError,
    OutcomeUnknownError,
    PermissionDeniedError,
    TicketNotFoundError,
    UnexpectedResponseError,
)
from tests.backend.gathering import eventually
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


class Record(BaseModel):
    """A record as a type of the server."""

    model_config = {"extra": "allow"}


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


def searching(give):
    def search_availability(request: dict[str, Any], passengers: list[dict[str, Any]]):
        return give()

    return search_availability


def viewing(give):
    def view_ticket(id: str):  # noqa: A002 -- the wire's name
        return give()

    return view_ticket


def booking(give):
    """Return a tool that books, and the list of its bookings."""
    done: list[int] = []

    def create_booking(availabilities: list[dict[str, Any]], passengers: list[dict[str, Any]]):
        done.append(1)
        return give()

    return create_booking, done


def raising(error):
    def give():
        raise error

    return give


def content(*texts, **members):
    blocks = [mcp_types.TextContent(type="text", text=text) for text in texts]
    return mcp_types.CallToolResult(content=blocks, **members)


LISTS = {
    "N texts": (lambda offers: offers, None),
    "typed list": (lambda offers: offers, LIST),
    "list of models": (lambda offers: [Record.model_validate(one) for one in offers], list[Record]),
    "under a name": (lambda offers: {"availabilities": offers}, OBJECT),
    "JSON text": (json.dumps, None),
    "JSON text typed": (json.dumps, str),
    "structure with prose": (
        lambda offers: content("see the structure", structured_content={"result": offers}),
        None,
    ),
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
        lambda error: content("no", structured_content=error, is_error=True),
        None,
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
    official.offer("search_availability", searching(lambda: envelope(offers)), returns)
    found = search(official.hosted.client(clients))
    assert [(one.id, one.ship_name) for one in found] == [
        (offer["id"], SEPARATORS) for offer in offers
    ]
    assert official.hosted.methods == ["initialize", "tools/call"]


@each("name", RECORDS)
def test_every_field_of_a_record_arrives(clients, official, name):
    envelope, returns = RECORDS[name]
    official.offer("view_ticket", viewing(lambda: envelope(TICKET)), returns)
    assert view(official.hosted.client(clients)).ticket_number == TICKET["ticket_number"]
    create, done = booking(lambda: envelope(BOOKING))
    official.offer("create_booking", create, returns)
    assert book(official.hosted.client(clients)).booking_id == "b1"
    assert len(done) == 1


@each("name", FAILURES)
def test_a_failure_has_its_named_error(clients, official, name):
    envelope, returns = FAILURES[name]
    client = official.hosted.client(clients)
    official.offer("view_ticket", viewing(lambda: envelope(failure())), returns)
    with pytest.raises(TicketNotFoundError, match="No such ticket"):
        view(client)
    sold_out = failure("BOOKING_CREATE_ERROR", "Sold out")
    create, done = booking(lambda: envelope(sold_out))
    official.offer("create_booking", create, returns)
    with pytest.raises(BookingCreateError) as caught:
        book(client)
    assert (caught.value.message, caught.value.outcome) == ("Sold out", "rejected")
    assert len(done) == 1


@each("returns", [None, OBJECT, LIST])
def test_a_failed_search_raises_availability_error(clients, official, returns):
    error = failure("AVAILABILITY_ERROR", "Nothing sails")
    given = [error] if returns is LIST else error
    official.offer("search_availability", searching(lambda: given), returns)
    client = official.hosted.client(clients, max_retries=0)
    with pytest.raises(UnexpectedResponseError if returns is LIST else AvailabilityError):
        search(client)


@each(
    ("error", "words"),
    [(ToolError("the quay is closed"), "the quay is closed"), (RuntimeError("inside"), "Error")],
)
def test_a_failure_without_a_code_leaves_a_write_unknown(clients, official, error, words):
    client = official.hosted.client(clients)
    official.offer("view_ticket", viewing(raising(error)))
    with pytest.raises(APIError) as caught:
        view(client)
    assert words in caught.value.message
    assert (caught.value.code, caught.value.status_code) == (None, 200)
    assert "inside" not in caught.value.message
    create, done = booking(raising(error))
    official.offer("create_booking", create)
    with pytest.raises(OutcomeUnknownError):
        book(client)
    assert len(done) == 1
    assert official.hosted.methods == ["tools/call"]


def test_a_write_without_a_result_is_unknown(clients, official):
    create, done = booking(lambda: None)
    official.offer("create_booking", create)
    with pytest.raises(OutcomeUnknownError) as caught:
        book(official.hosted.client(clients))
    assert isinstance(caught.value.__cause__, UnexpectedResponseError)
    assert len(done) == 1


def test_what_the_server_does_not_know_is_an_error(clients, official):
    official.offer("view_ticket", viewing(lambda: TICKET))
    client = official.hosted.client(clients)
    with pytest.raises(APIError, match="id"):
        client.mcp.call_tool("view_ticket", {})
    with pytest.raises(OutcomeUnknownError) as caught:
        client.mcp.call_tool("sink", {})
    assert isinstance(caught.value.__cause__, APIError)
    assert "Unknown tool: sink" in caught.value.__cause__.message
    with pytest.raises(NotFoundError, match="vehicle-data"):
        client.mcp.vehicle_data()
    official.offer("view_ticket", viewing(raising(MCPError(-32602, "no such deck"))))
    with pytest.raises(BadRequestError, match="no such deck"):
        view(client)


def test_resources_are_read_and_listed(clients, official):
    mcp = official.hosted.client(clients).mcp
    assert [(port.code, port.name) for port in mcp.ports()] == [
        (port["code"], port["name"]) for port in PORTS
    ]
    assert [company.code for company in mcp.companies()] == ["CTN"]
    assert [country.code for country in mcp.countries()] == ["FR"]
    assert [brand.name for brand in mcp.vehicle_brands()] == ["Aiways"]
    assert len(mcp.departures()) == 0
    assert [resource.name for resource in mcp.list_resources()] == list(CATALOGUES)


def test_tools_are_listed(clients, official):
    official.offer("view_ticket", viewing(lambda: TICKET), OBJECT)
    tools = {tool.name: tool for tool in official.hosted.client(clients).mcp.list_tools()}
    assert tools["view_ticket"].input_schema["required"] == ["id"]


@pytest.mark.parametrize("mode", mostly_long(MODES))
def test_an_unknown_method_is_not_found(clients, mode):
    with Hosted(Server("bare").streamable_http_app(**MODES[mode])) as hosted:
        client = hosted.client(clients)
        with pytest.raises(NotFoundError):
            client.mcp.list_tools()
        with pytest.raises(NotFoundError) as caught:
            book(client)
        assert caught.value.outcome == "rejected"
        assert hosted.methods == ["initialize", "tools/list", "tools/call"]


# Sessions


def test_there_is_one_handshake(clients, official):
    official.offer("view_ticket", viewing(lambda: TICKET))
    client = official.hosted.client(clients)
    for _ in range(3):
        view(client)
    assert official.hosted.asked == [
        ("initialize", 200),
        ("notifications/initialized", 202),
        *[("tools/call", 200)] * 3,
    ]


@pytest.mark.parametrize("mode", mostly_long(MODES))
def test_a_restarted_server_is_called_again(clients, mode):
    create, done = booking(lambda: BOOKING)
    with Official(mode) as official:
        official.offer("create_booking", create)
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


@pytest.mark.parametrize("mode", mostly_long(["stateful-json", "stateful-sse"]))
def test_an_expired_session_is_renewed(clients, mode):
    create, done = booking(lambda: BOOKING)
    with Official(mode, session_idle_timeout=0.2) as official:
        official.offer("create_booking", create)
        client = official.hosted.client(clients)
        book(client)
        eventually(lambda: not official.server.session_manager._server_instances)
        book(client)
        renewed = ["initialize", "tools/call", "tools/call", "initialize", "tools/call"]
        assert official.hosted.methods == renewed
        assert len(done) == 2


# Tokens


class Tokens:
    """Verify two tokens, one of which has no permissions."""

    async def verify_token(self, token):
        scopes = {"good": ["ferry"], "narrow": []}.get(token)
        if scopes is None:
            return None
        return AccessToken(token=token, client_id="us", scopes=scopes)


@pytest.fixture(scope="module", params=mostly_long(MODES))
def guarded(request):
    settings = AuthSettings(
        issuer_url="https://auth.test",
        resource_server_url="https://ferry.test/mcp",
        required_scopes=["ferry"],
        validate_token_resource=False,
    )
    server = plain_server(auth=settings, token_verifier=Tokens())
    with Official(request.param, server) as official:
        yield official


@each(("token", "error"), [("bad", AuthenticationError), ("narrow", PermissionDeniedError)])
def test_a_rejected_token_is_an_error(clients, guarded, token, error):
    create, done = booking(lambda: BOOKING)
    guarded.offer("create_booking", create)
    with pytest.raises(error) as caught:
        book(guarded.hosted.client(clients, token=token))
    assert caught.value.outcome == "rejected"
    assert caught.value.code is None or token not in caught.value.code
    assert guarded.hosted.methods == ["initialize"]
    assert done == []


def test_a_valid_token_is_accepted(clients, guarded):
    guarded.offer("view_ticket", viewing(lambda: TICKET))
    assert view(guarded.hosted.client(clients, token="good")).id == "t1"
