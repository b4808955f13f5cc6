"""A tool call: what it asks its toolkit to do, its state, and its audit record."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Generator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Literal

from ferry_sdk._runtime.clock import monotonic

logger: logging.Logger = logging.getLogger("ferry_sdk")

_ID = re.compile(r"[A-Za-z0-9_.:~|+/=-]{1,200}")  # without @, so that no e-mail address matches


def looks_like_id(text: str) -> bool:
    """Return whether a text looks like an id, so that it may be shown to anybody."""
    return _ID.fullmatch(text) is not None


@dataclass(frozen=True, slots=True)
class Invoke:
    """Call a method of the client, such as ``bookings.get`` or ``recover``.

    `deadline` applies if it is shorter than the client's.
    """

    operation: str
    arguments: Mapping[str, Any] = field(repr=False)
    deadline: float | None = None


@dataclass(frozen=True, slots=True)
class CallHandler:
    """Call the caller's `approve` or `audit`; `AsyncToolkit` awaits the result if it can."""

    function: Callable[[Any], Any]
    argument: object


ToolEffect = Invoke | CallHandler


@dataclass(frozen=True, slots=True)
class AuditRecord:
    """One tool call, without travellers' data, tokens and confirmation codes.

    Attributes:
        at: When the call ended, UTC.
        tool: The tool; ``?`` if no tool has that name.
        status: The answer's status: ``done``, ``approval_needed``, ``refused``, ``failed`` or
            ``unknown``.
        code: The code of the error, if there is one.
        outcome: The effect of the call: ``done``, ``not_sent``, ``rejected`` or ``unknown``.
        subject: The ids in its arguments, and that of the booking that it made.
        approval: How a write is approved: ``callback``, by your function or by a form or a card of
            the host, or ``code``. None for a read, and for a write that was refused before.
        amount: The price or the penalty to approve.
        currency: The currency of `amount`.
        correlation_id: The id that all its requests carried.
        seconds: How long the call took.
    """

    at: datetime
    tool: str
    status: str
    code: str | None
    outcome: str
    subject: Mapping[str, str] = field(hash=False)
    approval: Literal["callback", "code"] | None
    amount: Decimal | None
    currency: str | None
    correlation_id: str
    seconds: float


@dataclass(slots=True, eq=False)
class ToolCall:
    """The state of a tool call in progress. Most fields are those of its `AuditRecord`.

    Attributes:
        is_sent: Whether the client was asked to send the write and did not report that it failed,
            or has read that an earlier call made it.
        approver_error: What the caller's `approve` raised; it is raised to the caller.
        started: When the call began, on the monotonic clock.
    """

    correlation_id: str
    tool: str = "?"
    subject: dict[str, str] = field(default_factory=dict[str, str])
    approval: Literal["callback", "code"] | None = None
    amount: Decimal | None = None
    currency: str | None = None
    is_sent: bool = False
    approver_error: Exception | None = None
    started: float = field(default_factory=monotonic)

    def add_ids(self, **ids: object) -> None:
        """Keep the ids in its arguments; a value that does not look like an id becomes ``?``."""
        for name, value in ids.items():
            if isinstance(value, str):
                self.subject[name] = value if looks_like_id(value) else "?"

    def record(
        self, answer: Mapping[str, Any], audit: Callable[[AuditRecord], Any] | None
    ) -> Generator[CallHandler, Any, None]:
        """Log the answered call, and hand its record to the caller's `audit`, if there is one."""
        status = answer["status"]
        answer_error = answer.get("error", {})
        outcome = "done" if status == "done" else "not_sent"
        entry = AuditRecord(
            at=datetime.now(UTC),
            tool=self.tool,
            status=status,
            code=answer_error.get("code"),
            outcome=answer_error.get("outcome", outcome),
            subject=dict(self.subject),
            approval=self.approval,
            amount=self.amount,
            currency=self.currency,
            correlation_id=self.correlation_id,
            seconds=monotonic() - self.started,
        )
        fields = {
            "operation": self.tool,
            "correlation_id": self.correlation_id,
            "outcome": entry.outcome,
        }
        logger.info(
            "tool %s: %s (correlation id %s)",
            self.tool,
            entry.code or status,
            self.correlation_id,
            extra=fields,
        )

        if audit is None:
            return
        try:
            yield CallHandler(audit, entry)
        except Exception as error:  # noqa: BLE001 -- a failed audit does not fail the call
            logger.error(  # noqa: TRY400 -- the traceback may hold what a log must not
                "the audit of tool %s failed: %s (correlation id %s)",
                self.tool,
                type(error).__name__,
                self.correlation_id,
                extra=fields,
            )
        except GeneratorExit:
            raise
        except BaseException:
            # The call's task was cancelled while `audit` ran: a second record is better than none.
            with suppress(Exception):
                yield CallHandler(audit, entry)
            raise
