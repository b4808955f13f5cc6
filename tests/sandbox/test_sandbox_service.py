from __future__ import annotations

import json
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from offline_service import ADULT, GUEST, ONE_TICKET, TWO_TICKETS, OfflineService

from ferry_sdk.sandbox.requests.access import Access, Tokens, Unauthorized
from ferry_sdk.sandbox.requests.operations import OPERATIONS
from ferry_sdk.sandbox.service import ServiceError

CATALOGUES = [name for name in OPERATIONS if name.startswith("catalogue.")]
MCP_CATALOGUES = [
    f"mcp.{name}"
    for name in ("ports", "companies", "countries", "vehicle_brands", "vehicle_data", "departures")
]
WRITES = [
    "bookings.create",
    "bookings.confirm",
    "bookings.cancel",
    "tickets.cancel",
    "mcp.create_booking",
    "mcp.confirm_booking",
    "mcp.cancel_ticket",
]
NOT_SERVED = {"voucher.file", "mcp.initialize", "mcp.ping", "mcp.list_tools", "mcp.list_resources"}
SERVED = [name for name in OPERATIONS if name not in NOT_SERVED]


@pytest.fixture
def desk():
    return OfflineService()


@pytest.mark.parametrize("operation", SERVED)
@pytest.mark.parametrize("access", Access)
def test_access_is_all_or_nothing(desk, operation, access):
    error = desk.attempt(operation, {}, access=access)
    forbidden = error is not None and error.status == 403
    if operation == "tickets.mark_paid":
        assert forbidden == (access is not Access.ORGANISATION)
    else:
        assert forbidden == (access is Access.READ_ONLY and operation in WRITES)
    if forbidden:
        assert error.code == "FORBIDDEN"
    elif error is not None:
        assert error.status == 422


@pytest.mark.parametrize(
    ("operation", "status", "code"),
    [
        ("bookings.get", 404, "NOT_FOUND"),
        ("bookings.confirm", 404, "BOOKING_CONFIRM_ERROR"),
        ("tickets.get", 404, "TICKET_NOT_FOUND"),
        ("tickets.pdf", 404, "TICKET_NOT_FOUND"),
        ("tickets.mark_paid", 404, "TICKET_NOT_FOUND"),
        ("bookings.cancel_fee", 404, "NOT_FOUND"),
        ("bookings.cancel", 404, "NOT_FOUND"),
        ("tickets.cancel", 404, "TICKET_CANCEL_ERROR"),
        ("mcp.confirm_booking", 404, "BOOKING_CONFIRM_ERROR"),
        ("mcp.view_ticket", 404, "TICKET_NOT_FOUND"),
        ("mcp.cancel_ticket", 404, "TICKET_CANCEL_ERROR"),
    ],
)
def test_what_is_unknown_is_not_found(desk, operation, status, code):
    key = {"bookings.cancel": "booking_id", "tickets.cancel": "ticket_id"}
    name = key.get(operation, "ticket_id" if operation == "mcp.cancel_ticket" else "id")
    named = {name: "unknown"}
    if operation == "tickets.mark_paid":
        named["external_payment_ref"] = "x"
    protocol = "mcp" if operation.startswith("mcp.") else "rest"
    error = desk.refused(operation, named, access=Access.ORGANISATION, protocol=protocol)
    assert (error.status, error.code, error.field) == (status, code, name)


@pytest.mark.parametrize(
    ("operation", "code"),
    [
        ("availability.search", "VALIDATION_ERROR"),
        ("bookings.create", "VALIDATION_ERROR"),
        ("mcp.search_availability", "AVAILABILITY_ERROR"),
        ("mcp.create_booking", "BOOKING_CREATE_ERROR"),
        ("mcp.confirm_booking", "BOOKING_CONFIRM_ERROR"),
        ("mcp.view_ticket", "TICKET_VIEW_ERROR"),
        ("mcp.cancel_ticket", "TICKET_CANCEL_ERROR"),
    ],
)
def test_a_tool_fails_with_its_code_and_rest_says_that_the_request_is_wrong(desk, operation, code):
    protocol = "mcp" if operation.startswith("mcp.") else "rest"
    error = desk.refused(operation, {"nonsense": 1}, protocol=protocol)
    assert (error.status, error.code) == (422, code)
    wire = error.to_wire()
    assert wire["error"] is True
    assert wire["field"] == wire["errors"][0]["field"]
    assert {"field": "nonsense", "message": "This field is unknown."} in wire["errors"]


def test_a_search_without_sailings_says_so(desk):
    found = desk.search(ONE_TICKET)
    request = {
        "company": "CTN",
        "depart_code": "FRMRS",
        "arrive_code": "TNLGN",
        "out_journey_id": found[0]["journey_id"],
        "out_at": "2026-07-01",
        "out_time": "23:59",
    }
    for operation, protocol in (
        ("availability.search", "rest"),
        ("mcp.search_availability", "mcp"),
    ):
        body = {"request": request, "passengers": [ADULT]}
        error = desk.refused(operation, body, protocol=protocol)
        assert (error.status, error.code) == (404, "AVAILABILITY_ERROR")
        assert error.message == "No sailing fits this search."


@pytest.mark.parametrize(
    ("operation", "name", "fields"),
    [
        ("catalogue.ports", "ports", {"code", "name", "country"}),
        ("catalogue.journeys", "journeys", {"journey_id", "route", "duration_minutes"}),
        ("catalogue.vehicle_brands", "brands", {"id", "name"}),
        (
            "catalogue.vehicle_types",
            "vehicle_types",
            {"code", "name", "max_length", "max_height"},
        ),
    ],
)
def test_catalogues(desk, operation, name, fields):
    answer = desk.ask(operation)
    assert list(answer) == [name]
    assert answer[name]
    assert all(fields <= set(record) for record in answer[name])
    assert desk.refused(operation, {"colour": "red"}).field == "colour"


def test_departures_of_a_company_and_of_some_journeys(desk):
    everything = desk.ask("catalogue.departures", provider_id="ctn")["departures"]
    one = everything[0]["journey_id"]
    named = {"provider_id": "CTN", "__journey_id": [one]}
    assert desk.ask("catalogue.departures", named)["departures"] == everything[:1]
    wrong = desk.refused("catalogue.departures", {"provider_id": "CTN", "__journey_id": ["x"]})
    assert (wrong.status, wrong.field) == (422, "__journey_id[0]")
    assert desk.refused("catalogue.departures", {"provider_id": "x"}).field == "provider_id"
    assert desk.refused("catalogue.departures", {}).field == "provider_id"


@pytest.mark.parametrize("operation", MCP_CATALOGUES)
def test_resources_are_lists_of_records(desk, operation):
    records = desk.ask(operation, protocol="mcp")
    assert isinstance(records, list)
    assert json.loads(json.dumps(records)) == records != []


def test_port_names_are_in_the_callers_language(desk):
    names = {
        language: next(
            port["name"]
            for port in desk.ask("catalogue.ports", language=language)["ports"]
            if port["code"] == "FRMRS"
        )
        for language in ("en", "it", "ar")
    }
    assert names["it"] == "Marsiglia"
    assert len(set(names.values())) == 3


def test_a_ticket_by_tool_tells_of_its_booking(desk):
    created = desk.created()
    (ticket,) = desk.booking(created)["tickets"]
    seen = desk.ask("mcp.view_ticket", id=ticket["id"], protocol="mcp")
    booking = seen.pop("booking")
    assert seen == desk.ask("tickets.get", id=ticket["id"]) == ticket
    assert booking == {
        "booking_id": created["booking_id"],
        "booking_reference": created["booking_reference"],
        "stage": "payment_due",
        "payment_status": "unpaid",
    }


def test_effects_are_counted_when_something_was_done_under_one_name_for_both_protocols(desk):
    created = desk.created(TWO_TICKETS, back=7)
    desk.ask("mcp.confirm_booking", id=created["booking_id"], protocol="mcp")
    first, second = (ticket["id"] for ticket in desk.booking(created)["tickets"])
    desk.ask("mcp.cancel_ticket", ticket_id=first, protocol="mcp")
    desk.ask("tickets.cancel", ticket_id=second)
    desk.refused("tickets.cancel", ticket_id=second)
    effects = [(effect.operation, effect.subject) for effect in desk.counters.effects]
    assert effects == [
        ("bookings.create", created["booking_id"]),
        ("bookings.confirm", created["booking_id"]),
        ("tickets.cancel", first),
        ("tickets.cancel", second),
    ]


def test_answers_are_reshaped_as_ordered(desk):
    created = desk.created()
    desk.faults.add("missing_field", "bookings.get", field="stage")
    assert "stage" not in desk.booking(created)
    assert "stage" in desk.booking(created)


@pytest.fixture
def _hasty_threads():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("_hasty_threads")
def test_many_threads_confirm_once(desk):
    for _ in range(10):
        created = desk.created()
        start = threading.Barrier(8)

        def confirm(booking_id, start=start):
            start.wait()
            return desk.attempt("bookings.confirm", {"id": booking_id})

        with ThreadPoolExecutor(8) as pool:
            refusals = list(pool.map(confirm, [created["booking_id"]] * 8))
        assert [error.status for error in refusals if error] == [409] * 7
    assert len(desk.counters.effects_of("bookings.confirm")) == 10


def test_an_unknown_operation_is_no_refusal(desk):
    with pytest.raises(KeyError):
        desk.ask("bookings.steal")


def test_names_stay_as_they_were_written(desk):
    guest = {**GUEST, "first_name": "Ζωή", "last_name": "بن علي"}
    (ticket,) = desk.booking(desk.created(passengers=[guest]))["tickets"]
    assert ticket["passengers"] == [
        {
            "first_name": "Ζωή",
            "last_name": "بن علي",
            "birth_date": None,
            "nationality": None,
            "doc_type": None,
            "doc_number": None,
            "doc_expiration": None,
        }
    ]


def test_tokens_know_their_bearers():
    tokens = Tokens()
    assert tokens.access_of(f"Bearer {tokens.read_only}") is Access.READ_ONLY
    assert tokens.access_of(f"bearer  {tokens.read_write} ") is Access.READ_WRITE
    assert tokens.access_of(f"Bearer {tokens.organisation}") is Access.ORGANISATION
    for header in (None, "", "Bearer", "Bearer ", "Basic abc", tokens.read_only, "Bearer é"):
        with pytest.raises(Unauthorized):
            tokens.access_of(header)
    assert Tokens() != tokens
    assert tokens.read_write not in repr(tokens)


def test_an_error_in_words_survives_in_its_arguments():
    error = ServiceError(422, "VALIDATION_ERROR", "No.", "a", ({"field": "a", "message": "No."},))
    again = type(error)(*error.args)
    assert again.to_wire() == error.to_wire()
