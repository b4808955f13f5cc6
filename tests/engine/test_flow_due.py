"""A wait looks when a booking is due to change, and never past its deadline."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from email.utils import format_datetime
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferry_sdk import NotFoundError, RequestTimeoutError
from tests.engine.replies import booking, good, reply, scripted_driver
from tests.support.driven import SETTINGS
from tests.support.operations import described
from tests.support.samples import POSSIBLE_ACTION
from tests.support.tables import each

if TYPE_CHECKING:
    from ferry_sdk._engine.http import Reply, Request
    from tests.support.driven import Driver


def poll_in_vain(driver: Driver, **changes: Any) -> None:
    """Poll for a stage that the booking never reaches."""
    driver.answer = good(booking("payment_due", **changes))
    with pytest.raises(RequestTimeoutError):
        driver.raw(described("bookings.wait", deadline=60), SETTINGS)


def is_read_at(driver: Driver, moment: float) -> bool:
    """Whether a read was in flight at a moment, or began at most the shortest delay after it."""
    start = 1000.0
    for wait in (*driver.waits, 0.0):
        if start - 0.26 <= moment <= start + driver.latency:
            return True
        start += driver.latency + wait
    return False


@each("due", [3.0, 17.3, 29.9, 41.41])
@each("by", ["expire_at", "timeLimit", "both"])
def test_a_booking_is_looked_at_when_it_is_due_to_change(due: float, by: str) -> None:
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


def test_a_moment_that_has_passed_or_cannot_be_read_changes_no_pause() -> None:
    driver = scripted_driver()
    action = POSSIBLE_ACTION | {"timeLimit": "at noon"}
    poll_in_vain(driver, expire_at="2020-01-01T00:00:00Z", possible_actions={"Pay": action})
    for wait, pause in zip(driver.waits, (0.25, 0.5, 1, 2, 4, 8, 10), strict=False):
        assert pause <= wait <= pause + 0.25


def test_a_moment_is_due_by_the_services_clock() -> None:
    driver = scripted_driver()
    there = datetime.fromtimestamp(int(driver.calendar()) + 500, timezone.utc)
    driver.answer = lambda _: reply(404, date=format_datetime(there, usegmt=True))
    with pytest.raises(NotFoundError):
        driver.raw(described("catalogue.ports"), SETTINGS)
    driver.now, driver.requests, driver.effects = 1000.0, [], []
    skew = driver.session.skew
    assert 499 <= skew <= 500
    due = datetime.fromtimestamp(driver.calendar() + skew + 20, timezone.utc)
    poll_in_vain(driver, expire_at=due.isoformat())
    assert is_read_at(driver, 1020)


@each("moment", ["9999-12-31T23:59:59Z", "0001-01-01T00:00:00Z"])
def test_a_moment_beyond_reason_breaks_nothing(moment: str) -> None:
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
    dues: list[float], deadline: float, latency: float, failing: list[int]
) -> None:
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
    with pytest.raises(RequestTimeoutError):
        driver.raw(described("bookings.wait", deadline=deadline), SETTINGS)
    assert driver.now <= 1000 + deadline + 1e-6
    assert len(driver.requests) <= 12 + deadline / 8 + len(dues) + 3 * len(failing)


@each("fraction", [0.0, 0.001, 0.02, 0.5, 0.999])
def test_a_clock_that_tells_whole_seconds_makes_no_look_follow_at_once(fraction: float) -> None:
    driver = scripted_driver()
    driver.latency = 0.002
    due = datetime.fromtimestamp(int(driver.calendar()) + 20 + fraction, timezone.utc)
    seen = booking("payment_due", expire_at=due.isoformat())

    def answer(_: Request) -> Reply:
        there = datetime.fromtimestamp(int(driver.calendar()), timezone.utc)
        return reply(200, seen, date=format_datetime(there, usegmt=True))

    driver.answer = answer
    with pytest.raises(RequestTimeoutError):
        driver.raw(described("bookings.wait", deadline=60), SETTINGS)
    assert len(driver.requests) <= 16


def test_a_long_pause_is_cut_short_even_for_what_is_due_within_the_second(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tenacity.wait.random.random", lambda: 0.0)
    driver = scripted_driver()
    due = datetime.fromtimestamp(driver.calendar() + 9.85, timezone.utc)
    poll_in_vain(driver, expire_at=due.isoformat())
    assert driver.waits[:5] == [0.25, 0.5, 1, 2, 4]
    assert driver.waits[5] == pytest.approx(0.6, abs=1e-3)
