"""Courses of callers that use one idempotency key: who goes next, what goes wrong, who dies.

The callers run the flow of `bookings.create` over one real journal, each an effect at a time. A
service in memory counts what it has made. A person settles what nobody waits for, as it was.
"""

from dataclasses import dataclass, field, replace

from ferry_sdk import ConnectionFailedError, JournalError
from ferry_sdk._engine.context import Context, Session
from ferry_sdk._engine.effects import RunBlocking, Send
from ferry_sdk._engine.flow import run
from ferry_sdk._engine.sending import SendState
from ferry_sdk.resources.bookings import BookingsGroup
from tests.engine.courses import Choices
from tests.engine.replies import booking, reply
from tests.support.driven import SETTINGS
from tests.support.samples import BOOKING_CREATED

_AROUND = ("dies before", "dies after", "stopped before", "stopped after")
ENDS_OF_RECORD = ("done", *_AROUND, "not kept", "kept unsaid")
ENDS_OF_CREATE = ("done", "refused", "not sent", "lost", "vanished", "late", "named", *_AROUND)
"""How a request may end. ``lost``: its reply is lost; ``vanished``: it has no effect, and no reply
either; ``late``: its effect comes after all calls; ``named``: a failed reply names the booking."""
ENDS_OF_READ = ("done", "lost")
PERSON = "the person"


class Killed(BaseException):
    """The process is dead."""


class Courses(Choices):
    """A tree of courses in which the order of the callers counts as no trouble."""

    def choose_next(self, options):
        left, self.left = self.left, 1
        chosen = self.choose(options)
        self.left = left
        return chosen


def creation(key, traveller, offer):
    """Return the create of a caller; each has found the sailing under ids of its own."""
    return BookingsGroup.create(
        None,
        availabilities=[
            {
                "availability_id": f"{key}-{offer}",
                "tariff_id": "t",
                "place_id": "p",
                "company": "c",
                "depart_code": "FRMRS",
                "arrive_code": "TNLGN",
                "depart_at": "2050-06-02T20:00:00+02:00",
            }
        ],
        passengers=[{"type": "Adult", "first_name": traveller, "last_name": "Reyes"}],
        idempotency_key=key,
    )


@dataclass(eq=False)
class Caller:
    """A call of one process.

    Attributes:
        traveller: Whom it books.
        steps: Its flow.
        context: Its context; the entry in the journal has its correlation id.
        effect: The effect that it waits for.
        outcome: What the call returned or raised; None while it is under way, and of a dead one.
        is_over: Whether nobody runs its steps any more.
        made: The booking that the service made for it.
        is_late: Whether the effect of its request is still to come.
    """

    traveller: str
    steps: object
    context: Context
    effect: object = None
    outcome: object = None
    is_over: bool = False
    made: str | None = None
    is_late: bool = False


@dataclass(eq=False)
class Course:
    """One course.

    Attributes:
        journal: The journal of all callers.
        choices: What is chosen at each point.
        key: The key of all callers.
        callers: The callers so far.
        went: What was chosen.
        has_person: Whether a person may still settle an entry.
    """

    journal: object
    choices: Courses
    key: str
    callers: list[Caller] = field(default_factory=list)
    went: list[str] = field(default_factory=list)
    has_person: bool = True

    @property
    def made(self):
        """The bookings that the service made, each with its caller."""
        return {caller.made: caller for caller in self.callers if caller.made is not None}

    def begin(self, traveller):
        """Add a caller."""
        name = f"{self.key}/{len(self.callers)}"
        settings = replace(SETTINGS, journal=self.journal, max_retries=0)
        context = Context.start(settings, Session(), "bookings.create", correlation_id=name)
        operation = creation(self.key, traveller, len(self.callers))
        caller = Caller(traveller, run(operation, context), context)
        self.callers.append(caller)
        self._advance(caller)
        return caller

    def go_through(self):
        """Let callers and person go, in the chosen order, until nobody has anything left."""
        while actors := self._actors():
            actor = self.choices.choose_next(actors)
            if actor == PERSON:
                self._settle_one()
            else:
                self._step(self.callers[actor])
        for caller in self.callers:
            if caller.is_late:
                caller.made, caller.is_late = f"{self.key}-b{self.callers.index(caller)}", False

    def call_again(self, traveller):
        """Make a call to which nothing happens, and return its caller."""
        self.choices.left = 0
        caller = self.begin(traveller)
        while not caller.is_over:
            self._step(caller)
        return caller

    def settle_all(self):
        """Settle every entry that is unresolved, as it was."""
        for entry in self._to_settle():
            self._settle(entry, names=True)

    def close(self):
        """End the flows of the dead, which then write nothing."""
        for caller in self.callers:
            caller.steps.close()

    def state_of(self, caller):
        """Return the state of a caller's entry; None without one."""
        entries = self.journal.entries(correlation_id=caller.context.correlation_id)
        return entries[0].state if entries else None

    def _actors(self):
        going = [index for index, caller in enumerate(self.callers) if not caller.is_over]
        if self.has_person and self._to_settle():
            going.append(PERSON)
        return tuple(going)

    def _to_settle(self):
        """Return the unresolved entries whose outcome a person can find out."""
        to_settle = []
        for caller in self.callers:
            if caller.is_over and not caller.is_late:
                correlation_id = caller.context.correlation_id
                to_settle += self.journal.entries(correlation_id=correlation_id, state="unresolved")
        return to_settle

    def _settle_one(self):
        self.has_person = False
        names = self._choose("names the booking", "names none") == "names the booking"
        self._settle(self._to_settle()[0], names=names)

    def _settle(self, entry, *, names):
        made = self.callers[int(entry.correlation_id.rpartition("/")[2])].made
        booking_id = made if names else None
        self.journal.settle(entry, happened=made is not None, booking_id=booking_id)

    def _choose(self, *options):
        chosen = self.choices.choose(options)
        self.went.append(chosen)
        return chosen

    def _step(self, caller):
        """Perform the effect that a caller waits for."""
        try:
            result = self._perform(caller, caller.effect)
        except Killed:
            caller.is_over = True
        except BaseException as error:  # noqa: BLE001 -- the flow decides what it means
            self._advance(caller, error=error)
        else:
            self._advance(caller, result=result)

    def _advance(self, caller, *, result=None, error=None):
        try:
            if error is None:
                caller.effect = caller.steps.send(result)
            else:
                caller.effect = caller.steps.throw(error)
        except StopIteration as end:
            caller.outcome, caller.is_over = end.value.value, True
        except BaseException as failure:  # noqa: BLE001 -- it is the outcome
            caller.outcome, caller.is_over = failure, True

    def _perform(self, caller, effect):
        match effect:
            case RunBlocking():
                return self._record(effect)
            case Send() if effect.request.method == "GET":
                return self._read(effect)
            case Send():
                return self._create(caller, effect)
        raise NotImplementedError(effect)

    def _record(self, effect):
        end = self._choose(*ENDS_OF_RECORD)
        _interrupt(end, "before")
        if end == "not kept":
            raise JournalError("no disk")
        result = effect.function()
        _interrupt(end, "after")
        if end == "kept unsaid":
            raise JournalError("no disk")
        return result

    def _read(self, effect):
        effect.state = SendState.HANDED_OVER
        if self._choose(*ENDS_OF_READ) == "lost":
            raise ConnectionFailedError("reset", outcome="unknown")
        booking_id = effect.request.url.rpartition("/")[2]
        if booking_id not in self.made:
            return reply(404)
        return reply(200, booking(booking_id=booking_id))

    def _create(self, caller, effect):
        end = self._choose(*ENDS_OF_CREATE)
        _interrupt(end, "before")
        if end == "not sent":
            raise ConnectionFailedError("refused", outcome="not_sent")
        effect.state = SendState.HANDED_OVER
        if end == "refused":
            return reply(409)
        if end == "late":
            caller.is_late = True
        elif end != "vanished":
            caller.made = f"{self.key}-b{self.callers.index(caller)}"

        _interrupt(end, "after")
        if end in {"lost", "vanished", "late"}:
            raise ConnectionFailedError("reset", outcome="unknown")
        if end == "named":
            return reply(503, {"booking_id": caller.made})
        return reply(201, BOOKING_CREATED | {"booking_id": caller.made})


def _interrupt(end, moment):
    """Kill or stop the caller if that was chosen for this moment."""
    if end == f"dies {moment}":
        raise Killed
    if end == f"stopped {moment}":
        raise KeyboardInterrupt


def walk(journal, travellers, most):
    """Yield every course of these callers with so many troubles at most, when it is over."""
    choices = Courses(most)
    for number, _ in enumerate(choices):
        course = Course(journal, choices, f"key-{number}")
        for traveller in travellers:
            course.begin(traveller)
        course.go_through()
        yield course
        course.close()
