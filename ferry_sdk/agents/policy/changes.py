"""Plan what becomes of a booking or a ticket that was shown: pay, cancel or replace it.

`identity` says which write a call asks for, `plan` reads what it costs now, and `conclude` counts
what it has done. For example, `Cancel` of the booking ``b-1``:

1. `identity` returns the same key for every call that cancels ``b-1``.
2. `plan` reads the fee: 5 EUR are kept, 20 EUR are paid back. The plan's arguments are
   ``max_penalty`` 5 and ``min_refund`` 20, so that the client refuses to send it if the fee has
   become worse when a person has agreed. Its `count` counts the 5 EUR against the penalty limit.
3. `conclude` returns a note if less was paid back.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, Final, Literal

from ferry_sdk._engine.safety import SAFETY, Proof, may_be_done
from ferry_sdk._runtime.money import format_amount, money
from ferry_sdk.agents.policy.answers import TEXTS, RefusedError
from ferry_sdk.agents.policy.audit import Invoke
from ferry_sdk.agents.policy.budget import Hold
from ferry_sdk.agents.policy.creation import Create
from ferry_sdk.agents.policy.duplicates import CompletedWrite
from ferry_sdk.agents.policy.issuance import ASK_AGAIN, is_being_issued
from ferry_sdk.agents.policy.known_ids import KnownRecord, require
from ferry_sdk.agents.policy.write_plan import Identity, ToolkitState, WritePlan, WritePlans
from ferry_sdk.agents.tools.views import view_of
from ferry_sdk.errors import FerryError
from ferry_sdk.models.bookings import Booking, BookingCancellation
from ferry_sdk.models.enums import Stage, TicketStatus
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
        return Identity(
            key=self._state.fingerprint(type(self).__name__, self._subject, some_id),
            subject={self._subject: some_id},
            target_id=record.booking_id or some_id,
        )

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
        if _CONFIRMED.is_confirmed_by(booking):
            raise RefusedError("already_paid")

        total = booking.total_price
        currency = booking.currency
        price = money(total, currency)
        details = {"field": "expect_total", "found": format_amount(total), "currency": currency}
        if values.get("expect_total") not in {None, total}:
            raise RefusedError("costs", price, **details)

        approved = self._state.budget.approved.get(booking_id, (total, currency))
        approved_total, approved_currency = approved
        is_dearer = total > approved_total or currency != approved_currency

        def count() -> Hold:
            # The limit comes first: an agent is not told to ask about a price that is refused.
            hold = self._state.budget.hold(booking_id, total, currency)
            if is_dearer and "expect_total" not in values:
                self._state.budget.release(hold)
                step = TEXTS["accept_total"]
                raise RefusedError("dearer", price, money(*approved), **details, next_step=step)
            return hold

        before = f" ({money(*approved)} was approved when it was made)" if is_dearer else ""
        return WritePlan(
            arguments={"booking_id": booking_id, "expect_total": total, "currency": currency},
            summary=f"Confirm and pay {price}{before}: {self._record(booking_id).description}",
            amount=total,
            currency=currency,
            count=count,
            costs={"Price": price},
        )

    def conclude(self, _plan: WritePlan, _hold: Hold, _result: Any) -> list[str]:  # noqa: ANN401 -- of any write
        """Return a note of what comes next: the reply does not say whether tickets are issued."""
        return [TEXTS["tickets_next"]]

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
        # It may be the status of one ticket of a booking, so the booking itself is read.
        if fee.ticket_status in {_CANCELLED.tickets, _LAPSED.tickets, TicketStatus.PENDING}:
            record = yield from self._read_open(some_id)
            if is_being_issued(record):
                step = TEXTS["being_issued"]
                raise RefusedError("being_issued", next_step=step, retry_after=ASK_AGAIN)

        penalty = fee.penalty_amount
        currency = fee.currency
        if penalty > values.get("max_penalty", penalty):
            details = {"penalty": format_amount(penalty), "currency": currency}
            cost = money(penalty, currency)
            raise RefusedError("cancelling_costs", cost, field="max_penalty", **details)

        known = self._record(some_id)
        booking_id = some_id if self._subject == "booking_id" else known.booking_id
        guards = {"max_penalty": penalty, "min_refund": fee.refund_amount, "currency": currency}
        kept = money(penalty, currency)
        refund = money(fee.refund_amount, currency)
        return WritePlan(
            arguments={**values, **guards},
            summary=f"Cancel {known.description}: {kept} is kept, {refund} is paid back",
            amount=penalty,
            currency=currency,
            count=partial(
                self._state.budget.hold_penalty,
                booking_id,
                some_id,
                penalty=penalty,
                currency=currency,
            ),
            costs={"Kept": kept, "Paid back": refund},
        )

    def conclude(self, plan: WritePlan, _hold: Hold, result: Any) -> list[str]:  # noqa: ANN401 -- of any write
        """Return a note if the refund is less than previewed."""
        if not isinstance(result, BookingCancellation):
            return []
        shortfall = result.refund_shortfall
        if shortfall is None or shortfall <= 0:
            return []
        return [f"{money(shortfall, plan.currency)} less was paid back than was previewed."]


class Replace(Cancel):
    """Make and pay another booking for the same travellers, then cancel the one that was shown.

    It is one write with two prices: that of the new booking, which counts as spent, and the penalty
    of the old one.
    """

    def __init__(self, state: ToolkitState) -> None:
        super().__init__(state, "booking_id")
        self._new = Create(state)

    def identity(self, values: Mapping[str, Any]) -> Identity:
        """Return one identity for each booking that is replaced."""
        return replace(super().identity(values), choice=self._new.describe(values))

    def plan(self, values: Mapping[str, Any], identity: Identity) -> WritePlans:
        """Plan the payment of the new booking, and the cancellation at the current penalty."""
        old_booking: Booking = yield from self._read_open(identity.target_id)
        if old_booking.stage != Stage.TICKETED:
            details: dict[str, object] = {}
            if is_being_issued(old_booking):
                details = {"next_step": TEXTS["being_issued"], "retry_after": ASK_AGAIN}
            raise RefusedError("not_ticketed", old_booking.stage, **details)
        if not old_booking.tickets:
            raise RefusedError("types_unknown")

        party = _party(old_booking.tickets[0], self._new.party(values))
        new_values: dict[str, Any] = {**values, "passengers": party}
        total = new_values.pop("expect_total", None)
        del new_values["booking_id"]
        new_identity = self._new.identity(new_values)
        new = yield from self._new.plan(new_values, new_identity, total)
        old = yield from super().plan({}, identity)

        def count() -> Hold:
            hold = self._state.budget.hold(new_identity.key, new.amount, new.currency)
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
            arguments={**new.arguments, **identity.subject, **limits},
            summary=f"{new.summary}. It is paid, and then this booking is given up: {old.summary}",
            amount=new.amount,
            currency=new.currency,
            count=count,
            travellers=new.travellers,
            contact=new.contact,
            check=check,
            costs={**new.costs, **old.costs},
        )

    def conclude(self, plan: WritePlan, hold: Hold, result: Any) -> list[str]:  # noqa: ANN401 -- of any write
        """Count the new booking, and remember it like one that `Create` made."""
        self.count(hold, self._new.describe(plan.arguments), result)
        new_identity = self._new.identity(plan.arguments)
        view = view_of(change_view(result), "short")
        done = CompletedWrite(view, result.parts[0].booking_id, new_identity.choice)
        self._state.duplicates.complete(new_identity.key, done)
        return []

    def count(self, hold: Hold | None, description: str, order: Order) -> None:
        """Count the new booking, and remember it; the old one may be made again."""
        new, old = order.parts
        self._state.known_ids.remember_booking(str(new.booking_id), description)
        if hold is not None and hold.other is not None and new.total is not None:
            self._state.budget.settle(
                hold.other, str(new.booking_id), new.total, currency=str(new.currency)
            )
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


def _party(ticket: Ticket, types: Sequence[str]) -> list[Traveller]:
    """Return the travellers of a ticket as those of a booking.

    Args:
        ticket: The ticket.
        types: The types of the travellers for whom the new sailings were searched. If all are of
            one type, so are those of the ticket, which may not say it.

    Raises:
        RefusedError: It names none, or neither type nor birth date tells who is a child.
    """
    party: list[dict[str, object]] = []
    for passenger in ticket.passengers:
        fields = {
            name: value for name, value in passenger if name in Traveller.model_fields and value
        }
        if len(set(types)) == 1:
            fields["type"] = types[0]
        party.append(fields)

    with suppress(ValueError):
        if party and all("type" in fields or "birth_date" in fields for fields in party):
            return [Traveller.model_validate(fields) for fields in party]
    raise RefusedError("types_unknown")
