"""The clock of the local service."""

import time
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone

import pytest

from ferry_sdk.sandbox.clock import Clock
from ferry_sdk.sandbox.counters import Counters, Effect
from tests.support.tables import each

MOMENT = datetime(2027, 3, 28, 0, 30, tzinfo=timezone.utc)


def test_the_clock_shows_real_time_in_utc():
    before = datetime.now(timezone.utc)
    now = Clock().now()
    assert before <= now <= datetime.now(timezone.utc)
    assert now.utcoffset() == timedelta()


def test_the_clock_advances_by_seconds_or_by_a_timedelta():
    clock = Clock()
    clock.freeze()
    start = clock.now()
    assert clock.advance(90) == start + timedelta(seconds=90)
    assert clock.advance(timedelta(days=2)) == start + timedelta(days=2, seconds=90)
    assert clock.now() == start + timedelta(days=2, seconds=90)


def test_an_advanced_clock_keeps_running():
    clock = Clock()
    moved = clock.advance(3600)
    time.sleep(0.01)
    assert clock.now() - moved >= timedelta(seconds=0.01)
    assert clock.now() - datetime.now(timezone.utc) > timedelta(minutes=59)


@each("step", [-0.001, timedelta(days=-1), float("nan"), 1e300])
def test_the_clock_refuses_to_go_back_or_beyond_the_calendar_by_advance(step):
    with pytest.raises(ValueError, match=r"."):
        Clock().advance(step)


def test_the_clock_travels_both_ways_and_keeps_running():
    clock = Clock()
    assert clock.travel_to(MOMENT) == MOMENT
    assert MOMENT <= clock.now() < MOMENT + timedelta(minutes=1)
    athens = MOMENT.astimezone(timezone(timedelta(hours=2))) - timedelta(days=400)
    assert clock.travel_to(athens) == athens
    assert clock.now().utcoffset() == timedelta()


def test_a_frozen_clock_resumes_from_where_it_stopped():
    clock = Clock()
    clock.travel_to(MOMENT)
    clock.freeze()
    held = clock.now()
    time.sleep(0.01)
    assert clock.now() == held
    assert clock.frozen
    assert clock.travel_to(MOMENT) == clock.now() == MOMENT
    clock.resume()
    assert not clock.frozen
    assert MOMENT <= clock.now() < MOMENT + timedelta(minutes=1)


def test_reset_restores_real_time():
    clock = Clock()
    clock.freeze()
    clock.travel_to(MOMENT)
    clock.reset()
    assert not clock.frozen
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


def test_a_clock_can_start_frozen_at_the_real_time():
    before = datetime.now(timezone.utc)
    clock = Clock(frozen=True)
    assert before <= clock.now() == clock.now() <= datetime.now(timezone.utc)


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


def test_advances_of_several_threads_all_count():
    clock = Clock(MOMENT, frozen=True)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(clock.advance, [1] * 4000))
    assert clock.now() == MOMENT + timedelta(seconds=4000)


def test_requests_are_counted_by_operation():
    counters = Counters(Clock())
    for operation in ("bookings.get", "bookings.get", "tickets.get"):
        counters.request(operation)
    assert counters.requests == {"bookings.get": 2, "tickets.get": 1}
    assert counters.requests["bookings.create"] == 0


def test_effects_have_their_subject_and_time_in_order():
    clock = Clock()
    clock.freeze()
    counters = Counters(clock)
    counters.effect("bookings.create", "B1")
    clock.advance(60)
    counters.effect("bookings.confirm", "B1")
    first, second = counters.effects
    assert first == Effect(
        "bookings.create",
        "B1",
        second.at.fromtimestamp(second.at.timestamp() - 60, second.at.tzinfo),
    )
    assert second.at == clock.now()
    assert counters.effects_of("bookings.confirm") == (second,)
    assert counters.effects_of("tickets.cancel") == ()


def test_the_counters_return_copies():
    counters = Counters(Clock())
    before = counters.requests
    counters.request("tickets.get")
    assert before == {}
    with pytest.raises(TypeError):
        counters.requests["tickets.get"] = 7


def test_reset_clears_every_counter():
    counters = Counters(Clock())
    counters.request("tickets.get")
    counters.effect("tickets.cancel", "T1")
    counters.connection()
    assert counters.connections == 1
    counters.reset()
    assert (counters.requests, counters.effects, counters.connections) == ({}, (), 0)


def test_counts_of_several_threads_all_count():
    counters = Counters(Clock())

    def count(_):
        counters.request("tickets.get")
        counters.effect("tickets.cancel", "T1")

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(count, range(8000)))
    assert counters.requests["tickets.get"] == len(counters.effects) == 8000
