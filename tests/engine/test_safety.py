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


def test_every_operation_has_its_row_in_a_fixed_table_and_what_is_read_back_says_what_was_seen():
    assert not UNCOVERED
    assert SAFETY.keys() == {*OPERATIONS}
    assert {name for name, row in SAFETY.items() if not row.is_read} == WRITES.keys()
    assert {row.kind for row in SAFETY.values()} == {"read", "write"}
    shown = {name for name, row in SAFETY.items() if row.confirmed_by}
    assert shown == SHOWN_BY_A_BOOKING.keys() | SHOWN_BY_A_TICKET.keys()
    assert isinstance(SAFETY, Mapping)
    with pytest.raises(TypeError):
        SAFETY["bookings.create"] = Safety("bookings.create", "read", None, frozenset())
    with pytest.raises(FrozenInstanceError):
        SAFETY["bookings.create"].kind = "read"
    known = ("search_availability", "view_ticket", *(name[4:] for name in WRITES if "mcp." in name))
    unknown = ("paint_ship", "ports", "list_tools", "View_Ticket", "call_tool")
    for tool in {*known, *unknown}:
        row = SAFETY["mcp.call_tool" if tool in unknown else f"mcp.{tool}"]
        assert safety_of_tool(tool) is row, tool
        operation = described("mcp.call_tool", name=tool, arguments={})
        assert operation.safety is row, tool
        assert (operation.write is None) == row.is_read, tool
    cancelled, voided = seen_ticket("Canceled"), seen_booking("voided", "Canceled")
    no_refund = {"booking_id": "b-1", "refund_amount": None, "refund_shortfall": None}
    of_ticket = {"status": "cancelled", "ticket_id": "t-1"}
    paid = {"payment_status": "paid", "ticket_id": "t-1"}
    for name, changes, seen, facts in (
        ("bookings.cancel", {}, voided, {"status": "cancelled", **no_refund}),
        ("tickets.cancel", {}, cancelled, of_ticket),
        ("mcp.cancel_ticket", {}, cancelled, of_ticket),
        ("tickets.mark_paid", {}, None, paid),
        ("tickets.mark_paid", {"booking_id": "b-1"}, None, paid),
    ):
        result = read_back(name, **changes).result(seen)
        assert {fact: getattr(result, fact) for fact in facts} == facts, name
        assert result.read_back


@each("name", OPERATIONS)
def test_a_read_may_always_be_sent_again_and_a_write_only_where_nothing_was_done(name):
    row, operation = SAFETY[name], described(name)
    assert row.operation == operation.name == name
    assert operation.safety is row
    assert (operation.write is not None) == (name in WRITES)
    if name not in WRITES:
        assert row.retry_on == {*ONCE, "lost"}
        assert (row.effect, row.confirmed_by) == (None, ())
        return
    assert row.retry_on == ONCE
    assert (row.effect, [proof.read for proof in row.confirmed_by]) == WRITES[name]
    for proof in row.confirmed_by:
        assert SAFETY[proof.read].is_read
        assert proof.stages or proof.tickets or proof.payment
        named = described(name, booking_id="b-1") if "booking" in proof.read else operation
        assert proof.subject in named.write.subject


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
REFUTED_BY_A_BOOKING = {
    "bookings.confirm": {"payment_due", "lapsed"},
    "bookings.cancel": {"payment_due", "ticketed"},
}


def read_back(name, **changes):
    return described(name, **changes).write.read_back


def seen_booking(*facts, **changes):
    return Booking.model_validate(booking(*facts, **changes))


def seen_ticket(status):
    return Ticket.model_validate(ticket(status))


@each("stage", STAGES)
@each("name", SHOWN_BY_A_BOOKING)
def test_a_booking_shows_an_effect_by_its_stage_its_payment_or_all_its_tickets(name, stage):
    tickets, words = SHOWN_BY_A_BOOKING[name]
    back = read_back(name, booking_id="b-1")
    for payment, first, second in product(PAYMENTS, STATUSES, [tickets, "Pending", "Painted"]):
        seen = seen_booking(stage, first, second, payment_status=payment)
        assert back.shows(seen) == (
            stage in words
            or payment in words
            or first == second == tickets
            or (name == "tickets.mark_paid" and first == tickets)
        )
    empty = seen_booking(stage, payment_status="paid")
    assert back.shows(empty) == ((name, stage) == ("bookings.cancel", "voided"))
    if name in REFUTED_BY_A_BOOKING:
        (proof, *_) = SAFETY[name].confirmed_by
        seen = seen_booking(stage, "Blocked", payment_status="promised")
        assert proof.is_refuted_by(seen) == (stage in REFUTED_BY_A_BOOKING[name])


@each("status", STATUSES)
@each("name", SHOWN_BY_A_TICKET)
def test_a_ticket_shows_an_effect_by_its_status(name, status):
    seen = seen_ticket(status)
    assert read_back(name).shows(seen) == (status == SHOWN_BY_A_TICKET[name])
    if "cancel" in name:
        for proof in SAFETY[name].confirmed_by:
            assert proof.is_refuted_by(seen) == (status in {"Issued", "Blocked"})


@each("name", ["bookings.confirm", "mcp.confirm_booking"])
def test_a_confirmation_read_back_names_the_first_ticket_that_is_issued(name):
    for first, second, named in (
        *(("Issued", "Issued", "t-1"), ("Canceled", "Issued", "t-2")),
        ("Canceled", "Pending", "t-1"),
    ):
        result = read_back(name).result(seen_booking("ticketed", first, second))
        assert (result.booking_id, result.status, result.ticket_id) == ("b-1", "confirmed", named)
        assert result.ticket_number == "CTN-0001"
        assert result.read_back
