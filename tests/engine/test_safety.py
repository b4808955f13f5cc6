"""The safety table: a row an operation, and what each allows."""

from collections.abc import Mapping
from dataclasses import FrozenInstanceError
from itertools import product

import pytest

from ferry_sdk import SAFETY, Booking, Safety, Ticket
from ferry_sdk._engine.safety import safety_of_tool
from ferry_sdk.models.enums import PaymentStatus, Stage, TicketStatus
from tests.engine.replies import booking, ticket
from tests.support.operations import OPERATIONS, UNCOVERED, described

ONCE = {"not_sent", "rate_limited", "unauthorised"}
WRITES = {
    "bookings.create": ("bookings.create", []),
    "bookings.confirm": ("bookings.confirm", ["bookings.get"]),
    "bookings.cancel": ("bookings.cancel", ["bookings.get"]),
    "tickets.cancel": ("tickets.cancel", ["tickets.get"]),
    "tickets.mark_paid": ("tickets.mark_paid", ["bookings.get", "tickets.get"]),
    "mcp.create_booking": ("bookings.create", []),
    "mcp.confirm_booking": ("bookings.confirm", ["bookings.get"]),
    "mcp.cancel_ticket": ("tickets.cancel", ["mcp.view_ticket"]),
    "mcp.call_tool": ("mcp.call_tool", []),
}
"""Of each write: what it does, and the reads that show it, the best first."""


TOOLS = {
    "search_availability": "mcp.search_availability",
    "view_ticket": "mcp.view_ticket",
    "create_booking": "mcp.create_booking",
    "confirm_booking": "mcp.confirm_booking",
    "cancel_ticket": "mcp.cancel_ticket",
    "paint_ship": "mcp.call_tool",
    "ports": "mcp.call_tool",
    "list_tools": "mcp.call_tool",
    "View_Ticket": "mcp.call_tool",
    "call_tool": "mcp.call_tool",
}
"""Names of tools, known or not, and the operation that each counts as."""


def test_every_operation_has_a_row():
    assert not UNCOVERED
    assert SAFETY.keys() == {*OPERATIONS}
    assert {row.kind for row in SAFETY.values()} == {"read", "write"}


def test_every_write_is_in_the_tables_here():
    assert {name for name, row in SAFETY.items() if not row.is_read} == WRITES.keys()
    shown = {name for name, row in SAFETY.items() if row.confirmed_by}
    assert shown == SHOWN_BY_A_BOOKING.keys() | SHOWN_BY_A_TICKET.keys()


def test_table_cannot_be_changed():
    assert isinstance(SAFETY, Mapping)
    with pytest.raises(TypeError):
        SAFETY["bookings.create"] = Safety("bookings.create", "read", None, frozenset())
    with pytest.raises(FrozenInstanceError):
        SAFETY["bookings.create"].kind = "read"


@pytest.mark.parametrize(("tool", "operation"), TOOLS.items())
def test_unknown_tool_counts_as_a_write(tool, operation):
    row = SAFETY[operation]
    assert safety_of_tool(tool) is row
    call = described("mcp.call_tool", name=tool, arguments={})
    assert call.safety is row
    assert (call.write is None) == row.is_read


@pytest.mark.parametrize("name", OPERATIONS)
def test_operation_carries_its_row(name):
    row = SAFETY[name]
    operation = described(name)
    assert row.operation == operation.name == name
    assert operation.safety is row
    assert (operation.write is not None) == (name in WRITES)


@pytest.mark.parametrize("name", [name for name in OPERATIONS if name not in WRITES])
def test_read_may_always_be_sent_again(name):
    row = SAFETY[name]
    assert row.retry_on == {*ONCE, "lost"}
    assert (row.effect, row.confirmed_by) == (None, ())


@pytest.mark.parametrize("name", WRITES)
def test_write_is_sent_again_if_nothing_was_done(name):
    row = SAFETY[name]
    assert row.retry_on == ONCE
    assert (row.effect, [proof.read for proof in row.confirmed_by]) == WRITES[name]


@pytest.mark.parametrize("name", [name for name, (_, reads) in WRITES.items() if reads])
def test_proof_is_a_read_by_a_known_id(name):
    for proof in SAFETY[name].confirmed_by:
        assert SAFETY[proof.read].is_read
        assert proof.stages or proof.tickets or proof.payment
        of_booking = {"booking_id": "b-1"} if "booking" in proof.read else {}
        assert proof.subject in described(name, **of_booking).write.subject


STAGES = [*Stage, Stage("moored")]
STATUSES = [*TicketStatus, TicketStatus("Painted")]
PAYMENTS = [*PaymentStatus, PaymentStatus("promised")]
SHOWN_BY_A_BOOKING = {
    "bookings.confirm": ("Issued", {"ticketed", "partially_voided"}),
    "mcp.confirm_booking": ("Issued", {"ticketed", "partially_voided"}),
    "bookings.cancel": ("Canceled", {"voided"}),
    "tickets.mark_paid": ("Issued", {"paid"}),
}
"""Of each write: the status that all tickets have, and the stages or payments that show it."""
SHOWN_IF_PAID = {"bookings.confirm": {"in_progress"}, "mcp.confirm_booking": {"in_progress"}}
"""Of each write: the stages that show it if the booking is paid."""
SHOWN_BY_A_TICKET = {
    "tickets.cancel": "Canceled",
    "mcp.cancel_ticket": "Canceled",
    "tickets.mark_paid": "Issued",
}
REFUTED_BY_A_BOOKING = {
    "bookings.confirm": {"payment_due", "lapsed"},
    "bookings.cancel": {"payment_due", "ticketed"},
}


def read_back(name, **changes):
    return described(name, **changes).write.read_back


def seen_booking(stage, *statuses, **changes):
    return Booking.model_validate(booking(stage, *statuses, **changes))


def seen_ticket(status):
    return Ticket.model_validate(ticket(status))


# Both parameters as one: the quick tests run every pair of a table with one parameter.
@pytest.mark.parametrize(("name", "stage"), [*product(SHOWN_BY_A_BOOKING, STAGES)])
def test_booking_shows_an_effect(name, stage):
    """By its stage, its payment, or all its tickets."""
    tickets, words = SHOWN_BY_A_BOOKING[name]
    back = read_back(name, booking_id="b-1")
    for payment, first, second in product(PAYMENTS, STATUSES, [tickets, "Pending", "Painted"]):
        seen = seen_booking(stage, first, second, payment_status=payment)
        assert back.shows(seen) == (
            stage in words
            or payment in words
            or (stage in SHOWN_IF_PAID.get(name, ()) and payment == "paid")
            or first == second == tickets
            or (name == "tickets.mark_paid" and first == tickets)
        )


@pytest.mark.parametrize(("name", "stage"), [*product(SHOWN_BY_A_BOOKING, STAGES)])
def test_booking_without_tickets_shows_cancellations_alone(name, stage):
    empty = seen_booking(stage, payment_status="paid")
    shows = read_back(name, booking_id="b-1").shows(empty)
    assert shows == ((name, stage) == ("bookings.cancel", "voided"))


@pytest.mark.parametrize(("name", "stage"), [*product(REFUTED_BY_A_BOOKING, STAGES)])
def test_booking_refutes_an_effect_by_its_stage(name, stage):
    (proof, *_) = SAFETY[name].confirmed_by
    seen = seen_booking(stage, "Blocked", payment_status="promised")
    assert proof.is_refuted_by(seen) == (stage in REFUTED_BY_A_BOOKING[name])


@pytest.mark.parametrize(("name", "status"), [*product(SHOWN_BY_A_TICKET, STATUSES)])
def test_ticket_shows_an_effect_by_its_status(name, status):
    assert read_back(name).shows(seen_ticket(status)) == (status == SHOWN_BY_A_TICKET[name])


@pytest.mark.parametrize(
    ("name", "status"), [*product(["tickets.cancel", "mcp.cancel_ticket"], STATUSES)]
)
def test_ticket_refutes_a_cancellation_by_its_status(name, status):
    for proof in SAFETY[name].confirmed_by:
        assert proof.is_refuted_by(seen_ticket(status)) == (status in {"Issued", "Blocked"})


# The result that is made of the record


@pytest.mark.parametrize(
    ("name", "changes", "seen", "expected"),
    [
        pytest.param(
            "bookings.cancel",
            {},
            seen_booking("voided", "Canceled"),
            {
                "status": "cancelled",
                "booking_id": "b-1",
                "refund_amount": None,
                "refund_shortfall": None,
            },
            id="bookings.cancel",
        ),
        pytest.param(
            "tickets.cancel",
            {},
            seen_ticket("Canceled"),
            {"status": "cancelled", "ticket_id": "t-1"},
            id="tickets.cancel",
        ),
        pytest.param(
            "mcp.cancel_ticket",
            {},
            seen_ticket("Canceled"),
            {"status": "cancelled", "ticket_id": "t-1"},
            id="mcp.cancel_ticket",
        ),
        pytest.param(
            "tickets.mark_paid",
            {},
            None,
            {"payment_status": "paid", "ticket_id": "t-1"},
            id="tickets.mark_paid",
        ),
        pytest.param(
            "tickets.mark_paid",
            {"booking_id": "b-1"},
            None,
            {"payment_status": "paid", "ticket_id": "t-1"},
            id="tickets.mark_paid of a booking",
        ),
    ],
)
def test_result_says_what_the_record_shows(name, changes, seen, expected):
    result = read_back(name, **changes).result(seen)
    assert {member: getattr(result, member) for member in expected} == expected
    assert result.read_back


@pytest.mark.parametrize("name", ["bookings.confirm", "mcp.confirm_booking"])
@pytest.mark.parametrize(
    ("first", "second", "ticket_id"),
    [
        ("Issued", "Issued", "t-1"),
        ("Canceled", "Issued", "t-2"),
        ("Canceled", "Pending", "t-1"),
    ],
)
def test_confirmation_names_the_first_issued_ticket(name, first, second, ticket_id):
    result = read_back(name).result(seen_booking("ticketed", first, second))
    assert (result.booking_id, result.status, result.ticket_id) == ("b-1", "confirmed", ticket_id)
    assert result.ticket_number == "CTN-0001"
    assert result.read_back
