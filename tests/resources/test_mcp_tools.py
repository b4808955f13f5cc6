"""The five tools and six catalogues of the MCP endpoint: requests and results."""

import json
from functools import partial

import pytest

import ferry_sdk as sdk
from ferry_sdk import AlreadyDoneError, APIError, AvailabilityError, BookingCreateError, __version__
from ferry_sdk.resources.mcp import McpGroup
from tests.support.exchanges import caught
from tests.support.summer import CAR, TRAVELLER, booked, chosen, ids_of, search, ticket_of
from tests.support.wire import recorded

pytestmark = pytest.mark.usefixtures("summer")
FAMILY = [
    {"type": "Adult", "first_name": "Zoë", "last_name": "Berg", "gender": "Female"},
    {"type": "Child", "first_name": "Max", "last_name": "Berg", "gender": "M", "age": 7},
    {"type": "Infant", "first_name": "Ida", "last_name": "Berg", "gender": "F", "age": 1},
]
AGES = [
    {"type": "Adult", "gender": "F", "age": 34},
    {"type": "Child", "gender": "M", "age": 7},
    {"type": "Infant", "gender": "F", "age": 1},
]


TOOLS = (
    "search_availability",
    "create_booking",
    "confirm_booking",
    "view_ticket",
    "cancel_ticket",
)
URIS = {
    "ports": "resource://service/ports",
    "companies": "resource://service/companies",
    "countries": "resource://service/countries",
    "vehicle_brands": "resource://service/vehicle-brands",
    "vehicle_data": "resource://service/vehicle-data",
    "departures": "resource://service/departures",
}
"""The resource of each catalogue."""


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
    for request in wire.requests:
        assert (request.method, request.url.raw_path) == ("POST", b"/mcp")
        assert {name: request.headers[name] for name in expected} == expected
        message = json.loads(request.content)
        assert message["jsonrpc"] == "2.0"
        assert message["method"].startswith("notifications/") or message["id"]
    ids = {json.loads(request.content).get("id") for request in wire.requests}
    assert len(ids) == len(wire.requests) == 3
    assert len({request.headers["x-client-correlation-id"] for request in wire.requests}) == 1


def test_a_search_is_that_of_rest(wired_client):
    ferry, wire = wired_client
    trip = search(back=True, passengers=AGES, vehicle={"code": CAR})
    sailings = ferry.mcp.search_availability(**trip)
    arguments = wire.tool_arguments()
    assert wire.body["params"]["name"] == "search_availability"
    assert sailings == ferry.availability.search(**trip)
    assert arguments == wire.body


def test_a_booking_speaks_the_words_of_mcp(wired_client):
    ferry, wire = wired_client
    selections = chosen(ferry.mcp.search_availability(**search(passengers=AGES)))
    contact = {"name": "Zoë", "email": "zoe@example.org", "prefix": "+49", "phone": "3012"}
    optional = {"reservation_type": "TICKET", "contact": contact}

    made = ferry.mcp.create_booking(availabilities=selections, passengers=FAMILY, **optional)

    assert wire.body["params"]["name"] == "create_booking"
    assert wire.tool_arguments() == {
        "availabilities": [ids_of(selection) for selection in selections],
        "passengers": [
            {**FAMILY[0], "order": 1, "type": "ADT", "gender": "F"},
            {**FAMILY[1], "order": 2, "type": "CHD"},
            {**FAMILY[2], "order": 3, "type": "INF"},
        ],
        **optional,
    }
    booking = ferry.bookings.get(made.booking_id)
    assert booking.total_price == made.total_price
    assert len(booking.tickets[0].passengers) == 3


def test_an_id_stands_for_availabilities(wired_client):
    ferry, wire = wired_client
    sailing = ferry.mcp.search_availability(**search())[0]
    made = ferry.mcp.create_booking(id=sailing.id, passengers=[TRAVELLER])
    arguments = wire.tool_arguments()
    assert arguments["id"] == sailing.id
    assert "availabilities" not in arguments
    assert made.total_price == min(
        tariff.amount for tariff in sailing.tariffs if tariff.type == "Ticket"
    )


@pytest.mark.parametrize(
    "choice",
    [{}, {"id": "a1", "availabilities": []}, {"id": ""}, {"availabilities": []}],
    ids=["neither", "both", "no id", "no availabilities"],
)
def test_a_booking_has_one_choice(choice):
    create = partial(McpGroup.create_booking, None, passengers=[TRAVELLER])
    assert caught(sdk.InvalidInputError, create, **choice).field in {"id", "availabilities"}


def test_a_booking_is_confirmed(wired_client):
    ferry, wire = wired_client
    made = booked(ferry)
    confirmed = ferry.mcp.confirm_booking(made.booking_id)
    assert wire.body["params"] == {"name": "confirm_booking", "arguments": {"id": made.booking_id}}
    assert (confirmed.booking_id, confirmed.status) == (made.booking_id, "confirmed")


def test_a_ticket_is_that_of_rest(wired_client):
    ferry, wire = wired_client
    made = booked(ferry)
    ticket_id = ferry.mcp.confirm_booking(made.booking_id).ticket_id

    ticket = ferry.mcp.view_ticket(ticket_id)

    assert wire.body["params"] == {"name": "view_ticket", "arguments": {"id": ticket_id}}
    assert ticket.model_dump(exclude={"booking"}) == ferry.tickets.get(ticket_id).model_dump()
    assert ticket.model_extra["booking"]["booking_id"] == made.booking_id


def test_a_ticket_is_cancelled(wired_client):
    ferry, wire = wired_client
    ticket = ticket_of(ferry)

    done = ferry.mcp.cancel_ticket(ticket.id, ticket_number=ticket.ticket_number)

    arguments = {"ticket_id": ticket.id, "ticket_number": ticket.ticket_number}
    assert wire.body["params"] == {"name": "cancel_ticket", "arguments": arguments}
    assert (done.ticket_id, done.status) == (ticket.id, "cancelled")
    assert ferry.mcp.view_ticket(ticket.id).status is sdk.TicketStatus.CANCELED


def test_a_second_confirmation_is_refused(both):
    made = booked(both)
    both.mcp.confirm_booking(made.booking_id)
    error = caught(AlreadyDoneError, both.mcp.confirm_booking, made.booking_id)
    assert isinstance(error.__cause__, sdk.BookingConfirmError)


def test_an_unknown_ticket_is_not_viewed(both):
    error = caught(sdk.TicketNotFoundError, both.mcp.view_ticket, "nothing")
    assert error.code == "TICKET_NOT_FOUND"


def test_an_unknown_ticket_is_not_cancelled(both):
    caught(sdk.TicketCancelError, both.mcp.cancel_ticket, "nothing")


def test_an_unknown_offer_is_not_booked(both):
    caught(BookingCreateError, both.mcp.create_booking, id="nothing", passengers=[TRAVELLER])


def test_a_day_without_sailings_is_an_error(both):
    trip = search(out_at="2026-07-15")
    assert caught(AvailabilityError, both.mcp.search_availability, **trip).outcome == "rejected"


def test_an_unknown_tool_is_refused(both):
    with pytest.raises(APIError) as refused:
        both.mcp.call_tool("sing", {})
    assert (refused.value.outcome, refused.value.operation) == ("rejected", "mcp.call_tool")


def test_an_unknown_resource_is_not_found(both):
    caught(sdk.NotFoundError, both.mcp.read_resource, "resource://service/songs")


def test_the_tools_are_listed(wired_client):
    ferry, wire = wired_client
    tools = ferry.mcp.list_tools()
    assert wire.body["method"] == "tools/list"
    assert tuple(tool.name for tool in tools) == TOOLS
    for tool in tools:
        assert tool.description
        assert tool.input_schema["type"] == "object"
        is_read = tool.name in {"search_availability", "view_ticket"}
        assert tool.annotations["readOnlyHint"] is is_read


def test_the_resources_are_listed(wired_client):
    ferry, wire = wired_client
    resources = ferry.mcp.list_resources()
    assert wire.body["method"] == "resources/list"
    assert {resource.uri for resource in resources} == {*URIS.values()}
    assert {resource.mime_type for resource in resources} == {"application/json"}


@pytest.mark.parametrize(("name", "uri"), URIS.items(), ids=URIS)
def test_a_resource_has_its_records(wired_client, name, uri):
    ferry, wire = wired_client
    records = getattr(ferry.mcp, name)()
    assert (wire.body["method"], wire.body["params"]) == ("resources/read", {"uri": uri})
    assert records
    assert records.unreadable == ()


def test_a_resource_is_read_as_json(both):
    countries = both.mcp.read_resource(URIS["countries"])
    assert isinstance(countries, list)
    assert {"code", "name", "phone_prefix", "names"} == set(countries[0])


def record_of(records, code):
    """Return the record with a code."""
    return next(record for record in records if record.code == code)


def test_the_fields_of_a_port(both):
    port = record_of(both.mcp.ports(), "FRMRS")
    assert (port.name, port.city, port.country) == ("Marseille", "Marseille", "France")
    assert (port.latitude, port.longitude) == pytest.approx((43.3, 5.35), abs=0.2)
    assert port.model_extra == {"country_code": "FR", "timezone": "Europe/Paris"}


def test_the_fields_of_a_company(both, ferry_sandbox):
    company = record_of(both.mcp.companies(), "CTN")
    expected = ferry_sandbox.network.company("CTN", "company")
    assert (company.id, company.name, company.logo) == (expected.id, expected.name, expected.logo)


def test_the_fields_of_a_country(both):
    country = record_of(both.with_options(language="el").mcp.countries(), "GR")
    assert (country.name, country.phone_prefix) == ("Ελλάδα", "+30")
    assert country.names["en"] == "Greece"


def test_the_fields_of_a_vehicle(both):
    vehicle = record_of(both.mcp.vehicle_data(), CAR)
    assert (vehicle.brand, vehicle.model, vehicle.type) == ("Abarth", "595", "CAR")
    assert (vehicle.length, vehicle.height) == (3.66, 1.49)


def test_the_fields_of_a_departure(both):
    departure = both.mcp.departures()[0]
    assert departure.depart_at.tzinfo is not None
    assert departure.depart_at < departure.arrive_at
    assert all((departure.journey_id, departure.ship, departure.company["code"]))
    assert len(departure.depart_code) == len(departure.arrive_code) == 5
