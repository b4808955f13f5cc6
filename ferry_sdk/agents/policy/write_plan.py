"""Plan a write: its identity, its price, and what a person is told about it."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from pydantic import JsonValue

from ferry_sdk.agents.policy.audit import Invoke
from ferry_sdk.agents.policy.budget import Budget, Hold
from ferry_sdk.agents.policy.duplicates import Duplicates
from ferry_sdk.agents.policy.known_ids import KnownIds
from ferry_sdk.agents.policy.state import State


class ToolkitState:
    """The state that the writes of a toolkit share.

    Attributes:
        known_ids: What was shown.
        budget: What was spent.
        duplicates: The writes made so far.
        now: The service's clock, in seconds since the epoch.
        fingerprint: Returns a hash that is equal for equal values; see `State.fingerprint`.
    """

    def __init__(self, state: State, budget: Budget, now: Callable[[], float]) -> None:
        self.known_ids: KnownIds = KnownIds(state)
        self.budget: Budget = budget
        self.duplicates: Duplicates = Duplicates(state, budget.release)
        self.now: Callable[[], float] = now
        self.fingerprint: Callable[..., str] = state.fingerprint

    def remember(self, result: object, values: Mapping[str, Any], view: JsonValue = None) -> None:
        """Remember the ids shown. Allow a booking that no longer exists to be made again."""
        shown = view if isinstance(view, dict) else None
        self.known_ids.remember(result, values, shown)

        booking = self.known_ids.booking_of(getattr(result, "ticket_id", ""))
        ended_booking = self.budget.give_back(result, booking)
        if ended_booking:
            self.duplicates.forget(ended_booking)


@dataclass(frozen=True, slots=True)
class Identity:
    """Identifies a write.

    Attributes:
        key: Equal for equal writes.
        subject: The ids of what it changes or books.
        target_id: The booking that it changes, else the ticket, else `key`.
        choice: What two equal writes may differ in, for a person: fare, place and vehicle.
    """

    key: str
    subject: Mapping[str, str]
    target_id: str
    choice: str = ""


def _stay_valid() -> Generator[Invoke, Any, None]:
    """Check nothing: the client's guards refuse the write if its price has changed."""
    yield from ()


@dataclass(frozen=True, slots=True)
class WritePlan:
    """A write that is ready to be approved and sent.

    Attributes:
        arguments: The arguments for the client's method, guards included.
        summary: What it does, for a person; made from the service's data.
        amount: The price, or the penalty that is kept.
        currency: The currency of `amount`.
        travellers: The travellers' names, each in quotes.
        contact: The contact's data and the travellers' e-mail addresses, each in quotes.
        count: Counts the amount, or refuses the write if it exceeds a limit.
        check: Refuses the write if it is no longer valid once a person has agreed.
        costs: The amounts for a person; see `ApprovalRequest`.
    """

    arguments: Mapping[str, Any] = field(repr=False)
    summary: str
    amount: Decimal
    currency: str
    count: Callable[[], Hold]
    travellers: tuple[str, ...] = field(default=(), repr=False)
    contact: tuple[str, ...] = field(default=(), repr=False)
    check: Callable[[], Generator[Invoke, Any, None]] = _stay_valid
    costs: Mapping[str, str] = field(default_factory=dict[str, str])


WritePlans = Generator[Invoke, Any, WritePlan]
"""A generator that reads what a plan needs, and returns the plan."""
