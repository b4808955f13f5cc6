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
    """What one caller received."""

    value: Any = None
    error: BaseException | None = None
    seconds: float = 0.0
    attempts: tuple[Any, ...] | None = None


@dataclass(slots=True)
class Evidence:
    """All that is known of a schedule that was run."""

    subject: Subject
    outcomes: list[Outcome] = field(default_factory=list[Outcome])
    effects: tuple[Effect, ...] = ()
    passages: tuple[Passage, ...] = ()
    accepted: int = 0
    records: dict[str, str] | None = None
    records_after: dict[str, str] | None = None
    recovered: list[Outcome] = field(default_factory=list[Outcome])
    noise: list[str] = field(default_factory=list[str])
