"""What is put on record of every call of a tool."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from decimal import Decimal
from typing import Literal

from pydantic import JsonValue

_ID = re.compile(r"[A-Za-z0-9_.:~|+/=-]{1,200}")  # and no address of a mail


@dataclass(frozen=True, slots=True)
class AuditRecord:
    """One call of a tool. No traveller's data, no token and no code is in it.

    Attributes:
        at: When it was over, UTC.
        tool: The tool; ``?`` where there is none of that name.
        status: As the answer says it: ``done``, ``approval_needed``, ``refused``, ``failed`` or
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
class Call:
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
    began: float = field(default_factory=time.monotonic)

    def names(self, **ids: object) -> None:
        """Keep the ids that it names; what does not look like one is not kept."""
        for name, value in ids.items():
            if isinstance(value, str):
                self.subject[name] = value if _ID.fullmatch(value) else "?"

    def record(self, answer: Mapping[str, JsonValue]) -> AuditRecord:
        """What is put on record of it, now that it is answered."""
        error = answer.get("error")
        said = error if isinstance(error, dict) else {}
        status = str(answer["status"])
        outcome = {"done": "done", "approval_needed": "not_sent"}.get(status)
        code = said.get("code")
        return AuditRecord(
            at=datetime.now(timezone.utc),
            tool=self.tool,
            status=status,
            code=None if code is None else str(code),
            outcome=outcome or str(said["outcome"]),
            subject=dict(self.subject),
            approval=self.approval,
            amount=self.amount,
            currency=self.currency,
            correlation_id=self.correlation_id,
            seconds=time.monotonic() - self.began,
        )
