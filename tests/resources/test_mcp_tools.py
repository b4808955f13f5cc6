"""The five tools and six catalogues of the MCP endpoint: requests and results."""

import json
from functools import partial

import pytest

import ferry_sdk as sdk
from ferry_sdk import AlreadyDoneError, APIError, AvailabilityError, BookingCreateError, __version__
from ferry_sdk.resources.mcp import McpGroup
from tests.support.exchanges import caught
from tests.support.summer import CAR, TRAVELLER, booked, chosen, ids_of, search
from tests.support.wire import recorded

pytestmark = pytest.mark.usefixtures("summer")
FAMILY = [
    {"type": "Adult", "first_name": "Zoë", "last_name": "Berg", "gender": "Female"},
    {"type": "Child", "first_name": "Max", "last_name": "Berg", "gender": "M", "age": 7},
    {"type": "Infant", "first_name": "Ida", "last_name": "Berg", "gender": "F", "age": 1},
]
AGES = [
    {"type": "Adult", "gender": "F", "age": 34},
    *({name: one[name] for name in ("type", "gender", "age")} for one in FAMILY[1:]),
]


CATALOGUES = ("ports", "companies", "countries", "vehicle_brands", "vehicle_data", "departures")
URIS = {name: f"resource://service/{name.replace('_', '-')}" for name in CATALOGUES}


def test_every_message_keeps_the_conventions(clients, ferry_sandbox):
    with recorded(clients, ferry_sandbox, language="el", client_version=2) as (ferry, wire):
        ferry.mcp.search_availability(**search())
    expected = {
        "authorization": f"Bearer {ferry_sandbox.token}",
        "content-type": "application/json",
        "accept": "application/json, text/event-stream",
        "accept-language": "el",
        "user-agent": f"ferry_sdk/{__version__}",
        "x-client-version": "2",
    }
    for one in wire.requests:
        assert (one.method, one.url.raw_path) == ("POST", b"/mcp")
        assert {name: one.headers[name] for name in expected} == expected
        message = json.loads(one.content)
        assert message["jsonrpc"] == "2.0"
        assert message["method"].startswith("notifications/") or message["id"]
    ids = [json.loads(one.content).get("id") for one in wire.requests]
    assert len({*ids}) == len(ids) == 3
    assert len({one.headers["x-client-correlation-id"] for one in wire.requests}) == 1


def test_a_search_is_that_of_rest_and_a_booking_speaks_the_words_of_mcp(wired_client):
    ferry, wire = wired_client
    trip = search(back=True, passengers=AGES, vehicle={"code": CAR})
    found = ferry.mcp.search_availability(**trip)
    asked = wire.tool_arguments()
    assert wire.body["params"]["name"] == "search_availability"
    assert found == ferry.availability.search(**trip)
    assert asked == wire.body
    ferry, wire = wired_client
    selections = chosen(ferry.mcp.search_availability(**search(passengers=AGES)))
    contact = {"name": "Zoë", "email": "zoe@example.org", "prefix": "+49", "phone": "3012"}
    more = {"reservation_type": "TICKET", "contact": contact}
    made = ferry.mcp.create_booking(availabilities=selections, passengers=FAMILY, **more)
    assert wire.body["params"]["name"] == "create_booking"
    assert wire.tool_arguments() == {
        "availabilities": [ids_of(one) for one in selections],
        "passengers": [
            {**FAMILY[0], "order": 1, "type": "ADT", "gender": "F"},
            {**FAMILY[1], "order": 2, "type": "CHD"},
            {**FAMILY[2], "order": 3, "type": "INF"},
        ],
        **more,
    }
    booking = ferry.bookings.get(made.booking_id)
    assert booking.total_price == made.total_price
    assert len(booking.tickets[0].passengers) == 3


def test_an_id_stands_for_availabilities_and_tools_give_what_rest_gives(wired_client):
    ferry, wire = wired_client
    one = ferry.mcp.search_availability(**search())[0]
    made = ferry.mcp.create_booking(id=one.id, passengers=[TRAVELLER])
    asked = wire.tool_arguments()
    assert asked["id"] == one.id
    assert "availabilities" not in asked
    assert made.total_price == min(t.amount for t in one.tariffs if t.type == "Ticket")
    for choice in ({}, {"id": "a1", "availabilities": []}, {"id": ""}, {"availabilities": []}):
        create = partial(McpGroup.create_booking, None, passengers=[TRAVELLER])
        assert caught(sdk.InvalidInputError, create, **choice).field in {"id", "availabilities"}, (
            choice
        )
    ferry, wire = wired_client
    made = booked(ferry)
    confirmed = ferry.mcp.confirm_booking(made.booking_id)
    assert wire.body["params"] == {"name": "confirm_booking", "arguments": {"id": made.booking_id}}
    assert (confirmed.booking_id, confirmed.status) == (made.booking_id, "confirmed")

    ticket_id = confirmed.ticket_id
    seen = ferry.mcp.view_ticket(ticket_id)
    assert wire.body["params"] == {"name": "view_ticket", "arguments": {"id": ticket_id}}
    assert seen.model_dump(exclude={"booking"}) == ferry.tickets.get(ticket_id).model_dump()
    assert seen.model_extra["booking"]["booking_id"] == made.booking_id

    done = ferry.mcp.cancel_ticket(ticket_id, ticket_number=seen.ticket_number)
    called = {"ticket_id": ticket_id, "ticket_number": seen.ticket_number}
    assert wire.body["params"] == {"name": "cancel_ticket", "arguments": called}
    assert (done.ticket_id, done.status) == (ticket_id, "cancelled")
    assert ferry.mcp.view_ticket(ticket_id).status is sdk.TicketStatus.CANCELED


def test_refusals_have_the_codes_of_their_tools(both):
    made = booked(both)
    both.mcp.confirm_booking(made.booking_id)
    error = caught(AlreadyDoneError, both.mcp.confirm_booking, made.booking_id)
    assert isinstance(error.__cause__, sdk.BookingConfirmError)
    assert (
        caught(sdk.TicketNotFoundError, both.mcp.view_ticket, "nothing").code == "TICKET_NOT_FOUND"
    )
    caught(sdk.TicketCancelError, both.mcp.cancel_ticket, "nothing")
    caught(BookingCreateError, both.mcp.create_booking, id="nothing", passengers=[TRAVELLER])
    trip = search(out_at="2026-07-15")
    assert caught(AvailabilityError, both.mcp.search_availability, **trip).outcome == "rejected"
    with pytest.raises(APIError) as refused:
        both.mcp.call_tool("sing", {})
    assert (refused.value.outcome, refused.value.operation) == ("rejected", "mcp.call_tool")
    caught(sdk.NotFoundError, both.mcp.read_resource, "resource://service/songs")


def test_the_tools_and_resources_are_listed_and_each_resource_has_its_records(wired_client):
    ferry, wire = wired_client
    tools = ferry.mcp.list_tools()
    assert wire.body["method"] == "tools/list"
    names = "search_availability create_booking confirm_booking view_ticket cancel_ticket"
    assert " ".join(one.name for one in tools) == names
    for tool in tools:
        assert tool.description
        assert tool.input_schema["type"] == "object"
        is_read = tool.name in {"search_availability", "view_ticket"}
        assert tool.annotations["readOnlyHint"] is is_read
    resources = ferry.mcp.list_resources()
    assert wire.body["method"] == "resources/list"
    assert {one.uri for one in resources} == {*URIS.values()}
    assert {one.mime_type for one in resources} == {"application/json"}
    for name, uri in URIS.items():
        found = getattr(ferry.mcp, name)()
        assert (wire.body["method"], wire.body["params"]) == ("resources/read", {"uri": uri})
        assert found, name
        assert found.unreadable == (), name
    value = ferry.mcp.read_resource(URIS["countries"])
    assert isinstance(value, list)
    assert {"code", "name", "phone_prefix", "names"} == set(value[0])


def test_the_records_of_the_catalogues_have_their_fields(both, ferry_sandbox):
    port = next(one for one in both.mcp.ports() if one.code == "FRMRS")
    assert (port.name, port.city, port.country) == ("Marseille", "Marseille", "France")
    assert (port.latitude, port.longitude) == pytest.approx((43.3, 5.35), abs=0.2)
    assert port.model_extra == {"country_code": "FR", "timezone": "Europe/Paris"}
    company = next(one for one in both.mcp.companies() if one.code == "CTN")
    known = ferry_sandbox.network.company("CTN", "company")
    assert (company.id, company.name, company.logo) == (known.id, known.name, known.logo)
    greek = both.with_options(language="el").mcp.countries()
    country = next(one for one in greek if one.code == "GR")
    assert (country.name, country.phone_prefix) == ("Ελλάδα", "+30")
    assert country.names["en"] == "Greece"
    vehicle = next(one for one in both.mcp.vehicle_data() if one.code == CAR)
    assert (vehicle.brand, vehicle.model, vehicle.type) == ("Abarth", "595", "CAR")
    assert (vehicle.length, vehicle.height) == (3.66, 1.49)
    one = both.mcp.departures()[0]
    assert one.depart_at.tzinfo is not None
    assert one.depart_at < one.arrive_at
    assert all((one.journey_id, one.ship, one.company["code"]))
    assert len(one.depart_code) == len(one.arrive_code) == 5
