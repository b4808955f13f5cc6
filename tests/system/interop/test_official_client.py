"""The official Python client on the local service."""

import json

import anyio
import httpx2
import pytest
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client

from tests.support.tables import each
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
    return request.param


@pytest.fixture(params=mostly_long(["auto", "json", "sse"]))
def service(request, ferry_sandbox):
    ferry_sandbox.mcp.set(reply=request.param)
    return ferry_sandbox


@pytest.fixture
def a_search():
    search = search_arguments()
    traveller = {"order": 1, "type": "Adult", "param": "A", "gender": "Female", "age": 34}
    del search["passengers"]
    return {"request": search | {"out_at": f"{search['out_at']}"}, "passengers": [traveller]}


def test_the_client_lists_searches_books_confirms_and_views(service, mode, a_search, ferry):
    async def work(client):
        assert (client.protocol_version, client.server_info.name) == ("2025-11-25", "ferry-sandbox")
        tools = [tool.name for tool in (await client.list_tools()).tools]
        assert tools[:3] == ["search_availability", "create_booking", "confirm_booking"]
        assert tools[3:] == ["view_ticket", "cancel_ticket"]
        listed = [str(one.uri) for one in (await client.list_resources()).resources]
        assert (len(listed), URI in listed) == (6, True)
        assert (await client.list_resource_templates()).resource_templates == []
        listing = await client.call_tool("search_availability", a_search)
        failed = await client.call_tool("view_ticket", {"id": "none"})
        with pytest.raises(MCPError, match="tides") as caught:
            await client.read_resource("resource://service/tides")
        return listing, failed, caught.value, await client.read_resource(URI)

    listing, failed, error, resource = run_with_client(service, mode, work)
    assert not listing.is_error
    sailings = listing.structured_content["result"]
    assert {sailing["depart_code"] for sailing in sailings} == {"FRMRS"}
    assert json.loads(listing.content[0].text) == sailings
    assert failed.is_error
    assert (failed.structured_content["code"], error.code) == ("TICKET_NOT_FOUND", -32602)
    (content,) = resource.contents
    assert str(content.uri) == URI
    assert "FRMRS" in [port["code"] for port in json.loads(content.text)]
    chosen = selected(ferry).model_dump(include={"availability_id", "tariff_id", "place_id"})
    traveller = {"order": 1, "first_name": "Ada", "last_name": "Okonkwo"}
    child = traveller | {"order": 2, "type": "CHD", "age": 7, "gender": "M"}
    travellers = [traveller | {"type": "ADT", "age": 34, "gender": "F"}, child]

    async def work(client):
        arguments = {"availabilities": [chosen], "passengers": travellers}
        created = (await client.call_tool("create_booking", arguments)).structured_content
        booking = {"id": created["booking_id"]}
        confirmed = (await client.call_tool("confirm_booking", booking)).structured_content
        return await client.call_tool("view_ticket", {"id": confirmed["ticket_id"]})

    ticket = run_with_client(service, mode, work).structured_content
    assert ticket["status"] == "Issued"
    assert ferry.tickets.get(ticket["id"]).ticket_number == ticket["ticket_number"]
    assert len(service.counters.effects_of("bookings.create")) == 1


SHAPES = ("text", "n_blocks", "structured_result", "embedded_resource", "extra_blocks")
OPTIONS = [
    *({"result": shape} for shape in SHAPES),
    {"reply": "sse", "line_end": "cr", "comments": True},
    {"reply": "sse", "line_end": "crlf", "several_lines": True},
    {"reply": "sse", "notification_first": True, "raw_separators": True},
    *({"session": session} for session in ("optional", "required", "none")),
]
"""Other envelopes, streams and ways to keep a session."""


@each("options", OPTIONS)
def test_the_client_accepts_every_option_of_the_service(ferry_sandbox, mode, a_search, options):
    ferry_sandbox.mcp.reset()
    ferry_sandbox.mcp.set(**options)
    result = run_with_client(
        ferry_sandbox, mode, lambda client: client.call_tool("search_availability", a_search)
    )
    assert not result.is_error
    assert result.content


@each("token", ["wrong", "Bearer"])
def test_a_wrong_token_is_refused(ferry_sandbox, mode, token):
    with pytest.raises(MCPError):
        run_with_client(ferry_sandbox, mode, lambda client: client.list_tools(), token)
    assert ferry_sandbox.counters.requests["mcp.list_tools"] == 0
    assert ferry_sandbox.counters.effects == ()
