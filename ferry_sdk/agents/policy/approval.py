"""Approval of writes: the request for a person, and codes where the toolkit cannot ask one.

A code is no proof of approval: an agent can give it back without having asked anybody.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any

from pydantic_core import to_jsonable_python

from ferry_sdk._runtime.money import format_amount
from ferry_sdk.agents.policy.answers import TEXTS, Answer, RefusedError
from ferry_sdk.agents.policy.state import State

VALID_FOR = 300.0
"""Seconds for which an approval is valid, by a code or not."""
_MAX_ENTRIES = 1000
"""How many codes, and how many refusals, are remembered."""
_MAX_REFUSALS = 2
"""How often a person may refuse a request before it is no longer put to them."""
_REFUSED_FOR = 600.0
"""Seconds for which a request is then not put to a person."""
_LETTERS = "BCDFGHJKLMNPQRSTVWXZ23456789"  # no vowels, so that a code spells no word


@dataclass(frozen=True, slots=True)
class ApprovalRequest:
    """A write that a person has to approve.

    Attributes:
        tool: The tool that was called.
        summary: What the write does, made from the service's data; it names no traveller.
        amount: The price, or the penalty that is kept.
        currency: The currency of `amount`.
        subject: The ids of what is changed or booked.
        expires_at: Until when an approval is valid, UTC.
        travellers: The travellers' names as the agent gave them, each in quotes; hidden in the
            repr.
        contact: The name, e-mail address and phone number of the contact, and the travellers'
            e-mail addresses, as the agent gave them, each in quotes; hidden in the repr.
        arguments_digest: A hash of all arguments that are sent.
    """

    tool: str
    summary: str
    amount: Decimal
    currency: str
    subject: Mapping[str, str] = field(hash=False)
    expires_at: datetime
    travellers: tuple[str, ...] = field(default=(), repr=False)
    contact: tuple[str, ...] = field(default=(), repr=False)
    arguments_digest: str = field(default="", repr=False)

    @property
    def digest(self) -> str:
        """A hash of the request, as 32 hexadecimal digits.

        It covers every field but `expires_at`, and with `arguments_digest` every argument. Store it
        with a person's answer, and compare it with the digest of the request that the answer is
        used for.
        """
        return digest_of({**asdict(self), "expires_at": None})


Approve = Callable[[ApprovalRequest], Any]
"""A function that approves writes."""


def postpone(_request: ApprovalRequest) -> bool:
    """Mark a call whose result is the request: a person answers later. It is never called."""
    return False


def digest_of(*values: object) -> str:
    """Return a hash that is equal for equal values, in every process."""
    canonical = json.dumps(to_jsonable_python(values), sort_keys=True).encode()
    return hashlib.blake2b(canonical, digest_size=16).hexdigest()


def approval_answer(request: ApprovalRequest, code: str) -> Answer:
    """Return the answer that holds a confirmation code."""
    return {
        "status": "approval_needed",
        "approval": {
            "summary": request.summary,
            "amount": format_amount(request.amount),
            "currency": request.currency,
            "confirmation_code": code,
            "expires_at": request.expires_at.isoformat(),
            "warning": TEXTS["warning"],
        },
    }


class Codes:
    """Confirmation codes that were issued and not used; safe to share between threads."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._pending = state.table("codes", tuple[str, float], _MAX_ENTRIES)

    def issue(self, binding: str, until: float) -> str:
        """Return a new code for a write at a price (`binding`), in place of an earlier one.

        It expires when the monotonic clock shows `until`.
        """
        code = "".join(secrets.choice(_LETTERS) for _ in range(10))
        self._pending[binding] = code, until
        return code

    def use(self, code: str, binding: str, now: float) -> None:
        """Use up a code, also if it turns out to be invalid.

        Raises:
            RefusedError: The code is wrong, used, expired, or issued for another write.
        """
        with self._state.transaction():
            ends = {
                bound: until
                for bound, (waiting, until) in self._pending.items()
                if hmac.compare_digest(waiting.encode(), code.encode())
            }
            for bound in ends:
                del self._pending[bound]
        until = ends.get(binding)
        # A stored code may be from before the machine started, and with it its clock.
        if until is None or not until - VALID_FOR <= now < until:
            raise RefusedError("code_invalid", field="confirmation_code")


class Refusals:
    """The requests that a person has refused; safe to share between threads."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._refused = state.table("refusals", tuple[int, float], _MAX_ENTRIES)

    def check(self, request: ApprovalRequest, now: float) -> None:
        """Refuse a request that a person has refused twice in the last ten minutes.

        Raises:
            RefusedError: They have; do not ask them.
        """
        if self._count(self._state.fingerprint(request.digest), now) >= _MAX_REFUSALS:
            raise RefusedError("declined_twice")

    def add(self, request: ApprovalRequest, now: float) -> None:
        """Record that a person refused a request when the monotonic clock showed `now`."""
        key = self._state.fingerprint(request.digest)
        with self._state.transaction():
            self._refused[key] = self._count(key, now) + 1, now + _REFUSED_FOR

    def clear(self) -> None:
        """Forget all refusals."""
        with self._state.transaction():
            self._refused.clear()

    def _count(self, key: str, now: float) -> int:
        count, until = self._refused.get(key, (0, 0.0))
        # A stored refusal may be from before the machine started, and with it its clock.
        return count if until - _REFUSED_FOR <= now < until else 0
