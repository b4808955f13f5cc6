"""The five tools and six catalogues of the MCP endpoint: requests and results."""

import json

import pytest

from ferry_sdk import (
    AlreadyDoneError,
    APIError,
    AvailabilityError,
    BookingConfirmError,
    BookingCreateError,
    InvalidInputError,
    NotFoundError,
    TicketCancelError,
    TicketNotFoundError,
    TicketStatus,
    __version__,
)
from ferry_sdk.resources.mcp import McpGroup
from tests.support.exchanges import caught
from tests.support.summer import CAR, TRAVELLER, booked, chosen, ids_of, search
from tests.support.tables import each
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


class TestTheWire:
    def test_every_message_keeps_the_conventions(self, clients, ferry_sandbox):
        with recorded(clients, ferry_sandbox, language="el", client_version=2) as (ferry, wire):
            ferry.mcp.search_availability(**search())
        for one in wire.requests:
            assert (one.method, one.url.raw_path) == ("POST", b"/mcp")
            assert one.headers["authorization"] == f"Bearer {ferry_sandbox.token}"
            assert one.headers["content-type"] == "application/json"
            assert one.headers["accept"] == "application/json, text/event-stream"
            assert one.headers["accept-language"] == "el"
            assert one.headers["user-agent"] == f"ferry_sdk/{__version__}"
            assert one.headers["x-client-version"] == "2"
            message = json.loads(one.content)
            assert message["jsonrpc"] == "2.0"
            assert message["method"].startswith("notifications/") or message["id"]
        ids = [json.loads(one.content).get("id") for one in wire.requests]
        assert len({*ids}) == len(ids) == 3
        assert len({one.headers["x-client-correlation-id"] for one in wire.requests}) == 1


class TestSearch:
    def test_it_has_the_body_of_the_rest_search(self, wired_client):
        ferry, wire = wired_client
        trip = search(back=True, passengers=AGES, vehicle={"code": CAR})
        found = ferry.mcp.search_availability(**trip)
        asked = wire.tool_arguments()
        assert wire.body["params"]["name"] == "search_availability"
        rest = ferry.availability.search(**trip)
        assert asked == wire.body
        assert found == rest


class TestCreate:
    def test_it_speaks_the_words_of_mcp(self, wired_client):
        ferry, wire = wired_client
        selections = chosen(ferry.mcp.search_availability(**search(passengers=AGES)))
        contact = {"name": "Zoë", "email": "zoe@example.org", "prefix": "+49", "phone": "3012"}
        made = ferry.mcp.create_booking(
            availabilities=selections, passengers=FAMILY, reservation_type="TICKET", contact=contact
        )
        assert wire.body["params"]["name"] == "create_booking"
        assert wire.tool_arguments() == {
            "availabilities": [ids_of(one) for one in selections],
            "passengers": [
                {**FAMILY[0], "order": 1, "type": "ADT", "gender": "F"},
                {**FAMILY[1], "order": 2, "type": "CHD"},
                {**FAMILY[2], "order": 3, "type": "INF"},
            ],
            "reservation_type": "TICKET",
            "contact": contact,
        }
        booking = ferry.bookings.get(made.booking_id)
        assert booking.total_price == made.total_price
        assert len(booking.tickets[0].passengers) == 3

    def test_an_id_of_the_search_stands_instead_of_availabilities(self, wired_client):
        ferry, wire = wired_client
        one = ferry.mcp.search_availability(**search())[0]
        made = ferry.mcp.create_booking(id=one.id, passengers=[TRAVELLER])
        asked = wire.tool_arguments()
        assert asked["id"] == one.id
        assert "availabilities" not in asked
        assert made.total_price == min(t.amount for t in one.tariffs if t.type == "Ticket")

    @each("choice", [{}, {"id": "a1", "availabilities": []}, {"id": ""}, {"availabilities": []}])
    def test_both_or_neither_is_refused(self, choice):
        error = caught(
            InvalidInputError, McpGroup.create_booking, None, passengers=[TRAVELLER], **choice
        )
        assert error.field in {"id", "availabilities"}


class TestConfirmViewCancel:
    def test_the_trip_gives_what_rest_gives(self, wired_client):
        ferry, wire = wired_client
        made = booked(ferry)
        confirmed = ferry.mcp.confirm_booking(made.booking_id)
        called = {"name": "confirm_booking", "arguments": {"id": made.booking_id}}
        assert wire.body["params"] == called
        assert (confirmed.booking_id, confirmed.status) == (made.booking_id, "confirmed")

        seen = ferry.mcp.view_ticket(confirmed.ticket_id)
        called = {"name": "view_ticket", "arguments": {"id": confirmed.ticket_id}}
        assert wire.body["params"] == called
        rest = ferry.tickets.get(confirmed.ticket_id)
        assert seen.model_dump(exclude={"booking"}) == rest.model_dump()
        assert seen.model_extra is not None
        assert seen.model_extra["booking"]["booking_id"] == made.booking_id

        done = ferry.mcp.cancel_ticket(confirmed.ticket_id, ticket_number=seen.ticket_number)
        assert wire.body["params"] == {
            "name": "cancel_ticket",
            "arguments": {"ticket_id": confirmed.ticket_id, "ticket_number": seen.ticket_number},
        }
        assert (done.ticket_id, done.status) == (confirmed.ticket_id, "cancelled")
        assert ferry.mcp.view_ticket(confirmed.ticket_id).status is TicketStatus.CANCELED

    def test_refusals_have_the_codes_of_their_tools(self, both):
        made = booked(both)
        both.mcp.confirm_booking(made.booking_id)
        error = caught(AlreadyDoneError, both.mcp.confirm_booking, made.booking_id)
        assert isinstance(error.__cause__, BookingConfirmError)
        error = caught(TicketNotFoundError, both.mcp.view_ticket, "nothing")
        assert error.code == "TICKET_NOT_FOUND"
        caught(TicketCancelError, both.mcp.cancel_ticket, "nothing")
        caught(BookingCreateError, both.mcp.create_booking, id="nothing", passengers=[TRAVELLER])
        trip = search(out_at="2026-07-15")
        assert caught(AvailabilityError, both.mcp.search_availability, **trip).outcome == "rejected"


class TestCatalogues:
    @each("name", CATALOGUES)
    def test_each_is_a_resource_of_records(self, wired_client, name):
        ferry, wire = wired_client
        found = getattr(ferry.mcp, name)()
        assert wire.body["method"] == "resources/read"
        assert wire.body["params"] == {"uri": f"resource://service/{name.replace('_', '-')}"}
        assert found
        assert found.unreadable == ()

    def test_their_records_have_their_fields(self, both, ferry_sandbox):
        port = next(one for one in both.mcp.ports() if one.code == "FRMRS")
        assert (port.name, port.city, port.country) == ("Marseille", "Marseille", "France")
        assert port.latitude == pytest.approx(43.3, abs=0.2)
        assert port.longitude == pytest.approx(5.35, abs=0.2)
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
        assert one.journey_id
        assert one.ship
        assert one.company["code"]
        assert len(one.depart_code) == len(one.arrive_code) == 5


class TestAnyToolOrResource:
    def test_an_unknown_tool_or_resource_is_refused(self, both):
        with pytest.raises(APIError) as refused:
            both.mcp.call_tool("sing", {})
        assert refused.value.outcome == "rejected"
        assert refused.value.operation == "mcp.call_tool"
        caught(NotFoundError, both.mcp.read_resource, "resource://service/songs")

    def test_a_resource_gives_its_json(self, both):
        value = both.mcp.read_resource("resource://service/countries")
        assert isinstance(value, list)
        assert {"code", "name", "phone_prefix", "names"} == set(value[0])

    def test_the_tools_are_listed(self, wired_client):
        ferry, wire = wired_client
        tools = ferry.mcp.list_tools()
        assert wire.body["method"] == "tools/list"
        names = "search_availability create_booking confirm_booking view_ticket cancel_ticket"
        assert " ".join(one.name for one in tools) == names
        for tool in tools:
            assert tool.description
            assert tool.input_schema["type"] == "object"
            assert tool.annotations["readOnlyHint"] is (
                tool.name in {"search_availability", "view_ticket"}
            )

    def test_the_resources_are_listed(self, wired_client):
        ferry, wire = wired_client
        resources = ferry.mcp.list_resources()
        assert wire.body["method"] == "resources/list"
        assert {one.uri for one in resources} == {
            f"resource://service/{name.replace('_', '-')}" for name in CATALOGUES
        }
        assert {one.mime_type for one in resources} == {"application/json"}
