"""Decide what a tool call does, as a generator that does no I/O.

The generator yields `Invoke` (call the client) and `CallHandler` (call the caller's `approve` or
`audit`); `Toolkit` and `AsyncToolkit` perform both. For example, ``bookings_get`` of ``b-1`` yields
``Invoke("bookings.get", {"booking_id": "b-1"})``, gets the `Booking`, remembers that its ids were
shown, and returns ``{"status": "done", "result": {"booking_id": "b-1", ...}}``. Every call yields
``CallHandler(audit, record)`` at its end.

A write passes these steps in this order:

1. Read the arguments, and refuse what can be refused without a request.
2. Register the write, so that a second call for the same write is refused from here on.
3. Read its price, and count the price against the limit before anybody is asked, so that two
   writes cannot both pass the limit.
4. Ask for approval. Then check again what may have changed while the person decided.
5. Send it. The client's own guards refuse a price or a penalty that has changed since.

For example, of an agent with a limit of 100 EUR that calls ``bookings_confirm`` of ``b-1``:

    Invoke("bookings.get", {"booking_id": "b-1"})      step 3: it costs 12.32 EUR, which are counted
    CallHandler(approve, ApprovalRequest(...))         step 4: a person agrees to 12.32 EUR
    Invoke("bookings.confirm", {..., "expect_total": Decimal("12.32"), "currency": "EUR"})   step 5
    CallHandler(audit, AuditRecord(...))               its outcome: done

`policy.writes` has the steps of a write in detail.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from typing import Any

from ferry_sdk._engine.correlation import next_correlation_id
from ferry_sdk._transport.async_ import AsyncTransport
from ferry_sdk._transport.sync import Transport
from ferry_sdk.agents.policy.answers import (
    TEXTS,
    Answer,
    RefusedError,
    done_answer,
    failure_answer,
    internal_error,
    unknown_answer,
)
from ferry_sdk.agents.policy.approval import ApprovalRequest, Approve, postpone
from ferry_sdk.agents.policy.audit import AuditRecord, Invoke, ToolCall, ToolEffect
from ferry_sdk.agents.policy.budget import Budget
from ferry_sdk.agents.policy.issuance import wait_for_tickets
from ferry_sdk.agents.policy.state import State
from ferry_sdk.agents.policy.trip_answers import (
    DAYS,
    Handles,
    check_days,
    find,
    read_handles,
    with_travellers,
)
from ferry_sdk.agents.policy.writes import PreviewFlow, ToolFlow, Writes
from ferry_sdk.agents.tools.tools import LIST, Arguments, Tool, ToolChoice, choose_tools
from ferry_sdk.agents.tools.views import view_of
from ferry_sdk.errors import FerryError, InvalidInputError
from ferry_sdk.models.tickets import Voucher


@dataclass(eq=False, repr=False)
class ToolRunner:
    """Run the tool calls of one toolkit; safe to share between threads and tasks.

    Attributes:
        transport: That of the client, for its settings and the service's clock.
        choice: Which tools are offered.
        may_write: Whether tools that change something are offered.
        approve: Approves writes; None: a confirmation code does.
        budget: What may be spent.
        audit: Gets the record of each call.
        store: Where the state is kept.
        travellers: The travellers by their handles; None: the agent gives their data.
        until: When the tools that change something end; None: never.
        writes: The tools that change something.
    """

    transport: Transport | AsyncTransport
    choice: ToolChoice
    may_write: bool
    approve: Approve | None
    budget: Budget
    audit: Callable[[AuditRecord], Any] | None
    store: State
    travellers: Handles | None
    until: datetime | None

    def __post_init__(self) -> None:
        self._chosen = choose_tools(self.choice, by_handle=self.travellers is not None)
        self.writes: Writes = Writes(self.store, self.budget, self._now, self.until)
        self._under_way: set[ToolCall] = set()

    @property
    def is_sending(self) -> bool:
        """Whether a write may be in progress, without a recorded outcome yet."""
        return any(call.is_sent for call in tuple(self._under_way))

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The available tools."""
        return tuple(tool for tool in self._chosen.values() if self._is_available(tool))

    def _is_available(self, tool: Tool) -> bool:
        settings = self.transport.settings
        if tool.is_read:
            return True
        if settings.read_only or not self.may_write:
            return False
        return not tool.needs_journal or hasattr(settings.journal, "save_order")

    def call(
        self, name: object, arguments: object, approve: Approve | str | None = None
    ) -> tuple[ToolFlow, str]:
        """Return the flow that answers a call, and the correlation id of its requests.

        The call is approved by its own approver or digest if it has one, else by the toolkit's
        approver.
        """
        if approve is None:
            approve = self.approve
        return self._start(name, arguments, approve)

    def preview(self, name: object, arguments: object) -> tuple[PreviewFlow, str]:
        """Start to find out what a person has to approve; a refusal is recorded and returned."""
        return self._start(name, arguments, postpone)

    def _start(
        self, name: object, arguments: object, approve: Approve | str | None
    ) -> tuple[Generator[ToolEffect, Any, Any], str]:
        call = ToolCall(self.transport.settings.correlation_id or next_correlation_id())
        flow = self._decide(call, name, arguments, approve)
        return self._track(call, flow), call.correlation_id

    def _track(self, call: ToolCall, flow: PreviewFlow) -> PreviewFlow:
        """Run a call, and record it however it ends; a request for an approval is no end."""
        self._under_way.add(call)
        try:
            answer = yield from self._handle_errors(call, flow)
        except GeneratorExit:
            raise
        except BaseException:
            yield from call.record(_interrupted_answer(call), self.audit)
            raise
        else:
            if not isinstance(answer, ApprovalRequest):
                yield from call.record(answer, self.audit)
            return answer
        finally:
            self._under_way.discard(call)

    def _handle_errors(self, call: ToolCall, flow: PreviewFlow) -> PreviewFlow:
        """Turn every error into an answer, except what the caller's `approve` raises.

        The approvers of the MCP server raise `RefusedError`, which is an answer, too.
        """
        try:
            return (yield from flow)
        except RefusedError as refusal:
            return refusal.answer
        except Exception as error:  # the agent gets every failure as data
            if error is call.approver_error:
                raise
            if call.is_sent:
                return unknown_answer(call.correlation_id)
            if isinstance(error, FerryError):
                return self._failure(error)
            return internal_error(error)

    def _failure(self, error: FerryError) -> Answer:
        """Return the answer for an error; that of a day says which day it is."""
        party = "passengers" if self.travellers is None else "travellers"
        answer = failure_answer(error, party)
        if answer["error"].get("field") in DAYS:
            answer["error"]["today"] = self._today().isoformat()
        return answer

    def _today(self) -> date:
        """Return the day by the service's clock, UTC."""
        return datetime.fromtimestamp(self._now(), UTC).date()

    def _decide(
        self, call: ToolCall, name: object, arguments: object, approve: Approve | str | None
    ) -> PreviewFlow:
        tool = self._find_tool(call, name)
        read = self._read_arguments(call, tool, arguments, by_code=approve is None)
        if tool.is_read and approve is postpone:
            raise RefusedError("read_needs_none")
        check_days(read.values, self._now())

        if not tool.is_read:
            return (yield from self.writes.perform(call, tool.operation, read, approve))
        if tool.name == LIST:
            return done_answer({"travellers": [*read_handles(self.travellers)]})
        return (yield from self._answer_read(tool, read))

    def _answer_read(self, tool: Tool, arguments: Arguments) -> ToolFlow:
        state = self.writes.state
        if tool.is_planned:
            search = find(tool.operation, arguments.values, state.known_ids, today=self._today)
            return (yield from search)

        notes: list[str] = []
        if arguments.wait:
            result, text = yield from wait_for_tickets(arguments.values, arguments.wait)
            notes.append(text)
        else:
            result = yield Invoke(tool.operation, arguments.values)
        if isinstance(result, Voucher) and result.url is None:
            notes.append(TEXTS["no_voucher"])

        view = view_of(result, arguments.detail, arguments.contains)
        state.remember(result, arguments.values, view)
        return done_answer(view, notes)

    def _find_tool(self, call: ToolCall, name: object) -> Tool:
        """Return the tool of this name, and record it as that of the call."""
        tool = self._chosen.get(name) if isinstance(name, str) else None
        if tool is None:
            raise RefusedError("unknown_tool")

        call.tool = tool.name
        if not self._is_available(tool):
            offers_writes = any(not available.is_read for available in self.tools)
            if tool.needs_journal and offers_writes:
                raise RefusedError("journal_needed")
            raise RefusedError("writes_disabled")
        return tool

    def _read_arguments(
        self, call: ToolCall, tool: Tool, arguments: object, *, by_code: bool
    ) -> Arguments:
        """Validate the arguments of a call, and record the ids in them."""
        validated = tool.read(arguments)
        values = validated.values
        if "travellers" in values:
            values = with_travellers(values, read_handles(self.travellers))
            validated = replace(validated, values=values)

        call.add_ids(**{name: values.get(name) for name in ("booking_id", "ticket_id", "id")})
        if validated.confirmation_code is not None and not by_code:
            raise InvalidInputError("there is no such argument", field="confirmation_code")
        return validated

    def _now(self) -> float:
        """Return the time by the service's clock, as its last replies showed it."""
        return time.time() + self.transport.session.skew


def _interrupted_answer(call: ToolCall) -> Answer:
    """Return what is recorded of a call that an interruption ended; nobody gets it."""
    if call.is_sent:
        return {"status": "unknown", "error": {"code": "interrupted", "outcome": "unknown"}}
    return {"status": "failed", "error": {"code": "interrupted", "outcome": "not_sent"}}
