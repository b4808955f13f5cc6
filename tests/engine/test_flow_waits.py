"""A wait looks again and again, gently, until enough is seen or its own time is up."""

from datetime import datetime, timedelta, timezone
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferry_sdk import (
    Booking,
    FerryError,
    InvalidInputError,
    NotFoundError,
    RateLimitError,
    RequestTimeoutError,
    Stage,
)
from ferry_sdk._engine.effects import CallUser
from tests.engine.replies import (
    booking,
    good,
    refused,
    reply,
    reset,
    scripted_driver,
    timed_out,
    undecodable,
)
from tests.support.operations import described
from tests.support.samples import POSSIBLE_ACTION
from tests.support.tables import each

WAITS = ("bookings.wait", "tickets.wait_pdf")
ENOUGH = {
    "bookings.wait": booking("ticketed"),
    "tickets.wait_pdf": {"url": "https://service.example/v.pdf"},
}
NOT_YET = {"bookings.wait": booking("payment_due"), "tickets.wait_pdf": {"url": None}}
every_wait = each("name", WAITS)


@every_wait
def test_pauses_grow_gently_up_to_ten_seconds(name):
    driver = scripted_driver(*[good(NOT_YET[name])] * 12, good(ENOUGH[name]))
    driver.raw(described(name, deadline=600))
    pauses = (0.25, 0.5, 1, 2, 4, 8, 10, 10, 10, 10, 10, 10)
    for wait, pause in zip(driver.waits, pauses, strict=True):
        assert pause <= wait <= pause + 0.25
    assert len({wait - pause for wait, pause in zip(driver.waits, pauses, strict=True)}) > 6


@every_wait
def test_what_does_not_come_ends_at_the_deadline_with_what_was_seen_last(name):
    driver = scripted_driver(then=good(NOT_YET[name]))
    with pytest.raises(RequestTimeoutError, match="the condition was not met") as info:
        driver.raw(described(name, deadline=45))
    error = info.value
    assert 1044.5 < driver.now <= 1045
    assert isinstance(error.last_seen, described(name).answer.model)
    assert (error.operation, error.outcome, error.__cause__) == (name, "unknown", None)


@every_wait
@each("deadline", [0.01, 0.2, 0.25, 0.3])
def test_a_short_deadline_leaves_one_look(name, deadline):
    driver = scripted_driver(then=good(NOT_YET[name]))
    driver.latency = 0.005
    error = driver.error(RequestTimeoutError, described(name, deadline=deadline))
    assert 1 <= len(driver.requests) <= 3
    assert error.last_seen is not None
    assert driver.now <= 1000 + deadline


@every_wait
@each("deadline", [0, -1, float("nan")])
def test_a_deadline_that_is_no_time_is_refused(name, deadline):
    with pytest.raises(InvalidInputError) as info:
        described(name, deadline=deadline)
    assert info.value.field == "deadline"


@each(
    ("until", "stages"),
    [
        ("ticketed", ["ticketed"]),
        (Stage.ISSUANCE_DUE, ["issuance_due"]),
        (["ticketed", "in_progress"], ["in_progress", "ticketed"]),
        ((Stage.REJECTED, "moored"), ["moored", "rejected"]),
        ({"ticketed"}, ["ticketed"]),
        ("voided", ["voided"]),
        (["lapsed"], ["lapsed"]),
    ],
)
def test_a_booking_is_waited_for_until_it_is_of_a_stage(until, stages):
    for stage in [*Stage, "moored"]:
        driver = scripted_driver(good(booking(stage)), good(booking(stages[0])))
        is_final = stage in ("voided", "lapsed") and stage not in stages
        if is_final:
            driver.error(RequestTimeoutError, described("bookings.wait", until=until))
        else:
            seen = driver.raw(described("bookings.wait", until=until)).parse()
            assert seen.stage in stages
        assert len(driver.requests) == (1 if stage in stages or is_final else 2)


@each("stage", ["voided", "lapsed"])
def test_a_booking_that_is_over_is_waited_for_no_longer(stage):
    driver = scripted_driver(good(booking("payment_due")), good(booking(stage)))
    error = driver.error(RequestTimeoutError, "bookings.wait")
    assert isinstance(error.last_seen, Booking)
    assert error.last_seen.stage == stage
    assert driver.now < 1002


def test_a_predicate_decides_by_itself():
    seen = []

    def has_two(known):
        seen.append(known.stage)
        return len(known.tickets) == 2

    driver = scripted_driver(
        good(booking("voided")), good(booking("lapsed")), good(booking("x", "a", "b"))
    )
    found = driver.raw(described("bookings.wait", until=has_two)).parse()
    assert len(found.tickets) == 2
    assert seen == ["voided", "lapsed", "x"]


def test_what_a_predicate_raises_goes_to_the_caller():
    def failing_condition(_):
        raise ZeroDivisionError

    driver = scripted_driver(then=good(booking("ticketed")))
    driver.error(ZeroDivisionError, described("bookings.wait", until=failing_condition))


@each("until", [[], (), set()])
def test_a_wait_for_no_stage_at_all_is_refused(until):
    with pytest.raises(InvalidInputError) as info:
        described("bookings.wait", until=until)
    assert info.value.field == "until"


@every_wait
def test_progress_is_told_of_everything_that_is_read(name):
    told = []
    driver = scripted_driver(good(NOT_YET[name]), reset(), good(NOT_YET[name]), good(ENOUGH[name]))
    last = driver.raw(described(name, on_progress=told.append)).parse()
    assert len(told) == 3
    assert told[-1] is last


@every_wait
def test_progress_that_takes_long_is_not_awaited_beyond_the_deadline(name):
    driver = scripted_driver(then=good(ENOUGH[name]))
    driver.raw(described(name, on_progress=lambda _: None))
    (asked,) = [effect for effect in driver.effects if isinstance(effect, CallUser)]
    assert asked.until == 1060.0


@every_wait
@each("is_there", [True, False])
def test_progress_that_outlasts_the_deadline_does_not_hide_what_was_seen(name, is_there):
    def told(_):
        driver.now = 1060.0
        raise RequestTimeoutError("the deadline has passed")

    driver = scripted_driver(good(ENOUGH[name] if is_there else NOT_YET[name]))
    operation = described(name, on_progress=told)
    if is_there:
        assert driver.raw(operation).parse()
    else:
        with pytest.raises(RequestTimeoutError, match="the condition was not met") as info:
            driver.raw(operation)
        assert info.value.last_seen is not None


@every_wait
@each("moment", [1000.25, 1059.9])
def test_a_time_out_of_the_callers_own_is_not_the_waits(name, moment):
    own = RequestTimeoutError("of another call")

    def told(_):
        driver.now = moment
        raise own

    driver = scripted_driver(good(ENOUGH[name]))
    error = driver.error(RequestTimeoutError, described(name, on_progress=told))
    assert error is own


@every_wait
@each("trouble", [ZeroDivisionError(), KeyboardInterrupt(), reset()])
def test_what_progress_raises_goes_to_the_caller(name, trouble):
    def told(_):
        raise trouble

    driver = scripted_driver(then=good(NOT_YET[name]))
    error = driver.error(type(trouble), described(name, on_progress=told))
    assert error is trouble
    assert len(driver.requests) == 1


@each(
    "trouble",
    [
        refused,
        reset,
        timed_out,
        undecodable,
        lambda: reply(429),
        lambda: reply(429, retry_after="4"),
        lambda: reply(408),
        lambda: reply(500),
        lambda: reply(500, {"code": "TICKET_VIEW_ERROR"}),
        lambda: reply(503, retry_after="3"),
        lambda: reply(200),
    ],
)
@each("max_retries", [0, 2])
@every_wait
def test_failures_that_pass_are_outlived(name, trouble, max_retries):
    driver = scripted_driver(
        good(NOT_YET[name]), *(trouble() for _ in range(8)), good(NOT_YET[name]), good(ENOUGH[name])
    )
    driver.raw(described(name, deadline=300), max_retries=max_retries)
    assert len(driver.requests) == 11


@every_wait
def test_a_wait_that_ends_in_failures_has_the_last_as_its_cause(name):
    driver = scripted_driver(good(NOT_YET[name]), then=reply(503))
    error = driver.error(RequestTimeoutError, described(name, deadline=20))
    assert isinstance(error.__cause__, FerryError)
    assert error.last_seen is not None
    assert driver.now <= 1020


@every_wait
def test_a_wait_that_could_read_nothing_has_seen_nothing(name):
    driver = scripted_driver(then=reset())
    error = driver.error(RequestTimeoutError, described(name, deadline=20))
    assert error.last_seen is None


@each("status", [302, 400, 401, 403, 404, 410, 422])
@every_wait
def test_a_failure_that_stays_ends_the_wait(name, status):
    driver = scripted_driver(good(NOT_YET[name]), reply(status))
    error = driver.error(FerryError, name)
    assert not isinstance(error, RequestTimeoutError)
    assert error.attempts[-1].status_code == status


@every_wait
@each("asked", ["60", "3600", "9" * 400])
def test_a_retry_after_beyond_the_deadline_ends_the_wait(name, asked):
    driver = scripted_driver(good(NOT_YET[name]), reply(429, retry_after=asked))
    error = driver.error(RequestTimeoutError, described(name, deadline=45))
    assert driver.now < 1002
    assert isinstance(error.__cause__, RateLimitError)
    assert error.__cause__.retry_after == float(asked)


@every_wait
def test_a_retry_after_within_the_deadline_is_waited_for(name):
    driver = scripted_driver(reply(429, retry_after="70"), good(ENOUGH[name]))
    driver.raw(described(name, deadline=100), max_retries=0)
    assert driver.waits == [70.0]


@every_wait
def test_where_there_is_time_for_the_last_look_only_there_is_no_other(name):
    driver = scripted_driver(then=good(NOT_YET[name]))
    driver.error(RequestTimeoutError, described(name, deadline=0.5))
    assert driver.waits == []


@every_wait
def test_a_retry_after_up_to_the_last_look_is_waited_for(name):
    driver = scripted_driver(reply(429, retry_after="1"), good(ENOUGH[name]))
    driver.raw(described(name, deadline=1.5), max_retries=0)
    assert driver.waits == [1.0]


# When a booking is due to change


def poll_in_vain(driver, **changes):
    """Poll for a stage that the booking never reaches."""
    driver.answer = good(booking("payment_due", **changes))
    driver.error(RequestTimeoutError, described("bookings.wait", deadline=60))


def is_read_at(driver, moment):
    """Whether a read was in flight at a moment, or began at most the shortest delay after it."""
    start = 1000.0
    for wait in (*driver.waits, 0.0):
        if start - 0.26 <= moment <= start + driver.latency:
            return True
        start += driver.latency + wait
    return False


@each("due", [3.0, 17.3, 29.9, 41.41])
@each("by", ["expire_at", "timeLimit", "both"])
def test_a_booking_is_looked_at_when_it_is_due_to_change(due, by):
    driver = scripted_driver()
    there = datetime.fromtimestamp(driver.calendar() + due, timezone.utc)
    later = (there + timedelta(days=1)).isoformat()
    action = POSSIBLE_ACTION | {"timeLimit": later if by == "expire_at" else there.isoformat()}
    poll_in_vain(
        driver,
        expire_at=later if by == "timeLimit" else there.isoformat(),
        possible_actions={"Pay": action, "Cancel": POSSIBLE_ACTION | {"timeLimit": None}},
    )
    assert is_read_at(driver, 1000 + due)


def test_a_moment_that_has_passed_or_cannot_be_read_changes_no_pause():
    driver = scripted_driver()
    action = POSSIBLE_ACTION | {"timeLimit": "at noon"}
    poll_in_vain(driver, expire_at="2020-01-01T00:00:00Z", possible_actions={"Pay": action})
    for wait, pause in zip(driver.waits, (0.25, 0.5, 1, 2, 4, 8, 10), strict=False):
        assert pause <= wait <= pause + 0.25


def test_a_moment_is_due_by_the_services_clock():
    driver = scripted_driver()
    there = datetime.fromtimestamp(int(driver.calendar()) + 500, timezone.utc)
    driver.answer = lambda _: reply(404, date=format_datetime(there, usegmt=True))
    driver.error(NotFoundError, "catalogue.ports")
    driver.now, driver.requests, driver.effects = 1000.0, [], []
    skew = driver.session.skew
    assert 499 <= skew <= 500
    due = datetime.fromtimestamp(driver.calendar() + skew + 20, timezone.utc)
    poll_in_vain(driver, expire_at=due.isoformat())
    assert is_read_at(driver, 1020)


@each("moment", ["9999-12-31T23:59:59Z", "0001-01-01T00:00:00Z"])
def test_a_moment_beyond_reason_breaks_nothing(moment):
    driver = scripted_driver()
    poll_in_vain(driver, expire_at=moment)
    assert driver.now <= 1060


@given(
    dues=st.lists(st.floats(-10, 130), max_size=4),
    deadline=st.floats(0.1, 120),
    latency=st.floats(0.001, 2),
    failing=st.lists(st.integers(0, 20), max_size=8),
)
def test_whatever_is_due_a_wait_is_gentle_and_never_past_its_deadline(
    dues, deadline, latency, failing
):
    driver = scripted_driver()
    driver.latency = latency
    moments = [
        datetime.fromtimestamp(driver.calendar() + due, timezone.utc).isoformat() for due in dues
    ]
    actions = {
        str(number): POSSIBLE_ACTION | {"timeLimit": moment}
        for number, moment in enumerate(moments)
    }
    seen = good(booking("payment_due", possible_actions=actions))
    driver.answer = lambda request: reply(503) if len(driver.requests) in failing else seen(request)
    driver.error(RequestTimeoutError, described("bookings.wait", deadline=deadline))
    assert driver.now <= 1000 + deadline + 1e-6
    assert len(driver.requests) <= 12 + deadline / 8 + len(dues) + 3 * len(failing)


@each("fraction", [0.0, 0.001, 0.02, 0.5, 0.999])
def test_a_clock_that_tells_whole_seconds_makes_no_look_follow_at_once(fraction):
    driver = scripted_driver()
    driver.latency = 0.002
    due = datetime.fromtimestamp(int(driver.calendar()) + 20 + fraction, timezone.utc)
    seen = booking("payment_due", expire_at=due.isoformat())

    def answer(_):
        there = datetime.fromtimestamp(int(driver.calendar()), timezone.utc)
        return reply(200, seen, date=format_datetime(there, usegmt=True))

    driver.answer = answer
    driver.error(RequestTimeoutError, described("bookings.wait", deadline=60))
    assert len(driver.requests) <= 16


def test_a_long_pause_is_cut_short_even_for_what_is_due_within_the_second(monkeypatch):
    monkeypatch.setattr("tenacity.wait.random.random", lambda: 0.0)
    driver = scripted_driver()
    due = datetime.fromtimestamp(driver.calendar() + 9.85, timezone.utc)
    poll_in_vain(driver, expire_at=due.isoformat())
    assert driver.waits[:5] == [0.25, 0.5, 1, 2, 4]
    assert driver.waits[5] == pytest.approx(0.6, abs=1e-3)
