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
from tests.support.tables import each

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


def test_every_operation_has_a_row_and_every_row_an_operation():
    assert not UNCOVERED
    assert SAFETY.keys() == {*OPERATIONS}
    for name in OPERATIONS:
        assert SAFETY[name].operation == described(name).name == name
        assert described(name).safety is SAFETY[name]


def test_the_writes_are_those_of_the_contract():
    written = {name for name, row in SAFETY.items() if not row.is_read}
    assert written == WRITES.keys()
    assert {row.kind for row in SAFETY.values()} == {"read", "write"}
    shown = {name for name, row in SAFETY.items() if row.confirmed_by}
    assert shown == SHOWN_BY_A_BOOKING.keys() | SHOWN_BY_A_TICKET.keys()


@each("name", OPERATIONS)
def test_a_read_may_always_be_sent_again_and_a_write_only_where_nothing_was_done(name):
    row = SAFETY[name]
    assert (described(name).write is not None) == (name in WRITES)
    if name in WRITES:
        assert row.retry_on == ONCE
        assert row.effect == WRITES[name][0]
        assert [proof.read for proof in row.confirmed_by] == WRITES[name][1]
    else:
        assert row.retry_on == {*ONCE, "lost"}
        assert (row.effect, row.confirmed_by) == (None, ())


@each("name", OPERATIONS)
def test_what_shows_an_effect_is_a_read_that_takes_an_id_of_the_write(name):
    for proof in SAFETY[name].confirmed_by:
        assert SAFETY[proof.read].is_read
        assert proof.stages or proof.tickets or proof.payment
        named = described(name, booking_id="b-1") if "booking" in proof.read else described(name)
        write = named.write
        assert write is not None
        assert proof.subject in write.subject


def test_the_table_cannot_be_changed():
    table = SAFETY
    assert isinstance(table, Mapping)
    with pytest.raises(TypeError):
        table["bookings.create"] = Safety("bookings.create", "read", None, frozenset())
    with pytest.raises(FrozenInstanceError):
        table["bookings.create"].kind = "read"
    for row in table.values():
        assert isinstance(row.retry_on, frozenset)
        assert isinstance(row.confirmed_by, tuple)
        for proof in row.confirmed_by:
            assert isinstance(proof.stages, frozenset)
            with pytest.raises(FrozenInstanceError):
                proof.tickets = None


@each(
    ("tool", "row"),
    [
        ("search_availability", "mcp.search_availability"),
        ("view_ticket", "mcp.view_ticket"),
        ("create_booking", "mcp.create_booking"),
        ("confirm_booking", "mcp.confirm_booking"),
        ("cancel_ticket", "mcp.cancel_ticket"),
        ("paint_ship", "mcp.call_tool"),
        ("ports", "mcp.call_tool"),
        ("list_tools", "mcp.call_tool"),
        ("View_Ticket", "mcp.call_tool"),
    ],
)
def test_a_tool_has_its_row_and_an_unknown_one_is_a_write(tool, row):
    assert safety_of_tool(tool) is SAFETY[row]
    operation = described("mcp.call_tool", name=tool, arguments={})
    assert operation.safety is SAFETY[row]
    assert (operation.write is None) == SAFETY[row].is_read


# How the effect of a write is recognised


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
SHOWN_BY_A_TICKET = {
    "tickets.cancel": "Canceled",
    "mcp.cancel_ticket": "Canceled",
    "tickets.mark_paid": "Issued",
}


def read_back(name, **changes):
    write = described(name, **changes).write
    assert write is not None
    return write.read_back


@each("stage", STAGES)
@each("name", SHOWN_BY_A_BOOKING)
def test_a_booking_shows_an_effect_by_its_stage_its_payment_or_all_its_tickets(name, stage):
    tickets, words = SHOWN_BY_A_BOOKING[name]
    back = read_back(name, booking_id="b-1")
    for payment, first, second in product(PAYMENTS, STATUSES, [tickets, "Pending", "Painted"]):
        seen = Booking.model_validate(booking(stage, first, second, payment_status=payment))
        assert back.shows(seen) == (
            stage in words
            or payment in words
            or first == second == tickets
            or (name == "tickets.mark_paid" and first == tickets)
        )
    empty = Booking.model_validate(booking(stage, payment_status="paid"))
    assert back.shows(empty) == ((name, stage) == ("bookings.cancel", "voided"))


@each("status", STATUSES)
@each("name", SHOWN_BY_A_TICKET)
def test_a_ticket_shows_an_effect_by_its_status(name, status):
    seen = Ticket.model_validate(ticket(status))
    assert read_back(name).shows(seen) == (status == SHOWN_BY_A_TICKET[name])


@each("name", ["bookings.confirm", "mcp.confirm_booking"])
@each(
    ("statuses", "first"),
    [
        (["Issued", "Issued"], "t-1"),
        (["Canceled", "Issued"], "t-2"),
        (["Canceled", "Pending"], "t-1"),
    ],
)
def test_a_confirmation_read_back_names_the_first_ticket_that_is_issued(name, statuses, first):
    seen = Booking.model_validate(booking("ticketed", *statuses))
    result = read_back(name).result(seen)
    assert (result.booking_id, result.status, result.ticket_id) == ("b-1", "confirmed", first)
    assert result.ticket_number == "CTN-0001"
    assert result.read_back


CANCELLED = Ticket.model_validate(ticket("Canceled"))
VOIDED = Booking.model_validate(booking("voided", "Canceled"))
NO_REFUND = {"booking_id": "b-1", "refund_amount": None, "refund_shortfall": None}


@each(
    ("name", "changes", "seen", "facts"),
    [
        ("bookings.cancel", {}, VOIDED, {"status": "cancelled", **NO_REFUND}),
        *(
            (name, {}, CANCELLED, {"status": "cancelled", "ticket_id": "t-1"})
            for name in ("tickets.cancel", "mcp.cancel_ticket")
        ),
        *(
            ("tickets.mark_paid", changes, None, {"payment_status": "paid", "ticket_id": "t-1"})
            for changes in ({}, {"booking_id": "b-1"})
        ),
    ],
)
def test_a_result_that_is_read_back_says_what_was_seen(name, changes, seen, facts):
    result = read_back(name, **changes).result(seen)
    assert {fact: getattr(result, fact) for fact in facts} == facts
    assert result.read_back


REFUTED_BY_A_BOOKING = {
    "bookings.confirm": {"payment_due", "lapsed"},
    "bookings.cancel": {"payment_due", "ticketed"},
}


@each("stage", STAGES)
@each("name", REFUTED_BY_A_BOOKING)
def test_a_booking_refutes_an_effect_by_its_stage(name, stage):
    (proof, *_) = SAFETY[name].confirmed_by
    seen = Booking.model_validate(booking(stage, "Blocked", payment_status="promised"))
    assert proof.is_refuted_by(seen) == (stage in REFUTED_BY_A_BOOKING[name])


@each("name", ["tickets.cancel", "mcp.cancel_ticket"])
def test_a_ticket_that_is_not_cancelled_refutes_its_cancellation(name):
    for proof, status in product(SAFETY[name].confirmed_by, STATUSES):
        seen = Ticket.model_validate(ticket(status))
        assert proof.is_refuted_by(seen) == (status in {"Issued", "Blocked"}), (proof, status)
