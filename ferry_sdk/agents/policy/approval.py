"""Approval of writes: the request for a person, and codes where the toolkit cannot ask one.

A code is no proof of approval: an agent can give it back without having asked anybody. For example:

1. The first call of ``bookings_confirm`` returns the summary "Confirm and pay 12.32 EUR: ..." and
   the code ``KTRWP4M9XB``, which `Codes` has bound to this write at this price.
2. The second call, with the code, uses it up, and the write is sent. If the price has changed in
   between, the code is for another request and is refused.

Every write calls `Approvals.ask`. `Refusals` counts the questions that a person has not approved,
so that an agent cannot wear them down by asking again.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from collections.abc import Callable, Generator, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, Literal

from pydantic_core import to_jsonable_python

from ferry_sdk._runtime.clock import monotonic
from ferry_sdk._runtime.money import format_amount
from ferry_sdk.agents.policy.answers import TEXTS, Answer, RefusedError
from ferry_sdk.agents.policy.audit import CallHandler, ToolCall
from ferry_sdk.agents.policy.state import State
from ferry_sdk.agents.policy.write_plan import WritePlan
from ferry_sdk.agents.tools.sanitize import name_key

VALID_FOR = 300.0
"""Seconds for which an approval is valid, by a code or not."""
_MAX_ENTRIES = 1000
"""How many codes, and how many refusals, are remembered."""
_MAX_REFUSALS = 2
"""How often a person may refuse a question before it is no longer put to them."""
_MAX_QUESTIONS = 10
"""How many questions of one tool may be put to a person without their approval."""
_REMEMBERED_FOR = 600.0
"""Seconds for which a question and its refusals count."""
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
        costs: The amounts for a person, such as ``{"Kept": "5.00 EUR", "Paid back": "20.00 EUR"}``:
            ``Price``, ``Kept`` and ``Paid back``, each if the write has it.
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
    costs: Mapping[str, str] = field(default_factory=dict[str, str], hash=False)

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
ApprovalWay = Literal["auto", "card", "form", "code", "none"]
"""How the MCP server asks a person; ``auto``: by the best way that the host has."""


def postpone(_request: ApprovalRequest) -> bool:
    """Mark a call whose result is the request: a person answers later. It is never called."""
    return False


def refuse(_request: ApprovalRequest) -> bool:
    """Mark a call that nobody can approve, because nobody can be asked. It is never called."""
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
            ends: dict[str, float] = {}
            for bound, (issued_code, until) in self._pending.items():
                if hmac.compare_digest(issued_code.encode(), code.encode()):
                    ends[bound] = until
            for bound in ends:
                del self._pending[bound]

        end = ends.get(binding)
        # A stored code may be from before the machine started, and with it its clock.
        if end is None or not end - VALID_FOR <= now < end:
            raise RefusedError("code_invalid", field="confirmation_code")


class Refusals:
    """The questions that a person has not approved; safe to share between threads.

    Two requests are the same question if a person sees the same: the ids of a new search make no
    new question, nor does another spelling of a name. An agent that varies what is seen, such as
    the sailing, meets the limit of its tool.
    """

    def __init__(self, state: State) -> None:
        self._state = state
        self._refused = state.table("refusals", tuple[int, float], _MAX_ENTRIES)
        # Of each tool the questions that were put, and until when they count.
        self._open = state.table("open_questions", dict[str, float], _MAX_ENTRIES)

    def check(self, request: ApprovalRequest, now: float) -> None:
        """Refuse a request that must not be put to a person when the clock shows `now`.

        Raises:
            RefusedError: They refused the same question twice in the last ten minutes, or approved
                none of `_MAX_QUESTIONS` others of this tool.
        """
        question = self._question(request)
        if self._count(question, now) >= _MAX_REFUSALS:
            raise RefusedError("declined_twice")

        others = self._open_questions(request.tool, now).keys() - {question}
        if len(others) >= _MAX_QUESTIONS:
            raise RefusedError("too_many_questions", len(others))

    def put(self, request: ApprovalRequest, now: float) -> None:
        """Record that a request is put to a person, if it may be.

        Raises:
            RefusedError: As of `check`.
        """
        with self._state.transaction():
            self.check(request, now)
            questions = self._open_questions(request.tool, now)
            questions[self._question(request)] = now + _REMEMBERED_FOR
            self._open[request.tool] = questions

    def approve(self, request: ApprovalRequest, now: float) -> None:
        """Record that a person approved a request: its question no longer counts."""
        with self._state.transaction():
            questions = self._open_questions(request.tool, now)
            questions.pop(self._question(request), None)
            self._open[request.tool] = questions

    def add(self, request: ApprovalRequest, now: float) -> None:
        """Record that a person refused a request when the monotonic clock showed `now`."""
        key = self._question(request)
        with self._state.transaction():
            self._refused[key] = self._count(key, now) + 1, now + _REMEMBERED_FOR

    def clear(self) -> None:
        """Forget all refusals and questions."""
        with self._state.transaction():
            self._refused.clear()
            self._open.clear()

    def _question(self, request: ApprovalRequest) -> str:
        """Identify what a person sees of a request."""
        return self._state.fingerprint(
            request.tool,
            request.summary,
            request.amount,
            request.currency,
            sorted(name_key(name) for name in request.travellers),
            sorted(text.casefold() for text in request.contact),
        )

    def _count(self, key: str, now: float) -> int:
        count, until = self._refused.get(key, (0, 0.0))
        return count if _still_counts(until, now) else 0

    def _open_questions(self, tool: str, now: float) -> dict[str, float]:
        questions = self._open.get(tool, {})
        return {key: until for key, until in questions.items() if _still_counts(until, now)}


def _still_counts(until: float, now: float) -> bool:
    # A stored moment may be from before the machine started, and with it its clock.
    return until - _REMEMBERED_FOR <= now < until


def approval_request(tool: str, plan: WritePlan, subject: Mapping[str, str]) -> ApprovalRequest:
    """Return the request for the approval of a planned write; it is valid from now on."""
    return ApprovalRequest(
        tool=tool,
        summary=plan.summary,
        amount=plan.amount,
        currency=plan.currency,
        subject=subject,
        expires_at=datetime.now(UTC) + timedelta(seconds=VALID_FOR),
        travellers=plan.travellers,
        contact=plan.contact,
        arguments_digest=digest_of(plan.arguments),
        costs=plan.costs,
    )


class Approvals:
    """The approvals of a toolkit's writes; safe to share between threads.

    Attributes:
        refusals: The questions that a person has not approved.
        clock: A monotonic clock, in seconds.
    """

    def __init__(self, state: State) -> None:
        self.clock: Callable[[], float] = monotonic
        self.refusals: Refusals = Refusals(state)
        self._codes = Codes(state)
        self._fingerprint = state.fingerprint

    def ask(
        self,
        call: ToolCall,
        request: ApprovalRequest,
        approve: Approve | str | None,
        *,
        code: str | None,
    ) -> Generator[CallHandler, Any, ApprovalRequest | Answer | None]:
        """Return None if a write is approved, else what a person has to approve.

        Args:
            call: The call that makes the write.
            request: What a person has to approve.
            approve: A function that asks a person; the digest of the request that they have
                approved before; `postpone` to return the request; `refuse`; or None to use codes.
            code: The confirmation code of the call.

        Raises:
            RefusedError: The write is not approved.
        """
        if approve is postpone:
            self.refusals.check(request, self.clock())
            return request

        if approve is refuse:
            raise RefusedError("nobody_to_ask")

        if approve is None:
            call.approval = "code"
            return self._use_code(request, code, self.clock())

        call.approval = "callback"
        if isinstance(approve, str):
            if approve != request.digest:
                raise RefusedError("other_request")
            self.refusals.approve(request, self.clock())
            return None

        yield from self._ask_person(call, request, approve)
        return None

    def _use_code(self, request: ApprovalRequest, code: str | None, now: float) -> Answer | None:
        """Return None if a code approves a request; without one, the answer that holds a code."""
        binding = self._fingerprint(request.digest)
        if code is None:
            return approval_answer(request, self._codes.issue(binding, now + VALID_FOR))
        self._codes.use(code, binding, now)
        return None

    def _ask_person(
        self, call: ToolCall, request: ApprovalRequest, approve: Approve
    ) -> Generator[CallHandler, Any, None]:
        """Ask a person, and record their answer.

        Raises:
            RefusedError: They decline, must not be asked again, or answer too late.
        """
        until = self.clock() + VALID_FOR
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
