"""Which events a watch gives and when it reads, in virtual time."""

from contextlib import suppress
from datetime import datetime, timedelta, timezone
from itertools import pairwise

import pytest

from ferry_sdk import errors
from ferry_sdk.aftersales import watch
from ferry_sdk.aftersales.events import LAPSING, BookingSnapshot, parse_snapshot
from ferry_sdk.aftersales.schedule import Schedule
from tests.aftersales import virtual
from tests.aftersales.virtual import DAY, DEPARTURE, HOUR, Service, Snapshots, after, booking
from tests.support.tables import each
from tests.support.tiers import LONG

LATER = "2050-06-03T08:00:00+02:00"


def failure(kind, status, **more):
    error = kind("no", status_code=status)
    vars(error).update(more)
    return error


def kinds(events):
    return [(event.booking_id, event.kind) for event in events]


def until(moment, before, then, **more):
    return lambda at: booking(stage=before if at < moment else then, **more)


@each("stage", ["ticketed", "lapsed", "rejected", "voided"])
def test_a_booking_that_comes_to_rest_gives_one_event_and_ends_the_watch(stage):
    service = Service(until(100, "payment_due", stage))
    (event,) = service.watch()
    assert (event.kind, event.stage, event.booking.stage) == (stage, stage, stage)
    assert event.before.stage == "payment_due"
    assert service.time < 300
    assert event.at == after(int(service.time))


@each("skew", [0, 7 * HOUR])
def test_an_option_is_reminded_of_once_half_an_hour_before_and_lapses_on_time(skew):
    """The clock is that of the service."""
    service = Service(skew=skew)
    service.answers["b1"] = lambda at: (
        booking(lapses=10 * HOUR) if at < 10 * HOUR - skew else booking(stage="lapsed")
    )
    lapsing, lapsed = service.watch()
    assert (lapsing.kind, lapsed.kind) == ("lapsing", "lapsed")
    assert timedelta() <= lapsing.at - after(9.5 * HOUR) < timedelta(seconds=2)
    assert timedelta() <= lapsed.at - after(10 * HOUR) < timedelta(seconds=2)


@each("change", [{"total": "61.00"}, {"currency": "TND"}, {"departures": (LATER,)}])
def test_a_new_total_or_departure_is_a_change(change):
    service = Service(lambda at: booking(**(change if at > HOUR else {})))
    (event,) = service.watch(deadline=3 * HOUR)
    assert (event.kind, event.stage) == ("changed", "payment_due")
    assert event.before == BookingSnapshot.of(booking())
    service = Service()  # the order of tickets and a missing departure are no change
    answers = [(DEPARTURE, LATER), (LATER, DEPARTURE), (), (LATER,), (DEPARTURE, LATER)]
    service.answers["b1"] = lambda _: booking(
        departures=answers.pop(0) if len(answers) > 1 else answers[0]
    )
    assert kinds(service.watch()) == []
    assert len(service.reads) > 4


def test_gaps_grow_and_shrink_and_a_partial_or_unreadable_booking_delays_no_other():
    service = Service(lambda _: booking(lapses=20 * HOUR))
    [*service.watch(deadline=20 * HOUR)]
    reads = service.reads_of("b1")
    gaps = [later - earlier for earlier, later in pairwise(reads)]
    assert max(gaps[:2]) < 60
    assert max(gaps) == pytest.approx(900)
    assert min(gaps) >= 1
    assert len(reads) < 200
    assert max(gap for gap, at in zip(gaps, reads, strict=False) if at > 19.9 * HOUR) < 60
    service = Service(lambda at: booking(lapses=(2 if at < 1.8 * HOUR else 5) * HOUR))
    events = [*service.watch(deadline=4.8 * HOUR)]
    assert [event.kind for event in events] == ["lapsing", "lapsing"]
    assert [event.booking.expire_at for event in events] == [after(2 * HOUR), after(5 * HOUR)]
    late = Service(until(10 * HOUR + 20, "payment_due", "lapsed", lapses=10 * HOUR))
    *_, lapsed = late.watch()
    assert lapsed.at - after(10 * HOUR + 20) < timedelta(seconds=30)
    (event,) = Service(until(10, "in_progress", "ticketed")).watch()
    assert event.at < after(30)
    schedule = Schedule()  # a clock that leaves the calendar is read
    schedule.set_time(datetime(9999, 12, 31, tzinfo=timezone.utc).timestamp() + 2 * DAY)
    assert schedule.now().year == 9999
    service = Service(until(HOUR, "partially_ticketed", "ticketed"))
    assert kinds(service.watch()) == [("b1", "partially_ticketed"), ("b1", "ticketed")]
    # A stage that no watch has given is an event even from the start.
    assert kinds(service.watch([booking(stage="ticketed")])) == [("b1", "ticketed")]
    service = Service()  # what has come to rest is read once, or until a read succeeds
    service.answers["b1"] = lambda at: (
        failure(errors.ServerError, 503) if 1 < at < 5 else booking(stage="ticketed")
    )
    assert kinds(service.watch()) == [("b1", "ticketed")]
    assert len(service.reads) == 1
    service.time = 2
    assert kinds(service.watch(deadline=15)) == [("b1", "ticketed")]
    service = Service(lambda _: failure(errors.ServerError, 500))
    issued = until(300, "in_progress", "ticketed")
    for name in map(str, range(20)):
        service.answers[name] = lambda at, name=name: issued(at).model_copy(
            update={"booking_id": name}
        )
    events = [event for event in service.watch(deadline=2 * HOUR) if event.kind == "ticketed"]
    assert len(events) == 20
    assert max(event.at for event in events) < after(600)


FAILURES = [
    *(failure(errors.RateLimitError, 429, retry_after=90.0), failure(errors.ServerError, 503)),
    *(errors.ConnectionFailedError("refused"), errors.UnexpectedResponseError("not JSON")),
]


@each("error", FAILURES)
def test_a_read_that_fails_for_hours_does_not_end_the_watch(error):
    service = Service(lambda at: error if at < 5 * HOUR else booking(stage="ticketed"))
    service.answers["b2"] = lambda at: error if at < 5 * HOUR else booking("b2", "voided")
    assert sorted(kinds(service.watch())) == [("b1", "ticketed"), ("b2", "voided")]
    assert len(service.reads) < 1_000
    service = Service()  # a service that asks for time is given it by all reads
    for name in ("b1", "b2", "b3"):
        service.answers[name] = lambda at: (
            failure(errors.RateLimitError, 429, retry_after=500.0) if at < 1 else booking()
        )
    [*service.watch(deadline=HOUR)]
    assert not [at for at, _ in service.reads if 1 < at < 500]


@each("error", [failure(errors.NotFoundError, 404), failure(errors.PermissionDeniedError, 403)])
def test_a_booking_that_is_refused_three_times_is_not_known_and_left_out(error):
    service, issued = Service(), until(HOUR, "payment_due", "ticketed")
    service.answers["wrong"] = lambda _: error
    service.answers["b1"] = lambda at: error if at < 1 else issued(at)
    first, second = service.watch()
    assert (first.booking_id, first.kind, first.error) == ("wrong", "not_known", error)
    assert (first.stage, first.booking) == (None, None)
    assert (second.booking_id, second.kind) == ("b1", "ticketed")
    assert len(service.reads_of("wrong")) == 3


UNREADABLE = errors.UnexpectedResponseError("no price", status_code=200, field="total_price")


def test_a_booking_that_cannot_be_read_is_told_once():
    service = Service(lambda _: UNREADABLE)
    (event,) = service.watch(deadline=5 * HOUR)
    assert (event.booking_id, event.kind, event.error) == ("b1", "not_known", UNREADABLE)
    assert event.at < after(10)
    assert 3 < len(service.reads) < 50


def test_a_booking_that_can_be_read_again_goes_on():
    service = Service(lambda at: UNREADABLE if at < HOUR else booking(stage="ticketed"))
    assert kinds(service.watch()) == [("b1", "not_known"), ("b1", "ticketed")]


def test_a_moment_of_unreadable_replies_is_no_event():
    service = Service(lambda at: UNREADABLE if at < 4 else booking(stage="ticketed"))
    assert kinds(service.watch()) == [("b1", "ticketed")]


def test_an_unreadable_booking_delays_no_other():
    service = Service(lambda _: UNREADABLE)
    service.answers["b2"] = lambda at: booking("b2", "in_progress" if at < 30 else "ticketed")
    events = [event for event in service.watch(deadline=HOUR) if event.booking_id == "b2"]
    assert kinds(events) == [("b2", "ticketed")]
    assert events[0].at < after(100)


def test_a_damaged_snapshot_is_logged(caplog):
    service = Service(lambda _: booking(stage="ticketed"))
    assert kinds(service.watch(journal=Snapshots({"b1": "{"}))) == [("b1", "ticketed")]
    (message,) = [one for one in caplog.messages if "damaged" in one]
    assert "booking b1" in message


def story(at):
    """Three bookings with every kind of event."""
    total, departure = ("50.00", DEPARTURE) if at < HOUR else ("55.00", LATER)
    stage = "payment_due" if at < 5 * HOUR else "lapsed"
    issued = "in_progress" if at < 50 else "partially_ticketed" if at < 2 * HOUR else "ticketed"
    cancelled = (
        "issuance_due" if at < 3 * HOUR else "partially_voided" if at < 4 * HOUR else "voided"
    )
    return {
        "a": booking("a", stage, lapses=5 * HOUR, total=total),
        "b": booking("b", issued, departures=(departure,)),
        "c": booking("c", cancelled),
    }


TOLD = {
    *[("a", "changed"), ("a", "lapsing"), ("a", "lapsed")],
    *[("b", "partially_ticketed"), ("b", "changed"), ("b", "ticketed")],
    *[("c", "partially_voided"), ("c", "voided")],
}


def lives(*steps):
    service, journal, told = Service(), Snapshots(), []
    for name in "abc":
        service.answers[name] = lambda at, name=name: story(at)[name]
    for life in (*steps, 10**9):
        service.step, service.last_step = 0, life
        with suppress(virtual.Killed):
            told.extend(service.watch(deadline=6 * HOUR - service.time, journal=journal))
        service.time += 1  # as long as a new process takes to start
    return service, told


def test_a_restart_knows_what_was_given_wherever_the_process_was_killed():
    service, told = lives()
    assert sorted(kinds(told)) == sorted(TOLD)
    assert len(service.records) > 2 * len(TOLD)
    for step in service.records:
        for life in (step - 1, step):
            found = kinds(lives(life)[1])
            assert set(found) == TOLD, life
            assert len(found) <= len(TOLD) + 2
    for life in (6, 9, 13):  # of each of many processes
        assert set(kinds(lives(*[life] * 100)[1])) == TOLD, life
    journal = Snapshots()
    service = Service(lambda _: booking(stage="partially_ticketed", lapses=HOUR / 4))
    first = kinds(service.watch(deadline=60, journal=journal))
    assert first == [("b1", "partially_ticketed"), ("b1", "lapsing")]
    assert kinds(service.watch(deadline=60, journal=journal)) == []
    service.answers["b1"] = lambda _: booking(stage="ticketed", total="61.00")
    changed, ticketed = service.watch(deadline=60, journal=journal)
    assert (changed.kind, ticketed.kind) == ("changed", "ticketed")
    assert changed.before.total_price == 50
    assert kinds(service.watch(deadline=60, journal=journal)) == []
    # A process dies before its first event counts.
    other = Snapshots()
    service.answers["b1"] = lambda _: booking(stage="partially_ticketed")
    assert next(service.watch(journal=other)).kind == "partially_ticketed"
    service.answers["b1"] = lambda _: booking(stage="ticketed", total="61.00")
    assert [event.kind for event in service.watch(journal=other)] == ["changed", "ticketed"]


def test_the_first_read_is_compared_with_what_is_known_and_a_watch_ends_at_its_deadline():
    journal = Snapshots()
    service = Service(lambda _: booking())
    [*service.watch(deadline=60, journal=journal)]
    assert len(service.records) == 2, "one loads, one saves: it had no event"
    assert len(service.reads) > 1
    service.answers["b1"] = lambda _: booking(total="61.00")
    (event,) = service.watch([booking(total="61.00")], deadline=60, journal=journal)
    assert event.kind == "changed"
    (event,) = service.watch([booking()], deadline=60)
    assert (event.kind, event.before.total_price) == ("changed", 50)
    # A snapshot that is damaged counts as none.
    snapshot = BookingSnapshot.of(booking(lapses=HOUR))
    text = snapshot.to_text(None, after(HOUR))
    assert parse_snapshot(text) == (snapshot, None, after(HOUR))
    for damaged in ("", "[]", "{}", text.replace("50.00", "x"), text.replace("2050", "20")):
        assert parse_snapshot(damaged) is None
    journal = Snapshots(b1="{}")
    service.answers["b1"] = lambda _: booking(stage="ticketed")
    assert kinds(service.watch(journal=journal)) == [("b1", "ticketed")]
    service = Service()
    assert ([*service.watch([])], service.time) == ([], 0)
    service.answers["b1"] = lambda _: booking()
    assert [*service.watch(deadline=1000)] == []
    assert service.time == pytest.approx(1000)
    service.answers["b1"] = lambda _: failure(errors.AuthenticationError, 401)
    with pytest.raises(errors.AuthenticationError):
        next(service.watch())
    wrong = [("b1", 5, "bookings"), (5, 5, "bookings"), ([""], 5, "bookings[0]")]
    for bookings, deadline, field in [*wrong, (["b1"], 0, "deadline")]:
        with pytest.raises(errors.InvalidInputError) as caught:
            watch(service, bookings, deadline=deadline)
        assert caught.value.field == field


@each("many", [500, pytest.param(10_000, marks=LONG)])
def test_many_bookings_are_read_at_the_rate_with_the_most_urgent_first(many):
    """A limiter lets through one 500th of the bookings a second; a hundredth are near the end."""
    rate = many / 500
    service = Service(seconds=1 / rate)
    limits = {f"b{number}": 10 * DAY for number in range(many)}
    urgent = {f"b{number}": HOUR / 2 + 60 + number % 60 for number in range(0, many, 100)}
    limits |= urgent
    for name, limit in limits.items():
        service.answers[name] = lambda at, name=name, limit=limit: booking(
            name, "payment_due" if at < limit else "lapsed", lapses=limit
        )
    given = [booking(name, lapses=limit) for name, limit in limits.items()]
    events = [*service.watch(given, deadline=1.1 * HOUR)]
    assert {name for _, name in service.reads[: len(urgent)]} == urgent.keys()
    assert {name for at, name in service.reads if at <= 900} == limits.keys()
    assert len(service.reads) <= rate * 1.1 * HOUR + 8
    assert sorted(kinds(events)) == sorted(
        (name, kind) for name in urgent for kind in ("lapsing", "lapsed")
    )
    for event in events:
        limit = after(urgent[event.booking_id]) - (event.kind == "lapsing") * LAPSING
        assert timedelta() <= event.at - limit < timedelta(seconds=20 / rate + 2)
