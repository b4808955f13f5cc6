"""Plan what becomes of a booking or a ticket that was shown: pay, cancel or replace it."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final, Literal

from ferry_sdk._engine.safety import SAFETY, Proof, may_be_done
from ferry_sdk._runtime.money import format_amount, money
from ferry_sdk.agents.policy.answers import TEXTS, RefusedError
from ferry_sdk.agents.policy.audit import Invoke
from ferry_sdk.agents.policy.budget import Hold
from ferry_sdk.agents.policy.creation import Create
from ferry_sdk.agents.policy.duplicates import CompletedWrite
from ferry_sdk.agents.policy.known_ids import KnownRecord, require
from ferry_sdk.agents.policy.write_plan import Identity, ToolkitState, WritePlan, WritePlans
from ferry_sdk.agents.tools.views import view_of
from ferry_sdk.errors import FerryError
from ferry_sdk.models.bookings import Booking, BookingCancellation
from ferry_sdk.models.enums import PaymentStatus, Stage, TicketStatus
from ferry_sdk.models.inputs import Traveller
from ferry_sdk.models.tickets import CancellationFee, Ticket
from ferry_sdk.orders.order import Order

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
        self._what = subject.removesuffix("_id")

    def identity(self, values: Mapping[str, Any]) -> Identity:
        """Return one identity for each booking or ticket."""
        some_id: str = values[self._subject]
        record = self._record(some_id)
        key = self._state.fingerprint(type(self).__name__, self._subject, some_id)
        return Identity(key, {self._subject: some_id}, record.booking_id or some_id)

    def conclude(self, _plan: WritePlan, _hold: Hold, _result: Any) -> list[str]:  # noqa: ANN401 -- as it is
        """Return the notes of the answer."""
        return []

    def _record(self, some_id: str) -> KnownRecord:
        record = self._state.known_ids.record(self._subject, some_id)
        return require(record, f"the {self._what}", self._subject)

    def _read_open(self, some_id: str) -> Generator[Invoke, Any, Any]:
        """Read the booking or ticket; refuse to change it if it is cancelled or has lapsed."""
        record: Booking | Ticket = yield Invoke(f"{self._what}s.get", {self._subject: some_id})
        self._state.remember(record, {})
        if _CANCELLED.is_confirmed_by(record):
            raise RefusedError("already_cancelled", self._what)
        if _LAPSED.is_confirmed_by(record):
            raise RefusedError("booking_ended", self._what)
        return record


class Confirm(_Change):
    """Confirm and pay a booking."""

    def plan(self, values: Mapping[str, Any], identity: Identity) -> WritePlans:
        """Plan the payment at the current price."""
        booking_id = identity.target_id
        booking: Booking = yield from self._read_open(booking_id)
        is_being_issued = booking.stage == Stage.IN_PROGRESS
        if _CONFIRMED.is_confirmed_by(booking) or (
            is_being_issued and booking.payment_status == PaymentStatus.PAID
        ):
            raise RefusedError("already_paid")
        total, currency = booking.total_price, booking.currency
        price = money(total, currency)
        details = {"field": "expect_total", "found": format_amount(total), "currency": currency}
        if values.get("expect_total") not in {None, total}:
            raise RefusedError("costs", price, **details)
        approved = self._state.budget.approved.get(booking_id, (total, currency))
        is_dearer = total > approved[0] or currency != approved[1]

        def count() -> Hold:
            hold = self._state.budget.hold(booking_id, total, currency)
            if is_dearer and "expect_total" not in values:
                self._state.budget.release(hold)
                step = TEXTS["accept_total"]
                raise RefusedError("dearer", price, money(*approved), **details, next_step=step)
            return hold

        before = f" ({money(*approved)} was approved when it was made)" if is_dearer else ""
        return WritePlan(
            {"booking_id": booking_id, "expect_total": total, "currency": currency},
            f"Confirm and pay {price}{before}: {self._record(booking_id).description}",
            total,
            currency,
            count,
        )

    def check_since(self, identity: Identity) -> Generator[Invoke, Any, None]:
        """Refuse to confirm a booking that was cancelled, perhaps by others, or has ended since."""
        with suppress(FerryError):
            yield from self._read_open(identity.target_id)


class Cancel(_Change):
    """Cancel a booking or a ticket."""

    def plan(self, values: Mapping[str, Any], identity: Identity) -> WritePlans:
        """Plan the cancellation at the current penalty."""
        some_id = identity.subject[self._subject]
        try:
            fee: CancellationFee = yield Invoke("bookings.cancel_fee", {"id": some_id})
        except FerryError as refusal:
            if may_be_done(refusal):  # a service may name no fee of what is cancelled
                yield from self._read_open(some_id)
            raise
        if fee.ticket_status in {_CANCELLED.tickets, _LAPSED.tickets}:
            yield from self._read_open(some_id)  # it may be the status of a booking's ticket
        penalty, refund, currency = fee.penalty_amount, fee.refund_amount, fee.currency
        if penalty > values.get("max_penalty", penalty):
            details = {"penalty": format_amount(penalty), "currency": currency}
            cost = money(penalty, currency)
            raise RefusedError("cancelling_costs", cost, field="max_penalty", **details)
        record = self._record(some_id)
        booking_id = some_id if self._subject == "booking_id" else record.booking_id
        return WritePlan(
            {**values, "max_penalty": penalty, "min_refund": refund, "currency": currency},
            f"Cancel {record.description}: {money(penalty, currency)} is kept, "
            f"{money(refund, currency)} is paid back",
            penalty,
            currency,
            lambda: self._state.budget.hold_penalty(booking_id, some_id, penalty, currency),
        )

    def conclude(self, plan: WritePlan, _hold: Hold, result: Any) -> list[str]:  # noqa: ANN401 -- as it is
        """Return a note if the refund is less than previewed."""
        lost = result.refund_shortfall if isinstance(result, BookingCancellation) else None
        if lost is None or lost <= 0:
            return []
        return [f"{money(lost, plan.currency)} less was paid back than was previewed."]


class Replace(Cancel):
    """Make and pay another booking for the same travellers, then cancel the one that was shown."""

    def __init__(self, state: ToolkitState) -> None:
        super().__init__(state, "booking_id")
        self._new = Create(state)

    def identity(self, values: Mapping[str, Any]) -> Identity:
        """Return one identity for each booking that is replaced."""
        return replace(super().identity(values), choice=self._new.describe(values))

    def plan(self, values: Mapping[str, Any], identity: Identity) -> WritePlans:
        """Plan the payment of the new booking, and the cancellation at the current penalty."""
        booking: Booking = yield from self._read_open(identity.target_id)
        if booking.stage != Stage.TICKETED:
            is_waiting = booking.stage == Stage.IN_PROGRESS
            step = {"next_step": TEXTS["being_issued"]} if is_waiting else {}
            raise RefusedError("not_ticketed", booking.stage, **step)
        if not booking.tickets:
            raise RefusedError("types_unknown")
        values = {**values, "passengers": _party(booking.tickets[0], self._new.party(values))}
        total = values.pop("expect_total", None)
        del values["booking_id"]
        made = self._new.identity(values)
        new = yield from self._new.plan(values, made, total)
        old = yield from super().plan({}, identity)

        def count() -> Hold:
            hold = self._state.budget.hold(made.key, new.amount, new.currency)
            try:
                return replace(old.count(), other=hold)
            except RefusedError:
                self._state.budget.release(hold)
                raise

        def check() -> Generator[Invoke, Any, None]:
            yield from new.check()
            again = yield from super(Replace, self).plan({}, identity)
            if again.arguments != old.arguments:
                raise RefusedError("costs_now", again.summary)

        limits = {
            "expect_totals": {new.currency: new.amount},
            "max_penalty": {old.currency: old.amount},
            "min_refund": {old.currency: old.arguments["min_refund"]},
        }
        return WritePlan(
            {**new.arguments, **identity.subject, **limits},
            f"{new.summary}. It is paid, and then this booking is given up: {old.summary}",
            new.amount,
            new.currency,
            count,
            new.travellers,
            new.contact,
            check=check,
        )

    def conclude(self, plan: WritePlan, hold: Hold, result: Any) -> list[str]:  # noqa: ANN401 -- as it is
        """Count the new booking, and remember it like one that `Create` made."""
        self.count(hold, self._new.describe(plan.arguments), result)
        made, view = self._new.identity(plan.arguments), view_of(change_view(result), "short")
        done = CompletedWrite(view, result.parts[0].booking_id, made.choice)
        self._state.duplicates.complete(made.key, done)
        return []

    def count(self, hold: Hold | None, description: str, order: Order) -> None:
        """Count the new booking, and remember it; the old one may be made again."""
        new, old = order.parts
        self._state.known_ids.remember_booking(str(new.booking_id), description)
        if hold is not None and hold.other is not None and new.total is not None:
            price = new.total, str(new.currency)
            self._state.budget.settle(hold.other, str(new.booking_id), *price)
        if order.state == "confirmed":
            self._state.duplicates.forget(str(old.booking_id))


def change_view(order: Order) -> dict[str, object]:
    """Return what a change has come to."""
    new, old = order.parts
    return {
        "booking_id": new.booking_id,
        "state": order.state,
        "total_price": new.total,
        "currency": new.currency,
        "replaced": old.booking_id,
    }


def _party(ticket: Ticket, kinds: Sequence[str]) -> list[Traveller]:
    """Return the travellers of a ticket as those of a booking.

    Raises:
        RefusedError: It names none, or neither type nor birth date tells who is a child.
    """
    party: list[dict[str, object]] = [
        {name: part for name, part in each if name in Traveller.model_fields and part}
        for each in ticket.passengers
    ]
    if len({*kinds}) == 1:
        party = [{**traveller, "type": kinds[0]} for traveller in party]
    with suppress(ValueError):
        if party and all("type" in traveller or "birth_date" in traveller for traveller in party):
            return [Traveller.model_validate(traveller) for traveller in party]
    raise RefusedError("types_unknown")
