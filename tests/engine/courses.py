"""One course of a write: the result of each effect of its flow is chosen by the test."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ferry_sdk import (
    ConfigurationError,
    ConnectionFailedError,
    FerryError,
    JournalError,
    RequestTimeoutError,
    UnresolvedWriteError,
)
from ferry_sdk._engine.context import Context, Session
from ferry_sdk._engine.effects import CallUser, Exclusive, RunBlocking, Send, Sleep
from ferry_sdk._engine.flow import run
from ferry_sdk._engine.settings import Secret
from ferry_sdk._transport.single_flight import SharedCall
from tests.engine.kinds import GUARDS, SEEN, UNSEEN, answer, answer_of_another, describe_call, path
from tests.engine.recorder import Notes, entry
from tests.engine.replies import good, reply
from tests.support.driven import SETTINGS

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.engine.choices import Choices
    from tests.engine.kinds import Kind

BEGAN = 1e9
"""When a course begins: so far ahead of the machine's clock that no real wait comes to its end."""
LATENCY = 0.25
REFUSALS = ("409", "429", "401")
STATUS = {"done": 200, "unreadable": 200, "another": 200, "gone": 404}
DOUBTS = ("503", "408", "lost", "unreadable")


class Cancelled(BaseException):
    """The task is cancelled here, in whatever way its event loop does it."""


class Record(Notes):
    """A journal that may fail before or after its work, or know the same write already."""

    def __init__(self, course):
        super().__init__()
        self._course = course

    def begin(self, intent):
        """Record an intent."""
        came = self._course.choose("kept", "not kept", "kept unsaid", "known", "known and done")
        if came.startswith("known"):
            self._course.is_known = True
            self._course.effects += came.endswith("done")
            self.states["entry-7"] = "unknown"
            raise UnresolvedWriteError(entry(intent.operation, **intent.subject))
        self._fail_if(came == "not kept")
        entry_id = super().begin(intent)
        self._fail_if(came == "kept unsaid")
        return entry_id

    def end(self, entry_id, state, details=None):
        """Record an outcome; an entry that is done stays done."""
        came = self._course.choose("kept", "not kept", "kept unsaid")
        self._fail_if(came == "not kept")
        if self.states[entry_id] != "done":
            super().end(entry_id, state, details)
        self._fail_if(came == "kept unsaid")

    def _fail_if(self, fails):
        if fails:
            self._course.is_record_troubled = True
            raise JournalError("no disk")


@dataclass
class Course:
    """What happens to one call.

    Args:
        kind: How it is made.
        choices: What is chosen.
        stops: How often it may be interrupted, at the most.
        interruption: By what.
        stops_at_clock: Whether it may be interrupted wherever it asks for the time.

    Attributes:
        effects: How often the service has done it.
        said: Of each time it was sent, whether it left, the status of the reply, and whether the
            service refused it so that the caller knows.
        is_stopped: Whether it was interrupted.
        is_joined: Whether another call's request for the same was joined.
        is_other_in_doubt: Whether that may have happened, as far as the caller can know.
        is_known: Whether the same write was on record and unresolved.
        was_done: Whether the service had done it before this call.
        is_record_troubled: Whether the journal failed, was late, or was interrupted.
        is_past_guard: Whether what is read from now on looks for the effect.
        now: What the monotonic clock says.
        went: What was chosen.
        later: What blocking work is done when nobody waits for it any more.
    """

    kind: Kind
    choices: Choices
    stops: int
    interruption: type[BaseException]
    stops_at_clock: bool = False
    effects: int = 0
    said: list[tuple[bool, int | None, bool]] = field(default_factory=list)
    is_stopped: bool = False
    is_joined: bool = False
    is_other_in_doubt: bool = False
    is_known: bool = False
    was_done: bool = False
    is_record_troubled: bool = False
    is_past_guard: bool = False
    now: float = BEGAN
    went: list[str] = field(default_factory=list)
    later: list[Callable[[], object]] = field(default_factory=list)

    def __post_init__(self):
        random.seed(0)  # of the pauses, which a course taken again has to repeat
        self.journal = Record(self) if self.kind.has_journal else None
        self.session = Session(stage=self.kind.stage)
        if self.kind.stage == "open":
            self.session = Session(
                stage="open", id="s-1", version="2025-11-25", opened_at=BEGAN, generation=1
            )

    @property
    def has_left(self):
        """Whether any request of the write reached the service."""
        return any(left for left, *_ in self.said)

    @property
    def may_have_happened(self):
        """Whether it has happened, or the caller cannot know that it has not."""
        own = any(left and not is_refused for left, _, is_refused in self.said)
        return own or self.is_other_in_doubt or self.effects > 0

    @property
    def statuses(self):
        """The status of each reply to the write."""
        return [status for left, status, _ in self.said if left]

    def steps(self):
        """The call's flow."""
        kind = self.kind
        settings = replace(
            SETTINGS,
            journal=self.journal,
            deadline=kind.deadline,
            max_retries=1,
            token=Secret((lambda: "token") if kind.has_function else "token"),
        )
        self.context = Context.start(
            settings, self.session, kind.name, clock=self.clock, now=self.calendar
        )
        operation = describe_call(kind.name, is_guarded=kind.is_guarded)
        return (yield from run(operation, self.context)).raw()

    def choose(self, fine, *troubles):
        """Choose what happens here, within the allowed number of interruptions."""
        if not self.choices.left:
            came = fine
        else:
            never = [*["stop"] * (not self.stops), *["late"] * (self.kind.deadline is None)]
            possible = [one for one in troubles if one[:4] not in never]
            came = self.choices.choose((fine, *possible))
        self.went.append(came)
        return came

    def stop(self):
        """Interrupt the call."""
        self.stops -= 1
        self.is_stopped = True
        raise self.interruption

    def clock(self):
        """The monotonic clock; whoever reads it may be interrupted there."""
        if self.stops_at_clock:
            self._stop_if(self.choose("go on", "stop"))
        return self.now

    def calendar(self):
        """Seconds since 1970."""
        return self.clock()

    def perform(self, effect):
        """Perform what is no matter of other calls, as it is chosen."""
        match effect:
            case Send():
                return self._send(effect)
            case Sleep(seconds):
                return self._sleep(seconds)
            case CallUser(function):
                return self._ask(effect, function)
            case RunBlocking():
                return self._consult(effect)
        raise NotImplementedError(effect)

    def meet(self, effect):
        """What is had from another call; None: the steps are the call's own to take."""
        if isinstance(effect, Exclusive):
            if self.choose("mine", "late") == "late":
                self._wait_until(effect.until)
                raise RequestTimeoutError("the deadline has passed")
            return None
        self.is_past_guard = True
        came = self.choose(
            "lead", "done", "not_sent", "rejected", "unknown", "unknown, done", "fell",
            "fell, done", "late", "late, done", "stop", "stop, done",
        )  # fmt: skip
        if came == "lead":
            return None
        self.is_joined = True
        self.effects += came.endswith("done")
        self.is_other_in_doubt |= came not in {"done", "not_sent", "rejected"}
        self._stop_if(came)
        if came.startswith("late"):
            self._wait_until(effect.until)
            raise RequestTimeoutError("the deadline has passed", outcome="unknown")
        flight = SharedCall()
        if came == "done":
            flight.complete(effect.key, answer_of_another(self.kind.name))
        elif came.startswith("fell"):
            flight.fail(effect.key, KeyboardInterrupt())
        else:
            failure = FerryError("of the other call")
            failure.outcome = came.partition(",")[0]
            flight.fail(effect.key, failure)
        return (flight.result.outcome(),)

    def _stop_if(self, came):
        if came.startswith("stop"):
            self.stop()

    def _wait_until(self, until):
        assert until is not None
        self.now = max(self.now, until)

    def _sleep(self, seconds):
        came = self.choose("slept", "closed", "stop")
        self._stop_if(came)
        if came == "closed":
            raise ConfigurationError("the client is closed")
        self.now += seconds

    def _ask(self, effect, function):
        came = self.choose("given", "no token", "late", "stop")
        self._stop_if(came)
        if came == "late":
            self._wait_until(effect.until)
            raise RequestTimeoutError("the deadline has passed")
        return "two\nlines" if came == "no token" else function()

    def _consult(self, effect):
        came = self.choose("done", "late now", "late after", "late never", "stop", "stop after")
        self.is_record_troubled |= came != "done"
        if came in {"done", "late now", "stop after"}:
            try:
                value = effect.function()
            except FerryError:
                if came == "done":
                    raise
        if came == "late after":
            self.later.append(effect.function)
        if came.startswith("late"):
            self._wait_until(effect.until)
            raise RequestTimeoutError("the deadline has passed")
        self._stop_if(came)
        return value

    def _send(self, effect):
        effect.is_handed_over = effect.is_own = effect.is_followed = True
        request = effect.request
        message = json.loads(request.content or b"{}") if request.rpc_method else {}
        name = self.kind.name
        if request.rpc_method not in (None, "tools/call"):
            came = self._of_session(effect)
        elif request.rpc_method and message["params"]["name"] == "view_ticket":
            came = self._of_read(effect)
        elif request.rpc_method or request.url.endswith(path(name)):
            came = self._of_write(effect)
        else:
            came = self._of_read(effect)
        return came(request)

    def _of_session(self, effect):
        if effect.request.rpc_method != "initialize":
            self._choose_reply(effect, "heard", "lost")
            return lambda _: reply(202)
        came = self._choose_reply(effect, "open", "404", "503")
        if came != "open":
            return lambda _: reply(int(came))
        return _initialize_reply

    def _of_read(self, effect):
        name = self.kind.name
        if self.kind.is_guarded and not self.is_past_guard and not self.was_done:
            records = GUARDS[name][1]
            came = self._choose_reply(effect, *records, "503", "404", "409")
            self.was_done = came == "there"
        else:
            seen = ("good", "other") if self.effects or self.was_done else ("other",)
            came = self._choose_reply(effect, *seen, "503", "404")
            records = {"good": SEEN[name], "other": UNSEEN[name]}
        if came in records:
            return good(records[came])
        return lambda _: reply(int(came))

    def _of_write(self, effect):
        has_subject = self.kind.name in SEEN
        doubtful = (*DOUBTS, "another") if has_subject else DOUBTS
        doubts = [f"{one}{end}" for one in doubtful for end in ("", ", done")]
        before = ["409, before"] if has_subject else []
        gone = ["gone"] if effect.request.rpc_method else []
        came = self._choose_reply(
            effect, "done", "not sent", *REFUSALS, *before, *doubts, "302", *gone, is_write=True
        )
        came, _, end = came.partition(", ")
        self.was_done |= end == "before"
        if came == "done":
            return good(answer(self.kind.name))
        if came == "another":
            return good(answer(self.kind.name) | {"booking_id": "b-2", "ticket_id": "t-2"})
        if came == "unreadable":
            return lambda _: reply(200)
        if came == "gone":
            return _session_gone
        return lambda _: reply(int(came))

    def _choose_reply(self, effect, *options, is_write=False):
        """What comes of an exchange, as far as it is a reply."""
        ends, lates = ["stop sent"], ["late sent"]
        if is_write:
            ends += ["stop", "stop sent, done"]
            lates += ["late", "late sent, done"]
        if effect.until is not None and self.now + LATENCY > effect.until:
            came = self.choices.choose(lates)
        else:
            came = self.choose(*options, *ends, *lates)
        said = came.partition(",")[0]
        left = said not in {"not sent", "stop", "late"}
        effect.is_sent = left
        if is_write:
            self.effects += came.endswith("done")
            status = int(said) if said.isdigit() else STATUS.get(said)
            self.said.append((left, status, said in (*REFUSALS, "gone")))
        self._stop_if(said)
        if said.startswith("late"):
            self._wait_until(effect.until)
            raise RequestTimeoutError(
                "the deadline has passed", outcome="unknown" if left else "not_sent"
            )
        self.now += LATENCY
        if said == "not sent":
            raise ConnectionFailedError("refused", outcome="not_sent")
        if said == "lost":
            raise ConnectionFailedError("reset", outcome="unknown")
        return said


def _initialize_reply(request):
    message = json.loads(request.content or b"")
    result = {"protocolVersion": "2025-11-25"}
    body = {"jsonrpc": "2.0", "id": message["id"], "result": result}
    return reply(200, body, mcp_session_id="s-2")


def _session_gone(request):
    message = json.loads(request.content or b"null")
    error = {"code": -32001, "message": "Session not found"}
    return reply(404, {"jsonrpc": "2.0", "id": (message or {}).get("id"), "error": error})
