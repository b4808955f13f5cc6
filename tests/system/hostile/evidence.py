"""What is known of a run when it is over."""

from __future__ import annotations

import traceback
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .runs import Call, Run
    from .server import Exchange
    from .service import Effect


@dataclass(slots=True)
class Outcome:
    """What became of a call."""

    call: Call
    correlation_id: str
    intent: tuple[str, str]
    subject: str
    value: Any = None
    error: BaseException | None = None
    traceback: str = ""
    seconds: float = 0.0
    exchanges: list[Exchange] = field(default_factory=list)
    effects: list[Effect] = field(default_factory=list)
    state: str | None = None
    again: Any = None
    effects_after: int = 0

    def set_error(self, error):
        """Keep the error, and nothing alive that it came through."""
        self.traceback = "".join(traceback.format_exception(error))
        self.error = error.with_traceback(None)
        self.error.__context__ = None


@dataclass(slots=True)
class Evidence:
    """All that is known of a run."""

    run: Run
    outcomes: list[Outcome] = field(default_factory=list[Outcome])
    secrets: tuple[str, ...] = ()
    log: list[str] = field(default_factory=list)
    noise: list[str] = field(default_factory=list[str])
    places: int = 0
    session: Any = None
    standstill: float = 0.0
    grown: int = 0
