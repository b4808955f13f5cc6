"""One course of a write: the result of each effect of its flow is chosen by the test."""

import json
import random
from dataclasses import dataclass, field, replace
from functools import cache
from io import BytesIO

import ferry_sdk as sdk
from ferry_sdk import FerryError, RequestTimeoutError
from ferry_sdk._engine.context import Context, Session
from ferry_sdk._engine.effects import CallUser, Exclusive, RunBlocking, Send, Sleep
from ferry_sdk._engine.flow import run
from ferry_sdk._engine.sending import SendState
from ferry_sdk._engine.settings import Secret
from ferry_sdk._transport.single_flight import SharedCall
from tests.engine.recorder import Notes, entry
from tests.engine.replies import booking, good, reply, ticket
from tests.engine.writes import ANSWERS, SHOWN
from tests.support.driven import SETTINGS, Driver
from tests.support.operations import described
from tests.support.samples import CANCELLATION_FEE

_NEEDED = {"id", "booking_id", "booking_reference", "stage", "status", "total_price", "currency"}
_NEEDED |= {"payment_status", "ticket_number", "tickets"}


def _brief(record):
    """Return the fields that matter of a booking or ticket; the others only take time to parse."""
    brief = {name: value for name, value in record.items() if name in _NEEDED}
    if "tickets" in brief:
        brief["tickets"] = [_brief(one) for one in brief["tickets"]]
    return brief


SEEN = {name: _brief(record) for name, record in SHOWN.items()}
"""Of each write that a read shows, what the read shows when it is done."""
UNSEEN = {
    name: _brief(ticket("Pending") if "id" in record else booking("payment_due"))
    for name, record in SHOWN.items()
}
_LIMITS = {"max_penalty": 50, "min_refund": 100, "currency": "EUR"}
_FEES = {
    "good": CANCELLATION_FEE,
    "other": CANCELLATION_FEE | {"penalty_amount": 51},
    "there": CANCELLATION_FEE | {"ticket_status": "Canceled"},
}
GUARDS = {
    "bookings.confirm": (
        {"expect_total": "148.18", "currency": "EUR"},
        {"good": booking(), "other": booking(total_price=150), "there": SEEN["bookings.confirm"]},
    ),
    "bookings.cancel": (_LIMITS, _FEES),
    "tickets.cancel": (_LIMITS, _FEES),
}
"""Of each write that can be guarded: how, and what is read: what lets it leave (``good``), what
holds it back, and what says that it is done already (``there``)."""


@dataclass(frozen=True)
class Kind:
    name: str
    has_journal: bool = False
    is_guarded: bool = False
    """Whether something is read before the write leaves."""
    deadline: float | None = None
    has_function: bool = False
    """Whether a function gives the token."""
    stage: str = "bare"
    """What is known of the MCP session."""

    def __str__(self):
        """Return it in words, for the id of a test."""
        words = [self.name]
        if self.has_journal:
            words.append("with a journal")
        if self.is_guarded:
            words.append("guarded")
        if self.deadline is not None:
            words.append("with a deadline")
        if self.has_function:
            words.append("with a token function")
        if self.stage != "bare":
            words.append(f"session {self.stage}")
        return ", ".join(words)


def kinds(name):
    for has_journal in (True, False):
        for deadline in (None, 1.0):
            yield Kind(name, has_journal, deadline=deadline)
        if name in GUARDS:
            yield Kind(name, has_journal, is_guarded=True)
    if name == "bookings.confirm":
        yield Kind(name, has_journal=True, is_guarded=True, deadline=1.0)
    if name in {"bookings.create", "bookings.confirm", "mcp.create_booking"}:
        yield Kind(name, has_journal=True, has_function=True)
    if name == "mcp.create_booking":
        yield Kind(name, has_journal=True, stage="open")
        yield Kind(name, stage="unknown")
        yield Kind(name, has_journal=True, stage="stateless")


@cache
def describe_call(name, *, is_guarded):
    return described(name, **(GUARDS[name][0] if is_guarded else {}))


@cache
def answer(name):
    subject = described(name).write.subject
    known = {key: value for key, value in subject.items() if key in ANSWERS[name]}
    return {**ANSWERS[name], **known}


@cache
def path(name):
    return described(name).call.digest().path


@cache
def answer_of_another(name):
    """Return the result of another call of the same write."""
    driver = Driver(good(answer(name)), Session(opened_at=0.0))
    context = Context.start(SETTINGS, driver.session, name, clock=driver.clock, now=driver.calendar)
    return driver.walk(run(described(name), context))


class Choices:
    """A tree of choices, walked depth-first, so that every course is taken once.

    The first of the options at each point is what goes well; any other is a trouble, of which a
    course has at most so many.
    """

    def __init__(self, most):
        self._most = most
        self._taken = []
        self._sizes = []
        self._at = 0
        self.left = most

    def __iter__(self):
        """Begin course after course, until all were taken."""
        while True:
            self._at, self.left = 0, self._most
            yield
            assert self._at == len(self._taken), "a course is the same when it is taken again"
            while self._taken and self._taken[-1] + 1 == self._sizes[-1]:
                self._taken.pop()
                self._sizes.pop()
            if not self._taken:
                return
            self._taken[-1] += 1

    def choose(self, options):
        """One of the options; another when the same point is reached again."""
        if not self.left or len(options) == 1:
            return options[0]
        if self._at == len(self._taken):
            self._taken.append(0)
            self._sizes.append(len(options))
        assert self._sizes[self._at] == len(options), "a course is the same when taken again"
        chosen = self._taken[self._at]
        self._at += 1
        if chosen:
            self.left -= 1
        return options[chosen]


BEGAN = 1e9
"""When a course begins: so far ahead of the machine's clock that no real wait comes to its end."""
LATENCY = 0.25
REFUSALS = ("409", "429", "401")
RPC_REFUSALS = {
    "gone": {"code": -32001, "message": "Session not found"},
    "version": {"code": -32022, "message": "No", "data": {"supported": ["2026-07-28"]}},
}
"""The errors with which a server refuses a call for its session or its version."""
STATUS = {"done": 200, "unreadable": 200, "another": 200, "gone": 404, "version": 400}
STATUS |= {"503 naming": 503}
DOUBTS = ("503", "408", "lost", "unreadable")
NAMING = ("503 naming", "lost naming")
"""The replies to a create that fail and name its booking, ``b-1``."""
CREATES = ("bookings.create", "mcp.create_booking")


class Cancelled(BaseException):
    """The task is cancelled here, in whatever way its event loop does it."""


class Record(Notes):
    """A journal that may fail before or after its work, or know the same write already."""

    def __init__(self, course):
        super().__init__()
        self._course = course

    def begin(self, intent):
        came = self._course.choose("kept", "not kept", "kept unsaid", "known", "known and done")
        if came.startswith("known"):
            self._course.is_known = True
            self._course.effects += came.endswith("done")
            self.states["entry-7"] = "unknown"
            raise sdk.UnresolvedWriteError(entry(intent.operation, **intent.subject))
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
            raise sdk.JournalError("no disk")


@dataclass
class Course:
    kind: Kind
    choices: Choices
    stops: int
    """How often it may still be interrupted."""
    interruption: type[BaseException]
    stops_at_clock: bool = False
    """Whether it may be interrupted wherever it asks for the time."""
    effects: int = 0
    """How often the service has done it."""
    said: list = field(default_factory=list)
    """Of each time it was sent: whether it left, the reply's status, whether it was refused."""
    is_stopped: bool = False
    is_joined: bool = False
    is_other_in_doubt: bool = False
    """Whether the call that was joined may have happened, as far as the caller can know."""
    is_known: bool = False
    """Whether the same write was on record and unresolved."""
    was_done: bool = False
    """Whether the service had done it before this call."""
    is_shown_by_guard: bool = False
    """Whether the guard has seen the effect, so that nothing may be sent."""
    is_record_troubled: bool = False
    is_named: bool = False
    """Whether a failed reply to a create named its booking."""
    is_past_guard: bool = False
    """Whether what is read from now on looks for the effect."""
    now: float = BEGAN
    went: list = field(default_factory=list)
    """What was chosen."""
    later: list = field(default_factory=list)
    """What blocking work is done when nobody waits for it any more."""

    def __post_init__(self):
        random.seed(0)  # of the pauses, which a course taken again has to repeat
        self.journal = Record(self) if self.kind.has_journal else None
        known = {"id": "s-1", "version": "2025-11-25", "opened_at": BEGAN, "generation": 1}
        newest = {"version": "2026-07-28", "opened_at": BEGAN}
        of_stage = {"unknown": {}, "bare": {"opened_at": BEGAN}, "open": known, "stateless": newest}
        self.session = Session(**of_stage[self.kind.stage])

    @property
    def has_left(self):
        return any(left for left, *_ in self.said)

    @property
    def is_in_doubt(self):
        """Whether a request left, of this call or of the one it joined, and was not refused."""
        own = any(left and not is_refused for left, _, is_refused in self.said)
        return own or self.is_other_in_doubt

    @property
    def may_have_happened(self):
        return self.is_in_doubt or self.effects > 0

    @property
    def statuses(self):
        return [status for left, status, _ in self.said if left]

    def steps(self):
        kind = self.kind
        token = Secret((lambda: "token") if kind.has_function else "token")
        changes = {"journal": self.journal, "deadline": kind.deadline, "token": token}
        settings = replace(SETTINGS, max_retries=1, **changes)
        clocks = {"clock": self.clock, "now": self.clock}
        self.context = Context.start(settings, self.session, kind.name, **clocks)
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

    def clock(self):
        if self.stops_at_clock:
            self._end_if(self.choose("go on", "stop"), None)
        return self.now

    def perform(self, effect):
        of_effects = {Send: self._send, Sleep: self._sleep, CallUser: self._ask}
        return (of_effects | {RunBlocking: self._consult})[type(effect)](effect)

    def meet(self, effect):
        """What is had from another call; None: the steps are the call's own to take."""
        if isinstance(effect, Exclusive):
            return self._end_if(self.choose("mine", "late"), effect.until)
        self.is_past_guard = True
        doubts = [f"{came}{end}" for came in ("fell", "late", "stop") for end in ("", ", done")]
        said = ("done", "not_sent", "rejected", "unknown", "unknown, done")
        came = self.choose("lead", *said, *doubts)
        if came == "lead":
            return None
        self.is_joined = True
        self.effects += came.endswith("done")
        self.is_other_in_doubt |= came not in {"done", "not_sent", "rejected"}
        self._end_if(came, effect.until, "unknown")
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

    def _end_if(self, came, until, outcome="not_sent"):
        if came.startswith("stop"):
            self.stops -= 1
            self.is_stopped = True
            raise self.interruption
        if came.startswith("late"):
            assert until is not None
            self.now = max(self.now, until)
            raise RequestTimeoutError("the deadline has passed", outcome=outcome)

    def _sleep(self, effect):
        came = self.choose("slept", "closed", "stop")
        self._end_if(came, None)
        if came == "closed":
            raise sdk.ConfigurationError("the client is closed")
        self.now += effect.seconds

    def _ask(self, effect):
        came = self.choose("given", "no token", "late", "stop")
        self._end_if(came, effect.until)
        return "two\nlines" if came == "no token" else effect.function()

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
        self._end_if(came, effect.until)
        return value

    def _send(self, effect):
        effect.state = SendState.FOLLOWED
        request = effect.request
        message = json.loads(request.content or b"{}") if request.rpc_method else {}
        if request.rpc_method not in (None, "tools/call"):
            return self._of_session(effect)(request)
        is_view = request.rpc_method and message["params"]["name"] == "view_ticket"
        if not is_view and (request.rpc_method or request.url.endswith(path(self.kind.name))):
            return self._of_write(effect)(request)
        return self._of_read(effect)(request)

    def _of_session(self, effect):
        if effect.request.rpc_method != "initialize":
            self._choose_reply(effect, "heard", "lost")
            return lambda _: reply(202)
        # The session is the same for all tools, so only one of them meets servers without it.
        no_handshake = ["no handshake"] * (self.kind.name in CREATES)
        came = self._choose_reply(effect, "open", "404", "503", *no_handshake)
        if came == "no handshake":
            error = {"code": -32601, "message": "Method not found"}
            return lambda request: _rpc_reply(request, 404, {"error": error})
        if came != "open":
            return lambda _: reply(int(came))
        result = {"protocolVersion": "2025-11-25"}
        return lambda request: _rpc_reply(request, 200, {"result": result}, mcp_session_id="s-2")

    def _of_read(self, effect):
        name = self.kind.name
        if self.kind.is_guarded and not self.is_past_guard and not self.was_done:
            records = GUARDS[name][1]
            came = self._choose_reply(effect, *records, "503", "404", "409")
            self.was_done = came == "there"
        elif name in CREATES:
            seen = ("good", "404") if self.effects else ("404",)
            came = self._choose_reply(effect, *seen, "503")
            records = {"good": _brief(booking())}
        else:
            seen = ("good", "other") if self.effects or self.was_done else ("other",)
            came = self._choose_reply(effect, *seen, "503", "404")
            records = {"good": SEEN[name], "other": UNSEEN[name]}
            self.is_shown_by_guard |= came == "good" and not self.is_past_guard
        if came in records:
            return good(records[came])
        return lambda _: reply(int(came))

    def _of_write(self, effect):
        has_subject = self.kind.name in SEEN
        doubtful = (*DOUBTS, "another") if has_subject else DOUBTS
        if self.kind.name in CREATES:
            doubtful += NAMING
        doubts = [f"{one}{end}" for one in doubtful for end in ("", ", done")]
        before = ["409, before"] if has_subject else []
        gone = ["gone"] if effect.request.rpc_method else []
        if effect.request.rpc_method and self.kind.name in CREATES:
            gone = [*RPC_REFUSALS]
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
        if came == "503 naming":
            self.is_named = True
            return lambda _: reply(503, {"booking_id": "b-1"})
        if came in RPC_REFUSALS:
            error = {"error": RPC_REFUSALS[came]}
            return lambda request: _rpc_reply(request, STATUS[came], error)
        return lambda _: reply(int(came))

    def _choose_reply(self, effect, *options, is_write=False):
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
        if left:
            effect.state = SendState.SENT
        if is_write:
            self.effects += came.endswith("done")
            status = int(said) if said.isdigit() else STATUS.get(said)
            self.said.append((left, status, said in (*REFUSALS, *RPC_REFUSALS)))
        self._end_if(said, effect.until, "unknown" if left else "not_sent")
        self.now += LATENCY
        if said == "not sent":
            raise sdk.ConnectionFailedError("refused", outcome="not_sent")
        if said == "lost naming":
            self.is_named = True
            effect.reply, effect.received = reply(200), BytesIO(_cut_answer(effect.request))
        if said in {"lost", "lost naming"}:
            raise sdk.ConnectionFailedError("reset", outcome="unknown")
        return said


def _cut_answer(request):
    """The beginning of the answer to a create, in the envelope of its protocol."""
    answer_begins = '{"booking_id":"b-1","sta'
    if request.rpc_method is None:
        return answer_begins.encode()
    message_id = json.dumps(json.loads(request.content)["id"])
    return f'{{"jsonrpc":"2.0","id":{message_id},"result":{answer_begins}'.encode()


def _rpc_reply(request, status, members, **headers):
    message = json.loads(request.content or b"null") or {}
    return reply(status, {"jsonrpc": "2.0", "id": message.get("id"), **members}, **headers)
