import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from offline_service import TWO_TICKETS

from ferry_sdk.sandbox.network.network import journey_id
from ferry_sdk.sandbox.operations import OPERATIONS
from ferry_sdk.sandbox.requests.access import Access, Tokens, Unauthorized
from ferry_sdk.sandbox.service import ServiceError
from tests.support.exchanges import caught
from tests.support.tables import each

WRITES = [
    "bookings.create",
    "bookings.confirm",
    "bookings.cancel",
    "tickets.cancel",
    "mcp.create_booking",
    "mcp.confirm_booking",
    "mcp.cancel_ticket",
]
NOT_OF_CTN = journey_id("SEHEL", "DKHLS")
NOT_SERVED = {"voucher.file", "mcp.initialize", "mcp.ping", "mcp.list_tools", "mcp.list_resources"}
SERVED = [name for name in OPERATIONS if name not in NOT_SERVED]


def protocol_of(operation):
    return "mcp" if operation.startswith("mcp.") else "rest"


@each("operation", SERVED)
@each("access", Access)
def test_each_token_allows_its_operations(offline, operation, access):
    error = offline.attempt(operation, {}, access=access)
    forbidden = error is not None and error.status == 403
    if operation == "tickets.mark_paid":
        assert forbidden == (access is not Access.ORGANISATION)
    else:
        assert forbidden == (access is Access.READ_ONLY and operation in WRITES)
    if forbidden:
        assert error.code == "FORBIDDEN"
    elif error is not None:
        assert error.status == 422


@each(
    ("operation", "name", "code"),
    [
        ("bookings.get", "id", "NOT_FOUND"),
        ("bookings.confirm", "id", "BOOKING_CONFIRM_ERROR"),
        ("tickets.get", "id", "TICKET_NOT_FOUND"),
        ("tickets.pdf", "id", "TICKET_NOT_FOUND"),
        ("tickets.mark_paid", "id", "TICKET_NOT_FOUND"),
        ("bookings.cancel_fee", "id", "NOT_FOUND"),
        ("bookings.cancel", "booking_id", "NOT_FOUND"),
        ("tickets.cancel", "ticket_id", "TICKET_CANCEL_ERROR"),
        ("mcp.confirm_booking", "id", "BOOKING_CONFIRM_ERROR"),
        ("mcp.view_ticket", "id", "TICKET_NOT_FOUND"),
        ("mcp.cancel_ticket", "ticket_id", "TICKET_CANCEL_ERROR"),
    ],
)
def test_an_unknown_id_is_not_found(offline, operation, name, code):
    more = {"external_payment_ref": "x"} if operation == "tickets.mark_paid" else {}
    how = {"access": Access.ORGANISATION, "protocol": protocol_of(operation)}
    error = offline.error_of(operation, {name: "unknown", **more}, **how)
    assert (error.status, error.code, error.field) == (404, code, name)


@each(
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
def test_invalid_arguments_have_the_code_of_the_tool_over_mcp_only(offline, operation, code):
    error = offline.error_of(operation, {"nonsense": 1}, protocol=protocol_of(operation))
    assert (error.status, error.code) == (422, code)
    wire = error.to_wire()
    assert wire["error"] is True
    assert wire["field"] == wire["errors"][0]["field"]
    assert {"field": "nonsense", "message": "This field is unknown."} in wire["errors"]
    errors = (error.status, error.code, error.message, error.field, error.errors)
    again = ServiceError(*errors)
    assert type(again)(*again.args).to_wire() == wire


def test_departures_of_a_company_and_of_some_journeys(offline):
    everything = offline.perform("catalogue.departures", provider_id="ctn")["departures"]
    one = everything[0]["journey_id"]
    for journeys, expected in (([one], everything[:1]), ([], everything), (None, everything)):
        named = {"provider_id": "CTN", "__journey_id": journeys}
        assert offline.perform("catalogue.departures", named)["departures"] == expected
    for ids, field in ((["x"], "__journey_id[0]"), ([one, NOT_OF_CTN], "__journey_id[1]")):
        named = {"provider_id": "CTN", "__journey_id": ids}
        wrong = offline.error_of("catalogue.departures", named)
        assert (wrong.status, wrong.field) == (422, field)
    assert offline.error_of("catalogue.departures", {"provider_id": "x"}).field == "provider_id"
    assert offline.error_of("catalogue.departures", {}).field == "provider_id"


def test_view_ticket_adds_a_summary_of_the_booking(offline):
    created = offline.create()
    (ticket,) = offline.tickets(created)
    seen = offline.perform("mcp.view_ticket", id=ticket["id"], protocol="mcp")
    booking = seen.pop("booking")
    assert seen == offline.perform("tickets.get", id=ticket["id"]) == ticket
    assert booking == {
        "booking_id": created["booking_id"],
        "booking_reference": created["booking_reference"],
        "stage": "payment_due",
        "payment_status": "unpaid",
    }


def test_effects_have_one_name_for_both_protocols(offline):
    created = offline.create(TWO_TICKETS, back=7)
    offline.perform("mcp.confirm_booking", id=created["booking_id"], protocol="mcp")
    first, second = (ticket["id"] for ticket in offline.tickets(created))
    offline.perform("mcp.cancel_ticket", ticket_id=first, protocol="mcp")
    offline.perform("tickets.cancel", ticket_id=second)
    offline.error_of("tickets.cancel", ticket_id=second)
    effects = [(effect.operation, effect.subject) for effect in offline.counters.effects]
    assert effects == [
        ("bookings.create", created["booking_id"]),
        ("bookings.confirm", created["booking_id"]),
        ("tickets.cancel", first),
        ("tickets.cancel", second),
    ]


@pytest.fixture
def _hasty_threads():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("_hasty_threads")
def test_several_threads_confirm_a_booking_once(offline):
    for _ in range(10):
        created = offline.create()
        start = threading.Barrier(8)

        def confirm(booking_id, start=start):
            start.wait()
            return offline.attempt("bookings.confirm", {"id": booking_id})

        with ThreadPoolExecutor(8) as pool:
            refusals = list(pool.map(confirm, [created["booking_id"]] * 8))
        assert [error.status for error in refusals if error] == [409] * 7
    assert len(offline.counters.effects_of("bookings.confirm")) == 10
    caught(KeyError, offline.perform, "bookings.steal")


def test_each_token_gives_its_access():
    tokens = Tokens()
    assert tokens.access_of(f"Bearer {tokens.read_only}") is Access.READ_ONLY
    assert tokens.access_of(f"bearer  {tokens.read_write} ") is Access.READ_WRITE
    assert tokens.access_of(f"Bearer {tokens.organisation}") is Access.ORGANISATION
    for header in (None, "", "Bearer", "Bearer ", "Basic abc", tokens.read_only, "Bearer é"):
        with pytest.raises(Unauthorized):
            tokens.access_of(header)
    assert Tokens() != tokens
    assert tokens.read_write not in repr(tokens)
