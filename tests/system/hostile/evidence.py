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
    """What became of a call.

    Attributes:
        call: The call.
        correlation_id: Its correlation id.
        intent: What makes two of its effects the same.
        subject: The id of what it was about; empty where it makes one.
        value: Its result; None where there was an error.
        error: The error, without the frames that it came through.
        traceback: What its traceback says.
        seconds: How long it took, less the time in which no core took it.
        exchanges: What the server read of it.
        effects: What was done in this call.
        state: How it stands in the journal; None without one, or where it is not there.
        again: What the same call gave, made once more when all was well; None where it was not.
        effects_after: How often it was done, all in all.
    """

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
    """All that is known of a run.

    Attributes:
        run: The run.
        outcomes: What became of its calls.
        secrets: What no error and no log may hold.
        log: What was logged.
        noise: Warnings, tasks left behind, failures that nobody caught.
        places: How many calls the client still made at a time.
        session: What a call in the MCP session gave in the end; None where none was made.
        standstill: Seconds for which the event loop stood still at the longest.
        grown: Bytes by which the process's memory grew at its highest.
    """

    run: Run
    outcomes: list[Outcome] = field(default_factory=list[Outcome])
    secrets: tuple[str, ...] = ()
    log: list[str] = field(default_factory=list)
    noise: list[str] = field(default_factory=list[str])
    places: int = 0
    session: Any = None
    standstill: float = 0.0
    grown: int = 0
