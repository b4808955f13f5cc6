"""Every course that a write can take: at most one effect, and a truthful outcome."""

import logging
from contextlib import suppress

import anyio
import anyio.lowlevel
import httpx
import pytest

from ferry_sdk import FerryError
from ferry_sdk._engine.effects import Exclusive, SingleFlight, drive
from ferry_sdk._transport.async_ import AsyncTransport
from ferry_sdk._transport.sync import Transport
from tests.engine.courses import BEGAN, CREATES, Cancelled, Choices, Course, kinds
from tests.engine.writes import ANSWERS
from tests.support.driven import SETTINGS
from tests.support.tiers import LONG, mostly_long

WRITES = [name for name in ANSWERS if name != "mcp.call_tool"]
A_BOOKING, BOTH, TICKETS = (True, False), (True, True), (False, True)
NAMED = {
    **dict.fromkeys(("bookings.create", "mcp.create_booking", "bookings.cancel"), A_BOOKING),
    **dict.fromkeys(("bookings.confirm", "mcp.confirm_booking"), BOTH),
    **dict.fromkeys(("tickets.cancel", "mcp.cancel_ticket", "tickets.mark_paid"), TICKETS),
}
"""Whether the outcome of a write names a booking, and tickets."""
TO_THE_END = 99
"""More troubles than any course has."""
MOST = {"bookings.cancel": 4, "tickets.cancel": 5, "mcp.create_booking": 5}
"""Troubles of a course, where there are too many to its end: 72,000 of a cancellation, and more of
a create with a session, whose reply may name its booking."""


NOWHERE = httpx.MockTransport(lambda _: httpx.Response(500))


class CourseTransport(Transport):
    def __init__(self):
        super().__init__(SETTINGS, httpx.Client(transport=NOWHERE))

    def outcome(self, course):
        self.course = course
        try:
            return drive(course.steps(), self._perform)
        except BaseException as error:  # noqa: BLE001 -- it is the outcome
            return error

    def _perform(self, effect):
        if not isinstance(effect, Exclusive | SingleFlight):
            return self.course.perform(effect)
        had = self.course.meet(effect)
        return had[0] if had else super()._perform(effect)


class AsyncCourseTransport(AsyncTransport):
    def __init__(self):
        super().__init__(SETTINGS, httpx.AsyncClient(transport=NOWHERE))

    async def outcome(self, course):
        self.course = course
        with anyio.CancelScope() as self.scope:
            try:
                return await self._run_flow(course.steps())
            except anyio.get_cancelled_exc_class():
                raise
            except BaseException as error:  # noqa: BLE001 -- it is the outcome
                return error
        return Cancelled()

    async def _perform(self, effect):
        had = None
        try:
            is_shared = isinstance(effect, Exclusive | SingleFlight)
            had = self.course.meet(effect) if is_shared else (self.course.perform(effect),)
        except Cancelled:
            self.scope.cancel()
        if self.scope.cancel_called:
            await anyio.lowlevel.checkpoint()
        return had[0] if had else await super()._perform(effect)


def courses(name, most, stop, *, stops=2, stops_at_clock=False):
    for kind in kinds(name):
        yield from courses_of(kind, most, stop, stops=stops, stops_at_clock=stops_at_clock)


def courses_of(kind, most, stop, *, stops=2, stops_at_clock=False):
    choices = Choices(most)
    for _ in choices:
        yield Course(kind, choices, stops, stop, stops_at_clock)


def judge(course, outcome):
    for work in course.later:
        with suppress(FerryError):
            work()
    try:
        judge_effect_and_record(course)
        judge_outcome(course, outcome)
    except AssertionError as error:
        went = ", ".join(course.went)
        raise AssertionError(f"{course.kind}: {went}: {outcome!r}: {error}") from error
    return course


def judge_effect_and_record(course):
    assert course.effects <= 1
    assert not (course.is_shown_by_guard and course.has_left)
    if course.kind.deadline is not None:
        assert course.now <= BEGAN + course.kind.deadline
    if course.journal is None:
        return
    state = course.journal.states.get("entry-1")
    if course.has_left:
        assert state is not None
    if state in {"not_sent", "rejected"}:
        assert not course.may_have_happened
    if state == "rejected":
        assert course.has_left or course.is_joined
    if state == "done":
        assert has_effect(course)
    judge_details(course, state, course.journal.details.get("entry-1"))


def has_effect(course):
    """Whether there is one effect: its own, or one that was there and that a call may have made.

    A guard whose second read does not show the effect lets the write leave. If its reply is lost,
    the effect that the read-back shows counts as its own.
    """
    may_have_made_it = course.is_in_doubt or course.is_known
    return course.effects == 1 or (course.was_done and may_have_made_it)


def judge_details(course, state, details):
    """Check that the journal was told what the outcome named, and nothing else."""
    if details is None:
        assert state in {None, "open", "not_sent"}
        return
    named = details.booking_id is not None, details.ticket_ids is not None
    if state == "unknown":
        assert details.booking_id in ({None, "b-1"} if course.is_named else {None})
        assert details.booking_id or not course.is_named or course.is_stopped
        assert details.ticket_ids is None
    else:
        assert named == (NAMED[course.kind.name] if state == "done" else (False, False))
    if state == "rejected" and details.status_code is None:
        # The error is not the service's own: of a call that was joined, of a closed client, or an
        # interruption of the read after a refusal.
        assert course.is_joined or "closed" in course.went or course.is_stopped
    elif state == "rejected":
        assert details.status_code == course.statuses[-1]
    elif state != "rejected":
        assert details.status_code is details.code is None


def judge_outcome(course, outcome):
    if isinstance(outcome, course.interruption):
        assert course.is_stopped
        if course.may_have_happened and not course.is_known:
            assert course.context.state.is_done or course.context.state.may_have_happened
        return
    if isinstance(outcome, FerryError):
        reported = outcome.outcome
        if reported == "unknown":
            assert course.may_have_happened
            named = getattr(outcome, "booking_id", None) if course.kind.name in CREATES else None
            assert named == ("b-1" if course.is_named else None)
        elif not course.is_known:
            assert not course.may_have_happened
    else:
        assert not isinstance(outcome, BaseException)
        assert has_effect(course)
        reported = "done"
    if reported == "rejected":
        assert course.has_left or course.is_joined or course.kind.is_guarded
    assert outcome.correlation_id
    entry = course.journal and course.journal.states.get("entry-1")
    if entry and not course.is_record_troubled and not course.is_stopped:
        assert entry == reported
    if not course.is_joined:
        tried = [one for one in outcome.attempts if one.operation == course.kind.name]
        assert [one.status_code for one in tried if one.sent] == course.statuses


@pytest.fixture(autouse=True, scope="module")
def short_read_backs():
    """Read an effect back about twice, and log nothing."""
    logging.disable(logging.CRITICAL)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ferry_sdk._engine.read_back.READ_BACK_WINDOW", 0.7)
        yield
    logging.disable(logging.NOTSET)


def walk(found, note):
    driver = CourseTransport()
    count = sum(1 for course in found if judge(course, driver.outcome(course)))
    note("courses of writes walked", count)


def walk_async(found, note, loop):
    async def walk_all():
        driver = AsyncCourseTransport()
        return len([judge(course, await driver.outcome(course)) for course in found])

    note("courses of writes walked", anyio.run(walk_all, backend=loop))


every_write = pytest.mark.parametrize("name", WRITES)
every_stop = pytest.mark.parametrize(
    "stop", mostly_long([KeyboardInterrupt, MemoryError, GeneratorExit])
)
every_loop = pytest.mark.parametrize(
    ("loop", "stop"),
    mostly_long([("asyncio", Cancelled), ("trio", Cancelled), ("asyncio", KeyboardInterrupt)]),
)


@pytest.mark.parametrize("name", mostly_long(WRITES))
def test_report_is_true_after_two_troubles(name, record_property):
    walk(courses(name, 2, KeyboardInterrupt), record_property)


@every_stop
@every_write
def test_report_is_true_wherever_a_write_is_interrupted(name, stop, record_property):
    walk(courses(name, 1, stop, stops_at_clock=True), record_property)


@every_loop
@every_write
def test_report_is_true_of_interrupted_tasks(name, loop, stop, record_property):
    found = courses(name, 1, stop, stops_at_clock=stop is not Cancelled)
    walk_async(found, record_property, loop)


# A row for each kind of a write, so that the longest walks run at the same time.
@LONG
@pytest.mark.timeout(600)
@pytest.mark.parametrize("kind", [kind for name in WRITES for kind in kinds(name)], ids=str)
def test_report_is_true_on_every_course(kind, record_property):
    most = MOST.get(kind.name, TO_THE_END)
    walk(courses_of(kind, most, KeyboardInterrupt, stops=1), record_property)


@LONG
@pytest.mark.timeout(1200)
@every_write
def test_report_is_true_of_any_end_after_trouble(name, record_property):
    walk(courses(name, 2, KeyboardInterrupt, stops_at_clock=True), record_property)
    walk_async(courses(name, 2, Cancelled), record_property, "asyncio")
