"""Plan the confirmation or the cancellation of a booking or a ticket that was shown."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import suppress
from typing import Any, Final, Literal

from ferry_sdk.agents.policy.answers import RefusedError
from ferry_sdk.agents.policy.audit import Invoke
from ferry_sdk.agents.policy.budget import Hold
from ferry_sdk.agents.policy.write_plan import Identity, ToolkitState, WritePlan, WritePlans
from ferry_sdk.errors import FerryError
from ferry_sdk.models.bookings import Booking, BookingCancellation
from ferry_sdk.models.display.money import format_amount, money
from ferry_sdk.models.enums import PaymentStatus, Stage, TicketStatus
from ferry_sdk.models.tickets import CancellationFee, Ticket
from ferry_sdk.safety import SAFETY, Proof, may_be_done

_ACCEPT_TOTAL = (
    "Tell the user the new price. Only if they agree, call again with expect_total set to it. Else "
    "cancel the booking."
)
_READS: Final = {"booking_id": "bookings.get", "ticket_id": "tickets.get"}
_CONFIRMED: Final = SAFETY["bookings.confirm"].confirmed_by[0]
_CANCELLED: Final = SAFETY["bookings.cancel"].confirmed_by[0]
_LAPSED: Final = Proof(
    "bookings.get", stages=frozenset({Stage.LAPSED}), tickets=TicketStatus.EXPIRED
)
_Subject = Literal["booking_id", "ticket_id"]


class _Change:
    """Change a booking or a ticket that was shown; `subject` is the argument that holds its id."""

    def __init__(self, state: ToolkitState, subject: _Subject) -> None:
        self._state = state
        self._subject: _Subject = subject

    def identity(self, values: Mapping[str, Any]) -> Identity:
        """Return one identity for each booking or ticket."""
        some_id: str = values[self._subject]
        record = self._state.known_ids.record(self._subject, some_id)
        if record is None:
            raise self._state.known_ids.unseen_id(
                "the " + self._subject.removesuffix("_id"), self._subject
            )
        key = self._state.fingerprint(type(self).__name__, self._subject, some_id)
        return Identity(key, {self._subject: some_id}, record.booking_id or some_id)

    def conclude(self, _plan: WritePlan, _result: object) -> list[str]:
        """Return the notes of the answer."""
        return []

    def _check_open(self, record: Booking | Ticket) -> None:
        """Refuse to change what is cancelled or has lapsed, so that nobody is asked in vain."""
        self._state.remember(record, {})
        what = self._subject.removesuffix("_id")
        if _CANCELLED.is_confirmed_by(record):
            raise RefusedError("already_cancelled", f"the {what} is cancelled already")
        if _LAPSED.is_confirmed_by(record):
            raise RefusedError("booking_ended", f"the {what} was not paid in time and has ended")


class Confirm(_Change):
    """Confirm and pay a booking."""

    def plan(self, values: Mapping[str, Any], identity: Identity) -> WritePlans:
        """Plan the payment at the current price."""
        booking_id = identity.target_id
        booking: Booking = yield Invoke("bookings.get", {"booking_id": booking_id})
        self._check_open(booking)
        is_being_issued = booking.stage == Stage.IN_PROGRESS
        if _CONFIRMED.is_confirmed_by(booking) or (
            is_being_issued and booking.payment_status == PaymentStatus.PAID
        ):
            raise RefusedError("already_paid", "the booking is confirmed and paid already")
        total, currency = booking.total_price, booking.currency
        if values.get("expect_total") not in {None, total}:
            raise RefusedError(
                "price_changed",
                f"the booking costs {money(total, currency)}",
                field="expect_total",
                found=format_amount(total),
                currency=currency,
            )
        approved = self._state.budget.approved(booking_id) or (total, currency)
        is_dearer = total > approved[0] or currency != approved[1]

        def count() -> Hold:
            hold = self._state.budget.hold(booking_id, total, currency)
            if is_dearer and "expect_total" not in values:
                self._state.budget.release(hold)
                raise RefusedError(
                    "price_changed",
                    f"the booking costs {money(total, currency)}, but {money(*approved)} was "
                    "approved when it was made",
                    field="expect_total",
                    found=format_amount(total),
                    currency=currency,
                    next_step=_ACCEPT_TOTAL,
                )
            return hold

        before = f" ({money(*approved)} was approved when it was made)" if is_dearer else ""
        record = self._state.known_ids.record("booking_id", booking_id)
        return WritePlan(
            {"booking_id": booking_id, "expect_total": total, "currency": currency},
            f"Confirm and pay {money(total, currency)}{before}: "
            f"{record.description if record else booking_id}",
            total,
            currency,
            count,
        )

    def check_since(self, identity: Identity) -> Generator[Invoke, Any, None]:
        """Refuse to confirm a booking that was cancelled, perhaps by others, or has ended since."""
        with suppress(FerryError):
            self._check_open((yield Invoke("bookings.get", {"booking_id": identity.target_id})))


class Cancel(_Change):
    """Cancel a booking or a ticket."""

    def plan(self, values: Mapping[str, Any], identity: Identity) -> WritePlans:
        """Plan the cancellation at the current penalty."""
        some_id = identity.subject[self._subject]
        read = Invoke(_READS[self._subject], {self._subject: some_id})
        try:
            fee: CancellationFee = yield Invoke("bookings.cancel_fee", {"id": some_id})
        except FerryError as refusal:
            if may_be_done(refusal):  # a service may name no fee of what is cancelled
                self._check_open((yield read))
            raise
        if fee.ticket_status in {_CANCELLED.tickets, _LAPSED.tickets}:
            self._check_open((yield read))  # it may be the status of one ticket of a booking
        penalty, refund, currency = fee.penalty_amount, fee.refund_amount, fee.currency
        if penalty > values.get("max_penalty", penalty):
            raise RefusedError(
                "penalty_exceeded",
                f"cancelling costs {money(penalty, currency)}",
                field="max_penalty",
                penalty=format_amount(penalty),
                currency=currency,
            )
        record = self._state.known_ids.record(self._subject, some_id)
        description = record.description if record else some_id
        is_booking = self._subject == "booking_id"
        booking_id = some_id if is_booking else record.booking_id if record else None
        return WritePlan(
            {**values, "max_penalty": penalty, "min_refund": refund, "currency": currency},
            f"Cancel {description}: {money(penalty, currency)} is kept, "
            f"{money(refund, currency)} is paid back",
            penalty,
            currency,
            lambda: self._state.budget.hold_penalty(booking_id, some_id, penalty, currency),
        )

    def conclude(self, plan: WritePlan, result: object) -> list[str]:
        """Return a note if the refund is less than previewed."""
        lost = result.refund_shortfall if isinstance(result, BookingCancellation) else None
        if lost is None or lost <= 0:
            return []
        return [f"{money(lost, plan.currency)} less was paid back than was previewed."]
