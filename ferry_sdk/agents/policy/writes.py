"""The writes that are tools, and the steps of each: prepare, ask for approval, send, remember."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone
from typing import Any

from ferry_sdk._runtime.clock import monotonic
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
    VALID_FOR,
    ApprovalRequest,
    Approve,
    Codes,
    Refusals,
    approval_answer,
    digest_of,
    postpone,
)
from ferry_sdk.agents.policy.audit import CallHandler, Invoke, ToolCall, ToolEffect
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
        refusals: The questions that a person has not approved.
        state: What the writes share.
        clock: A monotonic clock, in seconds.
    """

    def __init__(self, store: State, budget: Budget, now: Callable[[], float]) -> None:
        self._store = store
        self.refusals: Refusals = Refusals(store)
        self.state: ToolkitState = ToolkitState(store, budget, now)
        self.duplicates: Duplicates = self.state.duplicates
        self.clock: Callable[[], float] = monotonic
        self._writes: Mapping[str, AnyWrite] = {
            "bookings.create": Create(self.state),
            "bookings.confirm": Confirm(self.state, "booking_id"),
            "bookings.cancel": Cancel(self.state, "booking_id"),
            "tickets.cancel": Cancel(self.state, "ticket_id"),
            "bookings.change": Replace(self.state),
        }
        self._codes = Codes(store)

    def perform(
        self, call: ToolCall, operation: str, arguments: Arguments, approve: Approve | str | None
    ) -> PreviewFlow:
        """Make a write, if it is approved; answer at once if it may have happened before."""
        write = self._writes[operation]
        if isinstance(write, Create | Replace):
            arguments = replace(arguments, values=selected(arguments.values, self.state.known_ids))
        identity = write.identity(arguments.values)
        registered = Registered(call, operation, arguments, write, identity)
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
            answer = yield from self._ask_approval(registered, plan, approve)
            if answer is None:
                yield from plan.check()
                self._mark_sent(registered, plan, hold)
        finally:
            if not call.is_sent:
                self.duplicates.abandon(identity.key)
        if answer is not None:
            return answer
        return (yield from self._send(registered, plan, hold))

    def _ask_approval(
        self, registered: Registered, plan: WritePlan, approve: Approve | str | None
    ) -> Generator[CallHandler, Any, ApprovalRequest | Answer | None]:
        """Return None if the write is approved, else what a person has to approve."""
        call, until = registered.call, self.clock() + VALID_FOR
        call.amount, call.currency = plan.amount, plan.currency
        request = ApprovalRequest(
            tool=call.tool,
            summary=plan.summary,
            amount=plan.amount,
            currency=plan.currency,
            subject=registered.identity.subject,
            expires_at=datetime.now(timezone.utc) + timedelta(seconds=VALID_FOR),
            travellers=plan.travellers,
            contact=plan.contact,
            arguments_digest=digest_of(plan.arguments),
        )
        if approve is postpone:
            self.refusals.check(request, self.clock())
            return request
        if approve is None:
            call.approval = "code"
            binding = self.state.fingerprint(request.digest)
            code = registered.arguments.confirmation_code
            if code is None:
                return approval_answer(request, self._codes.issue(binding, until))
            self._codes.use(code, binding, self.clock())
            return None
        call.approval = "callback"
        if isinstance(approve, str):
            if approve != request.digest:
                raise RefusedError("other_request")
            self.refusals.approve(request, self.clock())
            return None
        self.refusals.put(request, self.clock())
        try:
            approval = yield CallHandler(approve, request)
        except Exception as error:
            # It may be how a framework suspends the program, such as LangGraph's interrupt().
            call.approver_error = error
            raise
        if approval is not True:
            self.refusals.add(request, self.clock())
            raise RefusedError("declined")
        self.refusals.approve(request, self.clock())
        if self.clock() >= until:
            raise RefusedError("approval_expired")
        return None

    def _mark_sent(self, registered: Registered, plan: WritePlan, hold: Hold) -> None:
        """Register a write that may happen from here on, even if the process ends."""
        write = UnresolvedWrite(
            tool=registered.call.tool,
            subject=registered.identity.subject,
            correlation_id=registered.call.correlation_id,
            at=datetime.now(timezone.utc),
            amount=plan.amount,
            currency=plan.currency,
        )
        unknown = UnknownOutcome(write, hold)
        self.duplicates.update(registered.identity.key, hold, unknown)
        registered.call.is_sent = True

    def _send(self, registered: Registered, plan: WritePlan, hold: Hold) -> ToolFlow:
        """Send an approved write once, and record its outcome."""
        call, write, key = registered.call, registered.write, registered.identity.key
        result: Any = None
        try:
            result = yield Invoke(registered.operation, plan.arguments)
            call.add_ids(booking_id=getattr(result, "booking_id", None))
            with self._store.transaction():
                return self._complete(registered, result, write.conclude(plan, hold, result))
        except FerryError as error:
            if error.outcome != "unknown" and result is None:
                call.is_sent = False
                if isinstance(error, OrderError) and error.order.parts[0].state != "cancelled":
                    result = error.order
                    with self._store.transaction():
                        write.conclude(plan, hold, result)
                    return self._half_change(registered, error)
                self.duplicates.abandon(key)
                if isinstance(error, OrderError):
                    raise error.cause from None
                if isinstance(error, AlreadyDoneError):
                    self.state.remember(error.result, registered.arguments.values)
                raise
            named = self._remember_unknown(registered, error)
            return unknown_answer(call.correlation_id, named)
        except BaseException:
            self._remember_unknown(registered)
            raise

    def _half_change(self, write: Registered, error: OrderError) -> Answer:
        """Return the answer for a change that has made a booking, and not given up the other."""
        done = self._complete(write, error.order, [])
        answer = failure_answer(error.cause)
        code = "change_incomplete"
        answer["error"] |= {"code": code, "next_step": NEXT_STEPS[code], "result": done["result"]}
        return answer

    def _complete(self, write: Registered, result: object, notes: list[str]) -> Answer:
        made = result.booking_id if isinstance(result, BookingCreated) else None
        if isinstance(result, Order):
            made = result.parts[0].booking_id
            result = change_view(result)
        done = CompletedWrite(view_of(result, "short"), made, write.identity.choice)
        self.duplicates.complete(write.identity.key, done)
        self.state.remember(result, write.arguments.values)
        if getattr(result, "read_back", False):
            notes = [*notes, TEXTS["read_back"]]
        return done_answer(view_of(result, write.arguments.detail), notes)

    def _remember_unknown(self, write: Registered, error: FerryError | None = None) -> str | None:
        """Register a write that may have happened, and return the booking that its reply named."""
        call = write.call
        entry_id = booking_id = None
        if error is not None:
            call.correlation_id = error.correlation_id or call.correlation_id
        if isinstance(error, OutcomeUnknownError):
            entry_id = error.entry_id
            booking_id = error.booking_id if isinstance(write.write, Create) else None
        call.add_ids(booking_id=booking_id)
        self.duplicates.mark_unknown(write.identity.key, call.correlation_id, entry_id, booking_id)
        return booking_id

    def _recover(self, again: Registered, earlier: UnknownOutcome) -> ToolFlow:
        """Return the result of an earlier identical write, if its effect can be read now.

        A change goes on, within the limits that were approved: its order is resumed.
        """
        write, identity = again.write, again.identity
        correlation_id = earlier.write.correlation_id
        half: OrderError | None = None
        result: Any
        effect = Invoke("recover", {"error": earlier.error})
        if isinstance(write, Replace):
            effect, again.call.is_sent = Invoke("orders.resume", identity.subject), True
        try:
            result = yield effect
        except FerryError as error:
            again.call.is_sent = False
            if not isinstance(error, OrderError) or error.outcome == "unknown":
                raise repeated_unknown(correlation_id, earlier.write.booking_id) from None
            if error.order.parts[0].state == "cancelled":  # the booking was not changed
                self.duplicates.settle(correlation_id, happened=False)
                raise RefusedError("not_changed") from None
            result, half = error.order, error
        with self._store.transaction():
            if isinstance(write, Replace):
                write.count(earlier.hold, identity.choice, result)
            if half is not None:
                return self._half_change(again, half)
            notes: list[str] = []
            if isinstance(write, Create):
                approved = earlier.write.amount, earlier.write.currency
                notes = write.count(earlier.hold, approved, result)
            return self._complete(again, result, notes)
