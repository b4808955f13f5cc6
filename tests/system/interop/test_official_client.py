"""The official Python client on the local service."""

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


def test_the_client_connects_and_negotiates_a_version(service, mode):
    async def work(client):
        return client.protocol_version, client.server_info.name

    assert run_with_client(service, mode, work) == ("2025-11-25", "ferry-sandbox")


def test_the_client_lists_tools_and_resources(service, mode):
    async def work(client):
        tools, resources = await client.list_tools(), await client.list_resources()
        templates = await client.list_resource_templates()
        return tools.tools, resources.resources, templates.resource_templates

    tools, resources, templates = run_with_client(service, mode, work)
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
    result = run_with_client(
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
def test_the_client_accepts_the_other_envelopes(service, mode, a_search, shape):
    service.mcp.set(result=shape)
    result = run_with_client(
        service, mode, lambda client: client.call_tool("search_availability", a_search)
    )
    assert not result.is_error
    assert result.content


def test_the_client_books_confirms_and_views(service, mode, ferry):
    sailing = found(ferry)
    selection = sailing.select(tariff=sailing.tariffs[0], place=sailing.places[0])
    chosen = selection.model_dump(include={"availability_id", "tariff_id", "place_id"})
    traveller = {"order": 1, "first_name": "Ada", "last_name": "Okonkwo"}
    travellers = [
        {**traveller, "type": "ADT", "age": 34, "gender": "F"},
        {**traveller, "order": 2, "type": "CHD", "age": 7, "gender": "M"},
    ]

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


def test_a_failure_is_a_tool_error(service, mode):
    result = run_with_client(
        service, mode, lambda client: client.call_tool("view_ticket", {"id": "none"})
    )
    assert result.is_error
    assert result.structured_content["code"] == "TICKET_NOT_FOUND"


def test_the_client_reads_a_resource(service, mode):
    result = run_with_client(service, mode, lambda client: client.read_resource(URI))
    (content,) = result.contents
    assert str(content.uri) == URI
    assert "FRMRS" in [port["code"] for port in json.loads(content.text)]


def test_an_unknown_resource_is_an_error_of_the_client(service, mode):
    with pytest.raises(MCPError, match="tides") as caught:
        run_with_client(
            service, mode, lambda client: client.read_resource("resource://service/tides")
        )
    assert caught.value.code == -32602


@pytest.mark.parametrize(
    "stream",
    [
        {"line_end": "cr", "comments": True},
        {"line_end": "crlf", "several_lines": True},
        {"notification_first": True, "raw_separators": True},
    ],
)
def test_the_client_follows_streams(ferry_sandbox, mode, stream, a_search):
    ferry_sandbox.mcp.set(reply="sse", **stream)
    result = run_with_client(
        ferry_sandbox, mode, lambda client: client.call_tool("search_availability", a_search)
    )
    assert result.structured_content["result"]


@pytest.mark.parametrize("session", ["optional", "required", "none"])
def test_the_client_keeps_its_session(ferry_sandbox, mode, session):
    ferry_sandbox.mcp.set(**McpOptions(session=session).model_dump())
    result = run_with_client(ferry_sandbox, mode, lambda client: client.list_tools())
    assert result.tools


@pytest.mark.parametrize("token", ["wrong", "Bearer"])
def test_a_wrong_token_is_refused(ferry_sandbox, mode, token):
    with pytest.raises(MCPError):
        run_with_client(ferry_sandbox, mode, lambda client: client.list_tools(), token)
    assert ferry_sandbox.counters.requests["mcp.list_tools"] == 0
    assert ferry_sandbox.counters.effects == ()
