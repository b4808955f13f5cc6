"""Decide what a tool call does, as a generator that does no I/O.

The generator yields `Invoke` (call the client) and `CallHandler` (call the caller's `approve` or
`audit`); `Toolkit` and `AsyncToolkit` perform both. A write passes these steps in this order:

1. Read the arguments, and refuse what can be refused without a request.
2. Register the write, so that a second call for the same write is refused from here on.
3. Read its price, and count the price against the limit before anybody is asked, so that two
   writes cannot both pass the limit.
4. Ask for approval. Then check again what may have changed while the person decided.
5. Send it. The client's own guards refuse a price or a penalty that has changed since.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Mapping
from dataclasses import replace
from datetime import date, datetime, timedelta, timezone
from typing import Any, TypeVar

from ferry_sdk._engine.correlation import next_correlation_id
from ferry_sdk._transport.async_ import AsyncTransport
from ferry_sdk._transport.sync import Transport
from ferry_sdk.agents.policy.answers import (
    NEXT_STEPS,
    TEXTS,
    Answer,
    RefusedError,
    failure_answer,
    internal_error,
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
)
from ferry_sdk.agents.policy.audit import (
    AuditRecord,
    CallHandler,
    Invoke,
    ToolCall,
    ToolEffect,
    record,
)
from ferry_sdk.agents.policy.budget import Budget
from ferry_sdk.agents.policy.changes import Confirm, Replace, change_view
from ferry_sdk.agents.policy.duplicates import (
    CompletedWrite,
    Duplicates,
    UnknownOutcome,
    UnresolvedWrite,
)
from ferry_sdk.agents.policy.state import State
from ferry_sdk.agents.policy.trip_answers import (
    DAYS,
    Handles,
    are_handles,
    check_days,
    find,
    selected,
    with_travellers,
)
from ferry_sdk.agents.policy.write_plan import Identity, ToolkitState
from ferry_sdk.agents.policy.writes import AnyWrite, Prepared, all_writes
from ferry_sdk.agents.tools.tools import LIST, TOOLS, Arguments, Tool, ToolChoice, choose_tools
from ferry_sdk.agents.tools.views import view_of
from ferry_sdk.errors import (
    AlreadyDoneError,
    ConfigurationError,
    FerryError,
    InvalidInputError,
    OrderError,
    OutcomeUnknownError,
)
from ferry_sdk.models.bookings import BookingCreated
from ferry_sdk.models.inputs import Traveller
from ferry_sdk.orders import Order

T = TypeVar("T")
ToolFlow = Generator[ToolEffect, Any, Answer]


class ToolRunner:
    """Run the tool calls of one toolkit; safe to share between threads and tasks.

    Attributes:
        duplicates: The writes made so far.
        refusals: The writes that a person has refused.
        clock: A monotonic clock, in seconds.
    """

    def __init__(
        self,
        transport: Transport | AsyncTransport,
        *,
        writes: bool,
        approve: Approve | None,
        budget: Budget,
        audit: Callable[[AuditRecord], Any] | None,
        store: State,
        tools: ToolChoice,
        travellers: Handles | None,
    ) -> None:
        self._chosen = choose_tools(tools, by_handle=travellers is not None)
        self._travellers = travellers
        self._transport = transport
        self._may_write = writes
        self._approve = approve
        self._audit = audit
        self._store = store
        self.duplicates: Duplicates = Duplicates(store, budget.release)
        self._state = ToolkitState(store, budget, self.duplicates, self._now)
        self._writes = all_writes(self._state)
        self._codes = Codes(store)
        self.refusals: Refusals = Refusals(store)
        self.clock: Callable[[], float] = time.monotonic
        self._under_way: set[ToolCall] = set()

    @property
    def by_code(self) -> bool:
        """Whether writes are approved by a code."""
        return self._approve is None

    @property
    def is_sending(self) -> bool:
        """Whether a write may be in progress, without a recorded outcome yet."""
        return any(call.is_sent for call in tuple(self._under_way))

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The available tools."""
        settings = self._transport.settings
        may_write = self._may_write and not settings.read_only
        has_journal = hasattr(settings.journal, "save_order")
        return tuple(
            tool
            for tool in self._chosen.values()
            if tool.is_read or (may_write and (has_journal or not tool.needs_journal))
        )

    def settle(self, correlation_id: str, *, happened: bool) -> None:
        """Record whether an unresolved write happened.

        A new booking is not known here by its id, so its price is released; it counts again when
        the booking is confirmed.
        """
        with self._store.transaction():
            for earlier in self.duplicates.settle(correlation_id, happened=happened):
                is_made = earlier.write.tool == "bookings_create"
                if earlier.hold is not None and (is_made or not happened):
                    self._state.budget.release(earlier.hold)

    def call(
        self, name: object, arguments: object, approve: Approve | str | None = None
    ) -> tuple[ToolFlow, str]:
        """Return the flow that answers a call, and the correlation id of its requests.

        The call is approved by its own approver or digest if it has one, else by the toolkit's
        approver.
        """
        call = self._new_call()
        approve = self._approve if approve is None else approve
        flow = self._decide(call, name, arguments, approve)
        return self._track(call, flow), call.correlation_id

    def read_catalogue(self, name: str, arguments: object) -> tuple[ToolFlow, str]:
        """Return the flow of a tool that reads, like `call`, even if the tool is not offered."""
        call, tool = self._new_call(), TOOLS[name]
        call.tool = name

        def flow() -> ToolFlow:
            return (yield from self._answer_read(tool, tool.read(arguments)))

        return self._track(call, flow()), call.correlation_id

    def preview(
        self, name: object, arguments: object
    ) -> tuple[Generator[ToolEffect, Any, ApprovalRequest | Answer], str]:
        """Start to find out what a person has to approve; a refusal is recorded and returned."""
        call = self._new_call()
        return self._preview(call, name, arguments), call.correlation_id

    def _new_call(self) -> ToolCall:
        """Return a call with the client's correlation id or a new one."""
        return ToolCall(self._transport.settings.correlation_id or next_correlation_id())

    def _preview(
        self, call: ToolCall, name: object, arguments: object
    ) -> Generator[ToolEffect, Any, ApprovalRequest | Answer]:
        answer = yield from self._handle_errors(call, self._request(call, name, arguments))
        if not isinstance(answer, ApprovalRequest):
            yield from record(call.record(answer), self._audit)
        return answer

    def _request(
        self, call: ToolCall, name: object, arguments: object
    ) -> Generator[ToolEffect, Any, ApprovalRequest | Answer]:
        tool, read = self._read(call, name, arguments, by_code=False)
        if tool.is_read:
            raise RefusedError("read_needs_none")
        prepared = yield from self._prepare(call, tool, read)
        if not isinstance(prepared, Prepared):
            return prepared
        self._drop(prepared)
        self.refusals.check(prepared.request, self.clock())
        return prepared.request

    def _track(self, call: ToolCall, flow: ToolFlow) -> ToolFlow:
        """Run a call, and record it however it ends."""
        self._under_way.add(call)
        try:
            answer = yield from self._handle_errors(call, flow)
        except GeneratorExit:
            raise
        except BaseException:
            outcome = "unknown" if call.is_sent else "not_sent"
            interrupted: Answer = {
                "status": "unknown" if call.is_sent else "failed",
                "error": {"code": "interrupted", "outcome": outcome},
            }
            yield from record(call.record(interrupted), self._audit)
            raise
        else:
            yield from record(call.record(answer), self._audit)
            return answer
        finally:
            self._under_way.discard(call)

    def _handle_errors(
        self, call: ToolCall, flow: Generator[ToolEffect, Any, T]
    ) -> Generator[ToolEffect, Any, T | Answer]:
        """Turn every error into an answer, except what the caller's `approve` raises."""
        try:
            return (yield from flow)
        except RefusedError as refusal:
            return refusal.answer()
        except Exception as error:  # the agent gets every failure as data
            if error is call.approver_error:
                raise
            if call.is_sent:
                return unknown_answer(call.correlation_id)
            return self._failure(error) if isinstance(error, FerryError) else internal_error(error)

    def _failure(self, error: FerryError) -> Answer:
        """Return the answer for an error; that of a day says which day it is."""
        party = "passengers" if self._travellers is None else "travellers"
        answer = failure_answer(error, party)
        if answer["error"].get("field") in DAYS:
            answer["error"]["today"] = self._today().isoformat()
        return answer

    def _today(self) -> date:
        """Return the day by the service's clock, UTC."""
        return datetime.fromtimestamp(self._now(), timezone.utc).date()

    def _decide(
        self, call: ToolCall, name: object, arguments: object, approve: Approve | str | None
    ) -> ToolFlow:
        tool, read = self._read(call, name, arguments, by_code=approve is None)
        check_days(read.values, self._now())
        if tool.name == LIST:
            return {"status": "done", "result": {"travellers": [*self._handles()]}}
        if tool.is_read:
            return (yield from self._answer_read(tool, read))
        prepared = yield from self._prepare(call, tool, read)
        if not isinstance(prepared, Prepared):
            return prepared
        try:
            needed = yield from self._ask_approval(call, prepared, approve)
            yield from prepared.plan.check()
            if needed is None:
                self._mark_sent(call, prepared)
        except BaseException:
            self._drop(prepared)
            raise
        if needed is None:
            return (yield from self._send(call, prepared))
        self._drop(prepared)
        return needed

    def _handles(self) -> Mapping[str, Traveller]:
        given = self._travellers
        handles = (given() if callable(given) else given) or {}
        if not are_handles(handles):
            raise ConfigurationError("travellers: expected a Traveller for each label")
        return handles

    def _answer_read(self, tool: Tool, read: Arguments) -> ToolFlow:
        if tool.is_planned:
            return (yield from find(tool.name, read.values, self._state.known_ids, self._today))
        result = yield Invoke(tool.operation, read.values)
        view = view_of(result, read.detail, read.contains)
        self._state.remember(result, read.values, view)
        return {"status": "done", "result": view}

    def _read(
        self, call: ToolCall, name: object, arguments: object, *, by_code: bool
    ) -> tuple[Tool, Arguments]:
        tool = self._chosen.get(name) if isinstance(name, str) else None
        if tool is None:
            raise RefusedError("unknown_tool")
        call.tool = tool.name
        if tool not in self.tools:
            if tool.needs_journal and any(not one.is_read for one in self.tools):
                raise RefusedError("journal_needed")
            raise RefusedError("writes_disabled")
        read = tool.read(arguments)
        if "travellers" in read.values:
            read = replace(read, values=with_travellers(read.values, self._handles()))
        call.add_ids(**{key: read.values.get(key) for key in ("booking_id", "ticket_id", "id")})
        if read.confirmation_code is not None and not by_code:
            raise InvalidInputError("there is no such argument", field="confirmation_code")
        return tool, read

    def _prepare(
        self, call: ToolCall, tool: Tool, arguments: Arguments
    ) -> Generator[ToolEffect, Any, Prepared | Answer]:
        """Register a write and read its price; answer at once if it may have happened before."""
        write = self._writes[tool.operation]
        if tool.takes_offer:
            arguments = replace(arguments, values=selected(arguments.values, self._state.known_ids))
        identity = write.identity(arguments.values)
        call.add_ids(**identity.subject)
        try:
            earlier = self.duplicates.begin(identity.key, identity.target_id, identity.choice)
        except RefusedError as refusal:
            if refusal.code == "already_done" and isinstance(write, Confirm):
                yield from write.check_since(identity)
            raise
        if earlier is not None:
            return (yield from self._recover(call, write, arguments, identity, earlier))
        try:
            plan = yield from write.plan(arguments.values, identity)
            with self._store.transaction():  # whoever takes over an unsent write releases its hold
                plan = replace(plan, hold=plan.count())
                self.duplicates.keep_hold(identity.key, plan.hold)
        except BaseException:
            self.duplicates.abandon(identity.key)
            raise
        call.amount, call.currency = plan.amount, plan.currency
        request = ApprovalRequest(
            tool=tool.name,
            summary=plan.summary,
            amount=plan.amount,
            currency=plan.currency,
            subject=identity.subject,
            expires_at=datetime.now(timezone.utc) + timedelta(seconds=VALID_FOR),
            travellers=plan.travellers,
            contact=plan.contact,
            arguments_digest=digest_of(plan.arguments),
        )
        until = self.clock() + VALID_FOR
        return Prepared(tool, arguments, write, identity, plan, request, until)

    def _drop(self, prepared: Prepared) -> None:
        """Forget a write that was not sent."""
        with self._store.transaction():
            is_own = self.duplicates.abandon(prepared.identity.key)
            if is_own and prepared.plan.hold is not None:
                self._state.budget.release(prepared.plan.hold)

    def _ask_approval(
        self, call: ToolCall, prepared: Prepared, approve: Approve | str | None
    ) -> Generator[CallHandler, Any, Answer | None]:
        """Return None if the write is approved, else the answer that asks for approval."""
        request = prepared.request
        if approve is None:
            call.approval = "code"
            binding = self._state.fingerprint(request.digest)
            code = prepared.arguments.confirmation_code
            if code is None:
                return approval_answer(request, self._codes.issue(binding, prepared.until))
            self._codes.use(code, binding, self.clock())
            return None
        call.approval = "callback"
        if isinstance(approve, str):
            if approve != request.digest:
                raise RefusedError("other_request")
            return None
        self.refusals.check(request, self.clock())
        try:
            approval = yield CallHandler(approve, request)
        except Exception as error:
            # It may be how a framework suspends the program, such as LangGraph's interrupt().
            call.approver_error = error
            raise
        if approval is not True:
            self.refusals.add(request, self.clock())
            raise RefusedError("declined")
        if self.clock() >= prepared.until:
            raise RefusedError("approval_expired")
        return None

    def _send(self, call: ToolCall, prepared: Prepared) -> ToolFlow:
        call.is_sent = True
        result: Any = None
        try:
            result = yield Invoke(prepared.tool.operation, prepared.plan.arguments)
            call.add_ids(booking_id=getattr(result, "booking_id", None))
            with self._store.transaction():
                notes = prepared.write.conclude(prepared.plan, result)
                return self._complete(prepared.arguments, prepared.identity, result, notes)
        except FerryError as error:
            if error.outcome != "unknown" and result is None:
                call.is_sent = False
                if isinstance(error, OrderError) and error.order.parts[0].state != "cancelled":
                    result = error.order
                    with self._store.transaction():
                        prepared.write.conclude(prepared.plan, result)
                    return self._half_change(prepared.arguments, prepared.identity, error)
                self._drop(prepared)
                if isinstance(error, OrderError):
                    raise error.cause from None
                if isinstance(error, AlreadyDoneError):
                    self._state.remember(error.result, prepared.arguments.values)
                raise
            self._remember_unknown(call, prepared, error)
            return unknown_answer(call.correlation_id)
        except BaseException:
            self._remember_unknown(call, prepared, None)
            raise

    def _half_change(self, arguments: Arguments, identity: Identity, error: OrderError) -> Answer:
        """Return the answer for a change that has made a booking, and not given up the other."""
        done = self._complete(arguments, identity, error.order, [])
        answer = failure_answer(error.cause)
        code = "change_incomplete"
        answer["error"] |= {"code": code, "next_step": NEXT_STEPS[code], "result": done["result"]}
        return answer

    def _complete(
        self, arguments: Arguments, identity: Identity, result: object, notes: list[str]
    ) -> Answer:
        made = result.booking_id if isinstance(result, BookingCreated) else None
        if isinstance(result, Order):
            made = result.parts[0].booking_id
            result = change_view(result)
        done = CompletedWrite(view_of(result, "short"), made, identity.choice)
        self.duplicates.complete(identity.key, done)
        self._state.remember(result, arguments.values)
        if getattr(result, "read_back", False):
            notes = [*notes, TEXTS["read_back"]]
        answer: Answer = {"status": "done", "result": view_of(result, arguments.detail)}
        return {**answer, "notes": [*notes]} if notes else answer

    def _mark_sent(self, call: ToolCall, prepared: Prepared) -> None:
        """Register a write that may happen from here on, even if the process ends."""
        write = UnresolvedWrite(
            tool=prepared.tool.name,
            subject=prepared.identity.subject,
            correlation_id=call.correlation_id,
            at=datetime.now(timezone.utc),
            amount=prepared.plan.amount,
            currency=prepared.plan.currency,
        )
        unknown = UnknownOutcome(write, prepared.tool.operation, prepared.plan.hold)
        self.duplicates.mark_sent(prepared.identity.key, unknown)

    def _remember_unknown(
        self, call: ToolCall, prepared: Prepared, error: FerryError | None
    ) -> None:
        """Register a write that may have happened."""
        call.correlation_id = (error and error.correlation_id) or call.correlation_id
        entry_id = error.entry_id if isinstance(error, OutcomeUnknownError) else None
        self.duplicates.mark_unknown(prepared.identity.key, call.correlation_id, entry_id)

    def _recover(
        self,
        call: ToolCall,
        write: AnyWrite,
        arguments: Arguments,
        identity: Identity,
        earlier: UnknownOutcome,
    ) -> ToolFlow:
        """Return the result of an earlier identical write, if its effect can be read now.

        A change goes on, within the limits that were approved: its order is resumed.
        """
        correlation_id = earlier.write.correlation_id
        half: OrderError | None = None
        effect = Invoke("recover", {"error": earlier.error})
        if isinstance(write, Replace):
            effect, call.is_sent = Invoke("orders.resume", identity.subject), True
        try:
            result = yield effect
        except FerryError as error:
            call.is_sent = False
            if not isinstance(error, OrderError) or error.outcome == "unknown":
                raise RefusedError("outcome_unknown", correlation_id=correlation_id) from None
            if error.order.parts[0].state == "cancelled":  # the booking was not changed
                self.settle(correlation_id, happened=False)
                raise RefusedError("not_changed") from None
            result, half = error.order, error
        with self._store.transaction():
            if isinstance(write, Replace):
                write.count(earlier.hold, identity.choice, result)
            if half is not None:
                return self._half_change(arguments, identity, half)
            return self._complete(arguments, identity, result, [])

    def _now(self) -> float:
        """Return the time by the service's clock, as its last replies showed it."""
        return time.time() + self._transport.session.skew
