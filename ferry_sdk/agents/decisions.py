"""One call of a tool as a generator without I/O: what may be done, who is asked, what is said.

It yields `Invoke` and `Ask`, and either toolkit performs them. What is cheap is refused first, and
a person is asked last. A write is begun before its price is read, so that it is begun once; what
it would cost is counted before anybody is asked, so that two writes cannot both pass a limit. What
a person took their time over is looked at again just before it is sent, and the client's own guards
refuse a price or a penalty that has changed since.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Generator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any

from pydantic import JsonValue

from ferry_sdk._engine.correlation import next_correlation_id
from ferry_sdk._transport.async_ import AsyncTransport
from ferry_sdk._transport.sync import Transport
from ferry_sdk.agents.policy.answers import Answer, RefusedError, failure, out_of_order, unknown
from ferry_sdk.agents.policy.approval import VALID_FOR, ApprovalRequest, Codes, approval_needed
from ferry_sdk.agents.policy.audit import AuditRecord, Call
from ferry_sdk.agents.policy.budget import Budget, Limits
from ferry_sdk.agents.policy.duplicates import Done, Doubt, Repeats, UnresolvedWrite
from ferry_sdk.agents.policy.known_ids import Seen
from ferry_sdk.agents.policy.writes import (
    AnyWrite,
    Ask,
    Effect,
    Facts,
    Identity,
    Invoke,
    Plan,
    all_writes,
)
from ferry_sdk.agents.tools.tools import TOOLS, Arguments, Tool
from ferry_sdk.errors import FerryError, InvalidInputError, OutcomeUnknownError
from ferry_sdk.models.bookings import Booking, BookingCancellation, BookingCreated
from ferry_sdk.models.enums import Stage
from ferry_sdk.types import RequestDigest

logger: logging.Logger = logging.getLogger("ferry_sdk")

Steps = Generator[Effect, Any, Answer]
Approve = Callable[[ApprovalRequest], Any]

READ_BACK = "The reply was lost, and the effect was then seen by reading it back."


@dataclass(frozen=True, slots=True)
class Prepared:
    """A write that is begun, with its price read and counted; nothing of it is sent."""

    tool: Tool
    arguments: Arguments
    write: AnyWrite
    identity: Identity
    plan: Plan
    request: ApprovalRequest
    until: float


class Desk:
    """Where a toolkit's calls are decided; safe between threads and tasks.

    Attributes:
        repeats: The writes that were made.
        clock: Monotonic seconds.
    """

    def __init__(
        self,
        transport: Transport | AsyncTransport,
        *,
        writes: bool,
        approve: Approve | None,
        spend_limit: Limits | None,
        penalty_limit: Limits | None,
        audit: Callable[[AuditRecord], Any] | None,
    ) -> None:
        self._transport = transport
        self._may_write = writes
        self._approve = approve
        self._audit = audit
        self._facts = Facts(Seen(), Budget(spend_limit, penalty_limit), self._now)
        self._writes = all_writes(self._facts)
        self._codes = Codes()
        self.repeats: Repeats = Repeats()
        self.clock: Callable[[], float] = time.monotonic
        self._under_way: set[Call] = set()

    @property
    def by_code(self) -> bool:
        """Whether a write is approved by a code."""
        return self._approve is None

    @property
    def is_sending(self) -> bool:
        """Whether a write may be on its way, and its outcome is not on record yet."""
        return any(call.is_sent for call in tuple(self._under_way))

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools that may be called."""
        may_write = self._may_write and not self._transport.settings.read_only
        return tuple(tool for tool in TOOLS.values() if may_write or tool.safety.is_read)

    def begun(self) -> Call:
        """A call that begins now, under the client's own correlation id, or a new one."""
        return Call(self._transport.settings.correlation_id or next_correlation_id())

    def settle(self, correlation_id: str, *, happened: bool) -> None:
        """Take it from a person whether a write in doubt happened.

        A booking that was made is nobody's until it is shown, and is counted when it is paid.
        """
        for doubt in self.repeats.settle(correlation_id, happened=happened):
            is_made = doubt.write.tool == "bookings_create"
            if doubt.hold is not None and (is_made or not happened):
                self._facts.budget.release(doubt.hold)

    def call(
        self, call: Call, name: object, arguments: object, approve: Approve | None = None
    ) -> Steps:
        """Answer a call, by an approver of its own or as the toolkit's maker said."""
        return self._on_record(call, self._decided(call, name, arguments, approve or self._approve))

    def preview(
        self, call: Call, name: object, arguments: object
    ) -> Generator[Effect, Any, ApprovalRequest | Answer]:
        """What somebody would have to agree to; a refusal, which goes on record, if it is one."""
        shown: list[ApprovalRequest] = []
        answer = yield from self._safely(call, self._shown(call, name, arguments, shown))
        if shown:
            return shown[0]
        yield from self._told(call, answer)
        return answer

    def _shown(
        self, call: Call, name: object, arguments: object, shown: list[ApprovalRequest]
    ) -> Steps:
        tool, read = self._read(call, name, arguments, by_code=False)
        if tool.safety.is_read:
            raise RefusedError("invalid_arguments", "a read needs no approval")
        prepared = yield from self._prepared(call, tool, read)
        if isinstance(prepared, Prepared):
            self._drop(prepared)
            shown.append(prepared.request)
            return {}
        return prepared

    def _on_record(self, call: Call, steps: Steps) -> Steps:
        self._under_way.add(call)
        try:
            return (yield from self._recorded(call, steps))
        finally:
            self._under_way.discard(call)

    def _recorded(self, call: Call, steps: Steps) -> Steps:
        try:
            answer = yield from self._safely(call, steps)
        except GeneratorExit:
            raise
        except BaseException:
            outcome = "unknown" if call.is_sent else "not_sent"
            stopped: Answer = {
                "status": "unknown" if call.is_sent else "failed",
                "error": {"code": "interrupted", "outcome": outcome},
            }
            yield from self._told(call, stopped)
            raise
        yield from self._told(call, answer)
        return answer

    def _safely(self, call: Call, steps: Steps) -> Steps:
        """The answer, whatever went wrong."""
        try:
            return (yield from steps)
        except RefusedError as refusal:
            return refusal.answer()
        except Exception as error:  # an agent gets data, whatever was wrong
            if error is call.approver_error:
                raise
            if isinstance(error, FerryError):
                return failure(error)
            return self._in_doubt(call) if call.is_sent else out_of_order(error)

    def _told(self, call: Call, answer: Answer) -> Generator[Ask, Any, None]:
        record = call.record(answer)
        logger.info(
            "tool %s: %s (correlation id %s)",
            record.tool,
            record.code or record.status,
            record.correlation_id,
        )
        if self._audit is None:
            return
        try:
            yield Ask(self._audit, record)
        except Exception as error:  # noqa: BLE001 -- a sink's failure is not the call's
            logger.error(  # noqa: TRY400 -- its traceback may hold what a log must not
                "the audit of tool %s failed: %s (correlation id %s)",
                record.tool,
                type(error).__name__,
                record.correlation_id,
            )
        except GeneratorExit:
            raise
        except BaseException:
            # Its task was cancelled meanwhile: told twice is better than not at all.
            with suppress(Exception):
                yield Ask(self._audit, record)
            raise

    def _decided(
        self, call: Call, name: object, arguments: object, approve: Approve | None
    ) -> Steps:
        tool, read = self._read(call, name, arguments, by_code=approve is None)
        if tool.safety.is_read:
            result = yield Invoke(tool.operation, read.values)
            view = tool.shown(result, read.detail, read.contains)
            self._learn(result, read.values, view)
            return {"status": "done", "result": view}
        prepared = yield from self._prepared(call, tool, read)
        if not isinstance(prepared, Prepared):
            return prepared
        try:
            needed = yield from self._approval(call, prepared, approve)
            prepared.plan.check()
        except BaseException:
            self._drop(prepared)
            raise
        if needed is not None:
            self._drop(prepared)
            return needed
        return (yield from self._sent(call, prepared))

    def _read(
        self, call: Call, name: object, arguments: object, *, by_code: bool
    ) -> tuple[Tool, Arguments]:
        tool = TOOLS.get(name) if isinstance(name, str) else None
        if tool is None:
            raise RefusedError("unknown_tool", "there is no tool of this name")
        call.tool = tool.name
        if tool not in self.tools:
            raise RefusedError("writes_disabled", "this changes something, and only reading is on")
        read = tool.read(arguments)
        call.names(**{key: read.values.get(key) for key in ("booking_id", "ticket_id", "id")})
        if read.code is not None and not by_code:
            raise InvalidInputError("there is no such argument", field="confirmation_code")
        return tool, read

    def _prepared(
        self, call: Call, tool: Tool, arguments: Arguments
    ) -> Generator[Effect, Any, Prepared | Answer]:
        """The write, begun; its answer where it may have happened before."""
        write = self._writes[tool.operation]
        identity = write.identity(arguments.values)
        call.names(**identity.subject)
        doubt = self.repeats.begin(identity.key, identity.whose)
        if doubt is not None:
            return (yield from self._recovered(tool, arguments, identity, doubt))
        try:
            plan = yield from write.planned(arguments.values, identity)
        except BaseException:
            self.repeats.left(identity.key)
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
        )
        until = self.clock() + VALID_FOR
        return Prepared(tool, arguments, write, identity, plan, request, until)

    def _drop(self, prepared: Prepared) -> None:
        """Nothing of it was done."""
        if prepared.plan.hold is not None:
            self._facts.budget.release(prepared.plan.hold)
        self.repeats.left(prepared.identity.key)

    def _approval(
        self, call: Call, prepared: Prepared, approve: Approve | None
    ) -> Generator[Ask, Any, Answer | None]:
        """None where it is approved, else the answer that asks for it."""
        request = prepared.request
        if approve is None:
            call.approval = "code"
            binding = self._facts.fingerprint(
                request.tool,
                prepared.arguments.values,
                str(request.amount),
                request.currency,
                request.summary,
            )
            if prepared.arguments.code is None:
                return approval_needed(request, self._codes.issue(binding, prepared.until))
            self._codes.use(prepared.arguments.code, binding, self.clock())
            return None
        call.approval = "callback"
        try:
            said = yield Ask(approve, request)
        except RefusedError:
            raise
        except Exception as error:
            # It may be what suspends the caller's framework, such as LangGraph's interrupt().
            call.approver_error = error
            raise
        if said is not True:
            raise RefusedError("declined", "it was not approved")
        if self.clock() >= prepared.until:
            raise RefusedError("approval_expired", "the approval came too late")
        return None

    def _sent(self, call: Call, prepared: Prepared) -> Steps:
        tool = prepared.tool
        call.is_sent = True
        try:
            result = yield Invoke(tool.operation, prepared.plan.arguments)
            notes = prepared.write.concluded(prepared.plan, result)
            return self._done(tool, prepared.arguments, prepared.identity, result, notes)
        except FerryError as error:
            if error.outcome != "unknown":
                call.is_sent = False
                self._drop(prepared)
                raise
            self._doubted(call, prepared, error)
            return self._in_doubt(call)
        except BaseException:
            self._doubted(call, prepared, None)
            raise

    def _done(
        self, tool: Tool, arguments: Arguments, identity: Identity, result: object, notes: list[str]
    ) -> Answer:
        made = result.booking_id if isinstance(result, BookingCreated) else None
        self.repeats.done(identity.key, Done(tool.shown(result, "short"), made))
        self._learn(result, arguments.values)
        if getattr(result, "read_back", False):
            notes = [*notes, READ_BACK]
        answer: Answer = {"status": "done", "result": tool.shown(result, arguments.detail)}
        return {**answer, "notes": [*notes]} if notes else answer

    def _doubted(self, call: Call, prepared: Prepared, error: FerryError | None) -> None:
        """Remember that it may have happened, and how its effect is read back."""
        call.correlation_id = (error and error.correlation_id) or call.correlation_id
        if not isinstance(error, OutcomeUnknownError):
            error = OutcomeUnknownError(
                f"{prepared.tool.operation} may have happened",
                request=RequestDigest("POST", "", ""),
                subject=prepared.identity.subject,
            )
            error.operation = prepared.tool.operation
            error.correlation_id = call.correlation_id
        write = UnresolvedWrite(
            tool=prepared.tool.name,
            subject=prepared.identity.subject,
            correlation_id=call.correlation_id,
            at=datetime.now(timezone.utc),
            amount=prepared.plan.amount,
            currency=prepared.plan.currency,
        )
        self.repeats.doubted(prepared.identity.key, Doubt(write, error, prepared.plan.hold))

    def _in_doubt(self, call: Call) -> Answer:
        return unknown("it may have happened, and nobody knows yet", call.correlation_id)

    def _recovered(
        self, tool: Tool, arguments: Arguments, identity: Identity, doubt: Doubt
    ) -> Steps:
        """The result of the same write, made earlier, if its effect is seen by now."""
        try:
            result = yield Invoke("recover", {"error": doubt.error})
        except FerryError:
            raise RefusedError(
                "outcome_unknown",
                "the same may have happened already, and was not sent again",
                correlation_id=doubt.write.correlation_id,
            ) from None
        return self._done(tool, arguments, identity, result, [])

    def _learn(self, result: object, asked: dict[str, Any], view: JsonValue = None) -> None:
        """Remember what is shown; what made a booking that is no more may be done again."""
        self._facts.seen.learn(result, asked, view if isinstance(view, dict) else None)
        if isinstance(result, BookingCancellation) or (
            isinstance(result, Booking) and result.stage in {Stage.VOIDED, Stage.LAPSED}
        ):
            self.repeats.forget(result.booking_id)

    def _now(self) -> float:
        """The service's clock, as far as its replies have told."""
        return time.time() + self._transport.shared.session.skew
