"""What is put on record of every call of a tool."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timezone
from decimal import Decimal
from typing import Any, Literal

from pydantic import JsonValue

from ferry_sdk.agents.policy.effects import CallHandler

logger: logging.Logger = logging.getLogger("ferry_sdk")

_ID = re.compile(r"[A-Za-z0-9_.:~|+/=-]{1,200}")  # and no address of a mail


@dataclass(frozen=True, slots=True)
class AuditRecord:
    """One call of a tool. No traveller's data, no token and no code is in it.

    Attributes:
        at: When it was over, UTC.
        tool: The tool; ``?`` where there is none of that name.
        status: As the answer says it: ``done``, ``approval_answer``, ``refused``, ``failed`` or
            ``unknown``.
        code: The error's code; None where there is none.
        outcome: What became of it: ``done``, ``not_sent``, ``rejected`` or ``unknown``.
        subject: The ids that it named.
        approval: How a write was, or was to be, approved; None for a read, and where it did not
            come to that.
        amount: The price or the penalty that was approved, or was to be.
        currency: Its currency.
        correlation_id: The id that all its requests carried.
        seconds: How long it took.
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
    """What is known of a call so far.

    Attributes:
        correlation_id: The id of all its requests.
        tool: The tool's name.
        subject: The ids that it names.
        approval: How it is approved.
        amount: The price or the penalty.
        currency: Its currency.
        is_sent: Whether the write was handed to the client and is not known to have failed.
        approver_error: What the approver raised; it is the caller's own, and reaches the caller.
        began: When, on the monotonic clock.
    """

    correlation_id: str
    tool: str = "?"
    subject: dict[str, str] = field(default_factory=dict[str, str])
    approval: Literal["callback", "code"] | None = None
    amount: Decimal | None = None
    currency: str | None = None
    is_sent: bool = False
    approver_error: Exception | None = None
    started: float = field(default_factory=time.monotonic)

    def add_ids(self, **ids: object) -> None:
        """Keep the ids that it names; what does not look like one is not kept."""
        for name, value in ids.items():
            if isinstance(value, str):
                self.subject[name] = value if _ID.fullmatch(value) else "?"

    def record(self, answer: Mapping[str, JsonValue]) -> AuditRecord:
        """What is put on record of it, now that it is answered."""
        error = answer.get("error")
        details = error if isinstance(error, dict) else {}
        status = str(answer["status"])
        outcome = {"done": "done", "approval_needed": "not_sent"}.get(status)
        code = details.get("code")
        return AuditRecord(
            at=datetime.now(timezone.utc),
            tool=self.tool,
            status=status,
            code=None if code is None else str(code),
            outcome=outcome or str(details["outcome"]),
            subject=dict(self.subject),
            approval=self.approval,
            amount=self.amount,
            currency=self.currency,
            correlation_id=self.correlation_id,
            seconds=time.monotonic() - self.started,
        )


def record(
    entry: AuditRecord, audit: Callable[[AuditRecord], Any] | None
) -> Generator[CallHandler, Any, None]:
    """Log a call, and hand its record to the caller's `audit`, if there is one."""
    logger.info(
        "tool %s: %s (correlation id %s)",
        entry.tool,
        entry.code or entry.status,
        entry.correlation_id,
    )
    if audit is None:
        return
    try:
        yield CallHandler(audit, entry)
    except Exception as error:  # noqa: BLE001 -- a failed audit does not fail the call
        logger.error(  # noqa: TRY400 -- the traceback may hold what a log must not
            "the audit of tool %s failed: %s (correlation id %s)",
            entry.tool,
            type(error).__name__,
            entry.correlation_id,
        )
    except GeneratorExit:
        raise
    except BaseException:
        # The call's task was cancelled while `audit` ran: a second record is better than none.
        with suppress(Exception):
            yield CallHandler(audit, entry)
        raise
