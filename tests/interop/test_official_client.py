"""The official Python client on the local service."""

from __future__ import annotations

import json

import anyio
import httpx2
import pytest
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client

from ferry_sdk.sandbox import McpOptions
from tests.support.tiers import mostly_long
from tests.support.trip import found

URI = "resource://service/ports"


def connected(sandbox, mode, work, token=None):
    """What the work gives, done with the official client; an error comes out of its groups."""

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
def a_search(ferry):
    sailing = found(ferry)
    return {
        "request": {
            "company": "CTN",
            "depart_code": sailing.depart_code,
            "arrive_code": sailing.arrive_code,
            "out_journey_id": sailing.journey_id,
            "out_at": sailing.depart_at.date().isoformat(),
            "out_time": "00:00",
        },
        "passengers": [{"order": 1, "type": "Adult", "param": "A", "gender": "Female", "age": 34}],
    }


def test_it_connects_and_agrees_on_a_version(service, mode):
    async def work(client):
        return client.protocol_version, client.server_info.name

    assert connected(service, mode, work) == ("2025-11-25", "ferry-sandbox")


def test_it_lists_tools_and_resources(service, mode):
    async def work(client):
        tools, resources = await client.list_tools(), await client.list_resources()
        templates = await client.list_resource_templates()
        return tools.tools, resources.resources, templates.resource_templates

    tools, resources, templates = connected(service, mode, work)
    assert [tool.name for tool in tools] == [
        "search_availability",
        "create_booking",
        "confirm_booking",
        "view_ticket",
        "cancel_ticket",
    ]
    assert URI in [str(resource.uri) for resource in resources]
    assert len(resources) == 6
    assert templates == []


def test_a_search_finds_sailings(service, mode, a_search):
    result = connected(
        service, mode, lambda client: client.call_tool("search_availability", a_search)
    )
    assert not result.is_error
    sailings = result.structured_content["result"]
    assert sailings
    assert {sailing["depart_code"] for sailing in sailings} == {"FRMRS"}
    assert json.loads(result.content[0].text) == sailings


@pytest.mark.parametrize(
    "shape", ["text", "n_blocks", "structured_result", "embedded_resource", "extra_blocks"]
)
def test_it_takes_the_other_shapes(service, mode, a_search, shape):
    service.mcp.set(result=shape)
    result = connected(
        service, mode, lambda client: client.call_tool("search_availability", a_search)
    )
    assert not result.is_error
    assert result.content


def test_it_books_and_confirms_and_views(service, mode, ferry):
    sailing = found(ferry)
    selection = sailing.select(tariff=sailing.tariffs[0], place=sailing.places[0])
    traveller = {"order": 1, "first_name": "Ada", "last_name": "Okonkwo"}
    travellers = [
        {**traveller, "type": "ADT", "age": 34, "gender": "F"},
        {**traveller, "order": 2, "type": "CHD", "age": 7, "gender": "M"},
    ]

    async def work(client):
        arguments = {"availabilities": [selection.model_dump()], "passengers": travellers}
        created = (await client.call_tool("create_booking", arguments)).structured_content
        booking = {"id": created["booking_id"]}
        confirmed = (await client.call_tool("confirm_booking", booking)).structured_content
        return await client.call_tool("view_ticket", {"id": confirmed["ticket_id"]})

    ticket = connected(service, mode, work).structured_content
    assert ticket["status"] == "Issued"
    assert ferry.tickets.get(ticket["id"]).ticket_number == ticket["ticket_number"]
    assert len(service.counters.effects_of("bookings.create")) == 1


def test_a_failure_is_the_tools_error(service, mode):
    result = connected(
        service, mode, lambda client: client.call_tool("view_ticket", {"id": "none"})
    )
    assert result.is_error
    assert result.structured_content["code"] == "TICKET_NOT_FOUND"


def test_it_reads_a_resource(service, mode):
    result = connected(service, mode, lambda client: client.read_resource(URI))
    (content,) = result.contents
    assert str(content.uri) == URI
    assert "FRMRS" in [port["code"] for port in json.loads(content.text)]


def test_it_is_told_of_a_resource_that_is_not_there(service, mode):
    with pytest.raises(MCPError, match="tides") as caught:
        connected(service, mode, lambda client: client.read_resource("resource://service/tides"))
    assert caught.value.code == -32602


@pytest.mark.parametrize(
    "stream",
    [
        {"line_end": "cr", "comments": True},
        {"line_end": "crlf", "several_lines": True},
        {"notification_first": True, "raw_separators": True},
    ],
)
def test_it_follows_the_streams(ferry_sandbox, mode, stream, a_search):
    ferry_sandbox.mcp.set(reply="sse", **stream)
    result = connected(
        ferry_sandbox, mode, lambda client: client.call_tool("search_availability", a_search)
    )
    assert result.structured_content["result"]


@pytest.mark.parametrize("session", ["optional", "required", "none"])
def test_it_keeps_the_session_it_is_given(ferry_sandbox, mode, session):
    ferry_sandbox.mcp.set(**McpOptions(session=session).model_dump())
    result = connected(ferry_sandbox, mode, lambda client: client.list_tools())
    assert result.tools


@pytest.mark.parametrize("token", ["wrong", "Bearer"])
def test_a_wrong_token_is_refused(ferry_sandbox, mode, token):
    with pytest.raises(MCPError):
        connected(ferry_sandbox, mode, lambda client: client.list_tools(), token)
    assert ferry_sandbox.counters.requests["mcp.list_tools"] == 0
    assert ferry_sandbox.counters.effects == ()
