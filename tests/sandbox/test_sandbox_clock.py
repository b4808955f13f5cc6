"""The clock of the local service."""

import time
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone

import pytest

from ferry_sdk.sandbox.clock import Clock
from ferry_sdk.sandbox.counters import Counters, Effect
from tests.support.tables import each

MOMENT = datetime(2027, 3, 28, 0, 30, tzinfo=timezone.utc)


def test_the_clock_shows_real_time_in_utc_and_can_start_frozen():
    for frozen in (False, True):
        before = datetime.now(timezone.utc)
        clock = Clock(frozen=frozen)
        now = clock.now()
        assert before <= now <= datetime.now(timezone.utc)
        assert now.utcoffset() == timedelta()
        assert (clock.now() == now) == frozen


def test_the_clock_advances_by_seconds_or_by_a_timedelta_and_keeps_running():
    clock = Clock(frozen=True)
    start = clock.now()
    assert clock.advance(90) == start + timedelta(seconds=90)
    assert clock.advance(timedelta(days=2)) == start + timedelta(days=2, seconds=90)
    assert clock.now() == start + timedelta(days=2, seconds=90)
    clock.reset()
    clock.resume()
    moved = clock.advance(3600)
    time.sleep(0.01)
    assert clock.now() - moved >= timedelta(seconds=0.01)
    assert clock.now() - datetime.now(timezone.utc) > timedelta(minutes=59)


@each("step", [-0.001, timedelta(days=-1), float("nan"), 1e300])
def test_the_clock_refuses_to_go_back_or_beyond_the_calendar_by_advance(step):
    with pytest.raises(ValueError, match=r"."):
        Clock().advance(step)


def test_the_clock_travels_both_ways_and_resumes_from_where_it_stopped():
    clock = Clock()
    assert clock.travel_to(MOMENT) == MOMENT
    assert MOMENT <= clock.now() < MOMENT + timedelta(minutes=1)
    athens = MOMENT.astimezone(timezone(timedelta(hours=2))) - timedelta(days=400)
    assert clock.travel_to(athens) == athens
    assert clock.now().utcoffset() == timedelta()
    clock.freeze()
    held = clock.now()
    time.sleep(0.01)
    assert clock.now() == held
    assert clock.frozen
    assert clock.travel_to(MOMENT) == clock.now() == MOMENT
    clock.resume()
    assert not clock.frozen
    assert MOMENT <= clock.now() < MOMENT + timedelta(minutes=1)
    clock.reset()
    assert abs(clock.now() - datetime.now(timezone.utc)) < timedelta(minutes=1)


@each("frozen", [False, True])
def test_reset_restores_the_initial_time(frozen):
    clock = Clock(MOMENT, frozen=frozen)
    for _ in range(2):
        assert clock.frozen == frozen
        assert MOMENT <= clock.now() < MOMENT + timedelta(minutes=1)
        assert (clock.now() == MOMENT) == frozen
        clock.resume()
        clock.advance(timedelta(days=9))
        clock.reset()


@each(
    "moment",
    [
        datetime(1969, 12, 31, 23, 59, 59, tzinfo=timezone.utc),
        datetime(1970, 1, 1, 1, tzinfo=timezone(timedelta(hours=2))),
        datetime(2199, 12, 31, 0, 0, 1, tzinfo=timezone.utc),
        datetime.min.replace(tzinfo=timezone.utc),
        datetime.max.replace(tzinfo=timezone(timedelta(hours=-14))),
        MOMENT.replace(tzinfo=None),
    ],
)
def test_an_invalid_time_leaves_the_clock_unchanged(moment):
    clock = Clock(MOMENT, frozen=True)
    with pytest.raises(ValueError, match=r"time zone|1970 to 2199"):
        clock.travel_to(moment)
    with pytest.raises(ValueError, match=r"time zone|1970 to 2199"):
        Clock(moment)
    with pytest.raises(ValueError, match="1970 to 2199"):
        clock.advance(timedelta(days=365 * 200))
    assert clock.now() == MOMENT


def test_requests_and_effects_are_counted():
    clock = Clock(MOMENT, frozen=True)
    counters = Counters(clock)
    before = counters.requests
    for operation in ("bookings.get", "bookings.get", "tickets.get"):
        counters.request(operation)
    assert before == {}
    assert counters.requests == {"bookings.get": 2, "tickets.get": 1}
    assert counters.requests["bookings.create"] == 0
    with pytest.raises(TypeError):
        counters.requests["tickets.get"] = 7
    counters.effect("bookings.create", "B1")
    clock.advance(60)
    counters.effect("bookings.confirm", "B1")
    created = Effect("bookings.create", "B1", MOMENT)
    confirmed = Effect("bookings.confirm", "B1", MOMENT + timedelta(seconds=60))
    assert counters.effects == (created, confirmed)
    assert counters.effects_of("bookings.confirm") == (confirmed,)
    assert counters.effects_of("tickets.cancel") == ()
    counters.connection()
    assert counters.connections == 1
    counters.reset()
    assert (counters.requests, counters.effects, counters.connections) == ({}, (), 0)


def test_advances_and_counts_of_several_threads_all_count():
    clock = Clock(MOMENT, frozen=True)
    counters = Counters(clock)

    def count(_):
        clock.advance(1)
        counters.request("tickets.get")
        counters.effect("tickets.cancel", "T1")

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(count, range(1600)))
    assert clock.now() == MOMENT + timedelta(seconds=1600)
    assert counters.requests["tickets.get"] == len(counters.effects) == 1600
