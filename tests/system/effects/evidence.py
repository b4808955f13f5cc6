"""What is known of a schedule that was run: what the client said, and what really came about."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ferry_sdk.sandbox.counters import Effect
    from tests.support.cutting_harms import Passage

    from .calling import Subject


@dataclass(slots=True)
class Outcome:
    """What one caller received.

    Attributes:
        value: The result; None where there was an error.
        error: The error.
        seconds: How long it took.
        attempts: The record of attempts; None where a result came without it.
    """

    value: Any = None
    error: BaseException | None = None
    seconds: float = 0.0
    attempts: tuple[Any, ...] | None = None


@dataclass(slots=True)
class Evidence:
    """All that is known of a schedule that was run.

    Attributes:
        subject: What the call was about.
        outcomes: What each caller received.
        effects: What the service did, once everything was over.
        passages: What came through the proxy during the call.
        accepted: How many connections it accepted meanwhile.
        records: What is in the journal, by the id of its entry; None without one.
        records_after: The same once every unknown outcome was recovered, or was not.
        recovered: What the recovery of each unknown outcome gave.
        noise: Warnings, tasks left behind, failures that nobody caught.
    """

    subject: Subject
    outcomes: list[Outcome] = field(default_factory=list[Outcome])
    effects: tuple[Effect, ...] = ()
    passages: tuple[Passage, ...] = ()
    accepted: int = 0
    records: dict[str, str] | None = None
    records_after: dict[str, str] | None = None
    recovered: list[Outcome] = field(default_factory=list[Outcome])
    noise: list[str] = field(default_factory=list[str])
