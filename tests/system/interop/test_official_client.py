"""The official Python client on the local service."""

import json
from functools import partial

import anyio
import httpx2
import pytest
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client

from tests.support.tiers import mostly_long
from tests.support.trip import search_arguments, selected

URI = "resource://service/ports"


def run_with_client(sandbox, mode, work, token=None):
    """Return the result of `work` with the official client; raise the only error of a group."""

    async def main():
        headers = {"Authorization": f"Bearer {token or sandbox.token}"}
        async with httpx2.AsyncClient(headers=headers) as http:
            transport = streamable_http_client(f"{sandbox.base_url}/mcp", http_client=http)
            async with Client(transport, mode=mode) as client:
                return await work(client)

    try:
        return anyio.run(main)
    except Exception as error:  # noqa: BLE001 -- it is raised again
        leaf = error
        while hasattr(leaf, "exceptions"):
            (leaf,) = leaf.exceptions
        raise leaf from None


@pytest.fixture(params=mostly_long(["auto", "legacy"]))
def mode(request):
    """How the official client finds the version of the protocol."""
    return request.param


@pytest.fixture(params=mostly_long(["auto", "json", "sse"]))
def service(request, ferry_sandbox):
    """The local service, which replies in one form."""
    ferry_sandbox.mcp.set(reply=request.param)
    return ferry_sandbox


@pytest.fixture
def a_search():
    """The arguments of a search."""
    search = search_arguments()
    traveller = {"order": 1, "type": "Adult", "param": "A", "gender": "Female", "age": 34}
    del search["passengers"]
    return {"request": search | {"out_at": f"{search['out_at']}"}, "passengers": [traveller]}


@pytest.fixture
def result_of(service, mode):
    """Run a function with the official client and return its result."""
    return partial(run_with_client, service, mode)


def test_client_reads_the_server_information(result_of):
    async def read(client):
        return client.protocol_version, client.server_info.name

    assert result_of(read) == ("2025-11-25", "ferry-sandbox")


def test_client_lists_the_tools(result_of):
    tools = result_of(lambda client: client.list_tools()).tools
    assert [tool.name for tool in tools] == [
        "search_availability",
        "create_booking",
        "confirm_booking",
        "view_ticket",
        "cancel_ticket",
    ]


def test_client_lists_the_resources(result_of):
    async def list_all(client):
        return await client.list_resources(), await client.list_resource_templates()

    listed, templates = result_of(list_all)
    addresses = [str(resource.uri) for resource in listed.resources]
    assert (len(addresses), URI in addresses) == (6, True)
    assert templates.resource_templates == []


def test_client_finds_sailings(result_of, a_search):
    result = result_of(lambda client: client.call_tool("search_availability", a_search))
    assert not result.is_error
    sailings = result.structured_content["result"]
    assert {sailing["depart_code"] for sailing in sailings} == {"FRMRS"}
    assert json.loads(result.content[0].text) == sailings


def test_failed_tool_is_an_error_result(result_of):
    result = result_of(lambda client: client.call_tool("view_ticket", {"id": "none"}))
    assert result.is_error
    assert result.structured_content["code"] == "TICKET_NOT_FOUND"


def test_client_reads_a_resource(result_of):
    (content,) = result_of(lambda client: client.read_resource(URI)).contents
    assert str(content.uri) == URI
    assert "FRMRS" in [port["code"] for port in json.loads(content.text)]


def test_unknown_resource_is_a_protocol_error(result_of):
    with pytest.raises(MCPError, match="tides") as caught:
        result_of(lambda client: client.read_resource("resource://service/tides"))
    assert caught.value.code == -32602


def test_client_books_a_ticket(result_of, service, ferry):
    chosen = selected(ferry).model_dump(include={"availability_id", "tariff_id", "place_id"})
    traveller = {"order": 1, "first_name": "Ada", "last_name": "Okonkwo"}
    adult = traveller | {"type": "ADT", "age": 34, "gender": "F"}
    child = traveller | {"order": 2, "type": "CHD", "age": 7, "gender": "M"}

    async def book(client):
        arguments = {"availabilities": [chosen], "passengers": [adult, child]}
        created = (await client.call_tool("create_booking", arguments)).structured_content
        booking = {"id": created["booking_id"]}
        confirmed = (await client.call_tool("confirm_booking", booking)).structured_content
        return await client.call_tool("view_ticket", {"id": confirmed["ticket_id"]})

    ticket = result_of(book).structured_content
    assert ticket["status"] == "Issued"
    assert ferry.tickets.get(ticket["id"]).ticket_number == ticket["ticket_number"]
    assert len(service.counters.effects_of("bookings.create")) == 1


@pytest.mark.parametrize(
    "options",
    [
        pytest.param({"result": "text"}, id="text"),
        pytest.param({"result": "n_blocks"}, id="a block for each"),
        pytest.param({"result": "structured_result"}, id="structured result"),
        pytest.param({"result": "embedded_resource"}, id="embedded resource"),
        pytest.param({"result": "extra_blocks"}, id="extra blocks"),
        pytest.param({"reply": "sse", "line_end": "cr", "comments": True}, id="comments"),
        pytest.param({"reply": "sse", "line_end": "crlf", "several_lines": True}, id="lines"),
        pytest.param(
            {"reply": "sse", "notification_first": True, "raw_separators": True},
            id="notification first",
        ),
        pytest.param({"session": "optional"}, id="optional session"),
        pytest.param({"session": "required"}, id="required session"),
        pytest.param({"session": "none"}, id="no session"),
    ],
)
def test_client_accepts_every_option_of_the_service(ferry_sandbox, mode, a_search, options):
    ferry_sandbox.mcp.set(**options)
    result = run_with_client(
        ferry_sandbox, mode, lambda client: client.call_tool("search_availability", a_search)
    )
    assert not result.is_error
    assert result.content


@pytest.mark.parametrize("token", ["wrong", "Bearer"])
def test_wrong_token_is_refused(ferry_sandbox, mode, token):
    with pytest.raises(MCPError):
        run_with_client(ferry_sandbox, mode, lambda client: client.list_tools(), token)
    assert ferry_sandbox.counters.requests["mcp.list_tools"] == 0
    assert ferry_sandbox.counters.effects == ()
