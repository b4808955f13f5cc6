"""A person's yes: what they are asked, and the codes that stand for it where nobody can be asked.

A code is a speed bump, not a proof: an agent that is told a code can give it back without having
asked anybody.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal

from ferry_sdk.agents.policy.answers import Answer, RefusedError
from ferry_sdk.agents.tools.views import format_amount

VALID_FOR = 300.0
"""Seconds in which an approval is good, given by a code or not."""
_MAX_CODES = 1000
_LETTERS = "BCDFGHJKLMNPQRSTVWXZ23456789"  # no vowels: a code spells no word

WARNING = (
    "Show the summary to the user and call again with this code only after they have agreed. "
    "The code is no proof that they were asked."
)


@dataclass(frozen=True, slots=True)
class ApprovalRequest:
    """A write that somebody has to agree to.

    Attributes:
        tool: The tool that was called.
        summary: What would be done, made of what the service said; it names no traveller.
        amount: What would be paid, or kept as a penalty.
        currency: Its currency.
        subject: The ids of what would be changed, or booked.
        expires_at: Until when a yes is good, UTC.
        travellers: The travellers' names as the agent gave them, each in quotes; they do not
            show in the repr.
    """

    tool: str
    summary: str
    amount: Decimal
    currency: str
    subject: Mapping[str, str] = field(hash=False)
    expires_at: datetime
    travellers: tuple[str, ...] = field(default=(), repr=False)

    @property
    def digest(self) -> str:
        """What is asked, as 32 hexadecimal digits; a question about anything else has another.

        It covers all that is shown, and not the time. Let a stored or a replayed answer carry the
        digest of the question that it answers, and compare the two.
        """
        asked = [
            self.tool,
            self.summary,
            str(self.amount),
            self.currency,
            dict(self.subject),
            self.travellers,
        ]
        canonical = json.dumps(asked, sort_keys=True).encode()
        return hashlib.blake2b(canonical, digest_size=16).hexdigest()


def approval_answer(request: ApprovalRequest, code: str) -> Answer:
    """The answer that hands out a code."""
    return {
        "status": "approval_needed",
        "approval": {
            "summary": request.summary,
            "amount": format_amount(request.amount),
            "currency": request.currency,
            "confirmation_code": code,
            "expires_at": request.expires_at.isoformat(),
            "warning": WARNING,
        },
    }


class Codes:
    """Codes that are waiting to be given back; safe between threads."""

    def __init__(self) -> None:
        self._pending: OrderedDict[str, tuple[str, float]] = OrderedDict()
        self._lock = threading.Lock()

    def issue(self, binding: str, until: float) -> str:
        """A new code for a write at a price; an earlier one for the same is no longer good.

        Args:
            binding: What it is for.
            until: How long it is good, on the monotonic clock.
        """
        code = "".join(secrets.choice(_LETTERS) for _ in range(10))
        with self._lock:
            self._pending[binding] = code, until
            while len(self._pending) > _MAX_CODES:
                self._pending.popitem(last=False)
        return code

    def use(self, code: str, binding: str, now: float) -> None:
        """Take a code back; whatever comes of it, it is used.

        Args:
            code: What was given back.
            binding: What it is to be for.
            now: The monotonic clock.

        Raises:
            RefusedError: It is not one, was used, has expired, or is for something else.
        """
        with self._lock:
            found = [
                (bound, until)
                for bound, (waiting, until) in self._pending.items()
                if hmac.compare_digest(waiting.encode(), code.encode())
            ]
            for bound, _ in found:
                del self._pending[bound]
        if not any(hmac.compare_digest(bound, binding) and now < until for bound, until in found):
            raise RefusedError(
                "code_invalid",
                "the code is wrong, was used, has expired, or is for other arguments or another "
                "price",
                field="confirmation_code",
            )
