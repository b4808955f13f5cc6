"""How the effect of a write is recognised, in bookings and tickets of every state."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING, Any

from ferry_sdk import SAFETY, Booking, Ticket
from ferry_sdk.models.enums import PaymentStatus, Stage, TicketStatus
from tests.engine.replies import booking, ticket
from tests.support.operations import described
from tests.support.tables import each

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

STAGES = [*Stage, Stage("moored")]
STATUSES = [*TicketStatus, TicketStatus("Painted")]
PAYMENTS = [*PaymentStatus, PaymentStatus("promised")]


@dataclass(frozen=True)
class Effect:
    """What shows an effect.

    Attributes:
        stages: A booking of one of these.
        tickets: A ticket of this status, or a booking that has no others.
        payments: A booking of one of these.
    """

    tickets: str
    stages: AbstractSet[str] = frozenset()
    payments: AbstractSet[str] = field(default=frozenset())


SHOWN_BY_A_BOOKING = {
    "bookings.confirm": Effect("Issued", stages={"ticketed", "partially_voided"}),
    "mcp.confirm_booking": Effect("Issued", stages={"ticketed", "partially_voided"}),
    "bookings.cancel": Effect("Canceled", stages={"voided"}),
    "tickets.mark_paid": Effect("Issued", payments={"paid"}),
}
SHOWN_BY_A_TICKET = {
    "tickets.cancel": "Canceled",
    "mcp.cancel_ticket": "Canceled",
    "tickets.mark_paid": "Issued",
}


def read_back(name: str, **changes: Any) -> Any:
    write = described(name, **changes).write
    assert write is not None
    return write.read_back


@each("stage", STAGES)
@each("name", SHOWN_BY_A_BOOKING)
def test_a_booking_shows_an_effect_by_its_stage_its_payment_or_all_its_tickets(
    name: str, stage: Stage
) -> None:
    effect = SHOWN_BY_A_BOOKING[name]
    back = read_back(name, booking_id="b-1")
    for payment, first, second in product(PAYMENTS, STATUSES, STATUSES):
        seen = Booking.model_validate(booking(stage, first, second, payment_status=payment))
        assert back.shows(seen) == (
            stage in effect.stages
            or payment in effect.payments
            or first == second == effect.tickets
            or (name == "tickets.mark_paid" and first == effect.tickets)
        )


@each("stage", STAGES)
@each("name", SHOWN_BY_A_BOOKING)
def test_a_booking_without_tickets_shows_only_that_it_is_voided(name: str, stage: Stage) -> None:
    seen = Booking.model_validate(booking(stage, payment_status="paid"))
    shown = (name, stage) == ("bookings.cancel", "voided")
    assert read_back(name, booking_id="b-1").shows(seen) == shown


def test_a_payment_is_not_shown_by_the_other_ticket_of_the_booking() -> None:
    seen = Booking.model_validate(booking("partially_ticketed", "Pending", "Issued"))
    assert not read_back("tickets.mark_paid", booking_id="b-1").shows(seen)


@each("status", STATUSES)
@each("name", SHOWN_BY_A_TICKET)
def test_a_ticket_shows_an_effect_by_its_status(name: str, status: TicketStatus) -> None:
    seen = Ticket.model_validate(ticket(status))
    assert read_back(name).shows(seen) == (status == SHOWN_BY_A_TICKET[name])


def test_every_write_that_a_read_shows_is_tested_here() -> None:
    shown = {name for name, row in SAFETY.items() if row.confirmed_by}
    assert shown == SHOWN_BY_A_BOOKING.keys() | SHOWN_BY_A_TICKET.keys()


@each("name", ["bookings.confirm", "mcp.confirm_booking"])
@each(
    ("statuses", "first"),
    [
        (["Issued", "Issued"], "t-1"),
        (["Canceled", "Issued"], "t-2"),
        (["Canceled", "Pending"], "t-1"),
    ],
)
def test_a_confirmation_read_back_names_the_first_ticket_that_is_issued(
    name: str, statuses: list[str], first: str
) -> None:
    seen = Booking.model_validate(booking("ticketed", *statuses))
    result = read_back(name).result(seen)
    assert (result.booking_id, result.status, result.ticket_id) == ("b-1", "confirmed", first)
    assert result.ticket_number == "CTN-0001"
    assert result.read_back


def test_a_cancellation_read_back_does_not_know_the_refund() -> None:
    seen = Booking.model_validate(booking("voided", "Canceled"))
    result = read_back("bookings.cancel").result(seen)
    assert (result.booking_id, result.status, result.refund_amount) == ("b-1", "cancelled", None)
    assert result.refund_shortfall is None
    assert result.read_back


@each("name", ["tickets.cancel", "mcp.cancel_ticket"])
def test_a_ticket_cancelled_and_read_back_says_so(name: str) -> None:
    result = read_back(name).result(Ticket.model_validate(ticket("Canceled")))
    assert (result.ticket_id, result.status, result.read_back) == ("t-1", "cancelled", True)


@each("booking_id", [None, "b-1"])
def test_a_payment_read_back_is_paid(booking_id: str | None) -> None:
    back = read_back("tickets.mark_paid", booking_id=booking_id)
    result = back.result(None)
    assert (result.ticket_id, result.payment_status, result.read_back) == ("t-1", "paid", True)


REFUTED_BY_A_BOOKING = {
    "bookings.confirm": {"payment_due", "lapsed"},
    "bookings.cancel": {"payment_due", "ticketed"},
}


@each("stage", STAGES)
@each("name", REFUTED_BY_A_BOOKING)
def test_a_booking_refutes_an_effect_by_its_stage(name: str, stage: Stage) -> None:
    (proof, *_) = SAFETY[name].confirmed_by
    seen = Booking.model_validate(booking(stage, "Blocked", payment_status="promised"))
    assert proof.is_refuted_by(seen) == (stage in REFUTED_BY_A_BOOKING[name])


@each("name", ["tickets.cancel", "mcp.cancel_ticket"])
def test_a_ticket_that_is_not_cancelled_refutes_its_cancellation(name: str) -> None:
    for proof, status in product(SAFETY[name].confirmed_by, STATUSES):
        seen = Ticket.model_validate(ticket(status))
        assert proof.is_refuted_by(seen) == (status in {"Issued", "Blocked"}), (proof, status)
