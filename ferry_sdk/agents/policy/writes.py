"""The writes that are tools, and the steps of each: prepare, ask for approval, send, remember.

`Writes.perform` makes one write. For example, ``bookings_confirm`` of the booking ``b-1``:

1. Every call that confirms ``b-1`` has the same `Identity`. `Duplicates.begin` registers it, and
   refuses it if it is in progress or done. If it may have happened before, nothing is sent:
   `_recover` reads what has become of it.
2. `Confirm.plan` reads the price, 12.32 EUR, which is counted against the limit.
3. `Approvals.ask` asks the person, or issues a code for them. The call ends here if it only
   previews the write, or if it has no code yet.
4. The plan checks again what may have changed while the person decided. Then `_mark_sent` registers
   that the write may happen, even if the process ends from here on.
5. `_send` sends it once, and records its outcome. If it was certainly not done, it is forgotten and
   its amount is released. If nobody knows, it stays registered for `_recover` and for a person.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from ferry_sdk.agents.policy.answers import (
    NEXT_STEPS,
    TEXTS,
    Answer,
    RefusedError,
    done_answer,
    failure_answer,
    repeated_unknown,
    unknown_answer,
)
from ferry_sdk.agents.policy.approval import (
    ApprovalRequest,
    Approvals,
    Approve,
    approval_request,
)
from ferry_sdk.agents.policy.audit import Invoke, ToolCall, ToolEffect
from ferry_sdk.agents.policy.budget import Budget, Hold
from ferry_sdk.agents.policy.changes import Cancel, Confirm, Replace, change_view
from ferry_sdk.agents.policy.creation import Create
from ferry_sdk.agents.policy.duplicates import (
    CompletedWrite,
    Duplicates,
    UnknownOutcome,
    UnresolvedWrite,
)
from ferry_sdk.agents.policy.state import State
from ferry_sdk.agents.policy.trip_answers import selected
from ferry_sdk.agents.policy.write_plan import Identity, ToolkitState, WritePlan
from ferry_sdk.agents.tools.tools import Arguments
from ferry_sdk.agents.tools.views import view_of
from ferry_sdk.errors import AlreadyDoneError, FerryError, OrderError, OutcomeUnknownError
from ferry_sdk.models.bookings import BookingCreated
from ferry_sdk.orders.order import Order

ToolFlow = Generator[ToolEffect, Any, Answer]
PreviewFlow = Generator[ToolEffect, Any, ApprovalRequest | Answer]
AnyWrite = Create | Confirm | Cancel | Replace


@dataclass(frozen=True, slots=True)
class Registered:
    """A write that a call asks for, registered so that no other call makes it."""

    call: ToolCall
    operation: str
    arguments: Arguments
    write: AnyWrite
    identity: Identity


class Writes:
    """Prepare, approve and send the writes of a toolkit; safe to share between threads.

    Attributes:
        duplicates: The writes made so far.
        approvals: Asks for approval, and knows what a person has refused.
        state: What the writes share.
    """

    def __init__(
        self,
        store: State,
        budget: Budget,
        now: Callable[[], float],
        until: datetime | None = None,
    ) -> None:
        self._store = store
        self._until = until
        self.approvals: Approvals = Approvals(store)
        self.state: ToolkitState = ToolkitState(store, budget, now)
        self.duplicates: Duplicates = self.state.duplicates
        self._writes: Mapping[str, AnyWrite] = {
            "bookings.create": Create(self.state),
            "bookings.confirm": Confirm(self.state, "booking_id"),
            "bookings.cancel": Cancel(self.state, "booking_id"),
            "tickets.cancel": Cancel(self.state, "ticket_id"),
            "bookings.change": Replace(self.state),
        }

    def perform(
        self, call: ToolCall, operation: str, arguments: Arguments, approve: Approve | str | None
    ) -> PreviewFlow:
        """Make a write, if it is approved; answer at once if it may have happened before."""
        self._refuse_when_over()
        write = self._writes[operation]
        if isinstance(write, Create | Replace):
            arguments = replace(arguments, values=selected(arguments.values, self.state.known_ids))
        identity = write.identity(arguments.values)
        registered = Registered(
            call=call,
            operation=operation,
            arguments=arguments,
            write=write,
            identity=identity,
        )
        call.add_ids(**identity.subject)

        try:
            earlier = self.duplicates.begin(identity.key, identity.target_id, identity.choice)
        except RefusedError as refusal:
            if refusal.code == "already_done" and isinstance(write, Confirm):
                yield from write.check_since(identity)
            raise
        if earlier is not None:
            return (yield from self._recover(registered, earlier))

        try:
            plan = yield from write.plan(arguments.values, identity)
            with self._store.transaction():  # whoever takes over an unsent write releases its hold
                hold = plan.count()
                self.duplicates.update(identity.key, hold)

            call.amount = plan.amount
            call.currency = plan.currency
            answer = yield from self.approvals.ask(
                call,
                approval_request(call.tool, plan, identity.subject),
                approve,
                code=arguments.confirmation_code,
            )
            if answer is None:
                yield from plan.check()
                self._refuse_when_over()  # the person may have decided after the end
                self._mark_sent(registered, plan, hold)
        finally:
            if not call.is_sent:
                self.duplicates.abandon(identity.key)

        if answer is not None:
            return answer
        return (yield from self._send(registered, plan, hold))

    def _refuse_when_over(self) -> None:
        """Raise `RefusedError` if the time in which writes are allowed is over."""
        if self._until is not None and self.state.now() >= self._until.timestamp():
            raise RefusedError("too_late", self._until.isoformat())

    def _mark_sent(self, registered: Registered, plan: WritePlan, hold: Hold) -> None:
        """Register a write that may happen from here on, even if the process ends."""
        write = UnresolvedWrite(
            tool=registered.call.tool,
            subject=registered.identity.subject,
            correlation_id=registered.call.correlation_id,
            at=datetime.now(UTC),
            amount=plan.amount,
            currency=plan.currency,
        )
        unknown = UnknownOutcome(write, hold)
        self.duplicates.update(registered.identity.key, hold, unknown)
        registered.call.is_sent = True

    def _send(self, registered: Registered, plan: WritePlan, hold: Hold) -> ToolFlow:
        """Send an approved write once, and record its outcome."""
        call = registered.call
        result: Any = None
        half_done: OrderError | None = None
        try:
            try:
                result = yield Invoke(registered.operation, plan.arguments)
            except OrderError as error:
                if not _has_new_booking(error):
                    raise
                half_done = error
                result = error.order

            call.add_ids(booking_id=getattr(result, "booking_id", None))
            with self._store.transaction():
                notes = registered.write.conclude(plan, hold, result)
                if half_done is not None:
                    return self._half_change(registered, half_done)
                return self._complete(registered, result, notes)
        except FerryError as error:
            # With a result, the write was done, and its record failed.
            if error.outcome == "unknown" or result is not None:
                booking_id = self._remember_unknown(registered, error)
                return unknown_answer(call.correlation_id, booking_id)

            call.is_sent = False
            self.duplicates.abandon(registered.identity.key)
            if isinstance(error, OrderError):
                raise error.cause from None
            if isinstance(error, AlreadyDoneError):
                self.state.remember(error.result, registered.arguments.values)
            raise
        except BaseException:
            self._remember_unknown(registered)
            raise

    def _half_change(self, registered: Registered, error: OrderError) -> Answer:
        """Return the answer for a change that has made a booking, and not given up the other."""
        done = self._complete(registered, error.order, [])
        answer = failure_answer(error.cause)
        answer["error"] |= {
            "code": "change_incomplete",
            "next_step": NEXT_STEPS["change_incomplete"],
            "result": done["result"],
        }
        return answer

    def _complete(self, registered: Registered, result: object, notes: list[str]) -> Answer:
        """Record that a write was done, and return the answer."""
        booking_id = result.booking_id if isinstance(result, BookingCreated) else None
        if isinstance(result, Order):
            booking_id = result.parts[0].booking_id
            result = change_view(result)

        done = CompletedWrite(view_of(result, "short"), booking_id, registered.identity.choice)
        self.duplicates.complete(registered.identity.key, done)
        self.state.remember(result, registered.arguments.values)
        if getattr(result, "read_back", False):
            notes = [*notes, TEXTS["read_back"]]
        return done_answer(view_of(result, registered.arguments.detail), notes)

    def _remember_unknown(
        self, registered: Registered, error: FerryError | None = None
    ) -> str | None:
        """Register a write that may have happened, and return the booking that its reply named."""
        call = registered.call
        entry_id: str | None = None
        booking_id: str | None = None
        if error is not None:
            call.correlation_id = error.correlation_id or call.correlation_id
        if isinstance(error, OutcomeUnknownError):
            entry_id = error.entry_id
            booking_id = error.booking_id if isinstance(registered.write, Create) else None

        call.add_ids(booking_id=booking_id)
        self.duplicates.mark_unknown(
            registered.identity.key,
            call.correlation_id,
            entry_id=entry_id,
            booking_id=booking_id,
        )
        return booking_id

    def _recover(self, registered: Registered, earlier: UnknownOutcome) -> ToolFlow:
        """Return the result of an earlier identical write, if its effect can be read now.

        A change goes on, within the limits that were approved: its order is resumed.
        """
        write = registered.write
        identity = registered.identity
        half_done: OrderError | None = None
        result: Any
        effect = Invoke("recover", {"error": earlier.error})
        if isinstance(write, Replace):
            effect = Invoke("orders.resume", identity.subject)
            registered.call.is_sent = True

        try:
            result = yield effect
        except FerryError as error:
            registered.call.is_sent = False
            if not isinstance(error, OrderError) or error.outcome == "unknown":
                unresolved = earlier.write
                raise repeated_unknown(unresolved.correlation_id, unresolved.booking_id) from None
            if not _has_new_booking(error):
                self.duplicates.rule_out(identity.key)
                raise RefusedError("not_changed") from None
            result = error.order
            half_done = error

        # The write was done. If its record fails, the answer does not say that nothing was sent.
        registered.call.is_sent = True
        with self._store.transaction():
            if isinstance(write, Replace):
                write.count(earlier.hold, identity.choice, result)
            if half_done is not None:
                return self._half_change(registered, half_done)

            notes: list[str] = []
            if isinstance(write, Create):
                approved_price = earlier.write.amount, earlier.write.currency
                notes = write.count(earlier.hold, approved_price, result)
            return self._complete(registered, result, notes)


def _has_new_booking(error: OrderError) -> bool:
    """Return whether a change has certainly made its new booking, and the old one stands, too."""
    return error.outcome != "unknown" and error.order.parts[0].state != "cancelled"
