"""Which events a watch gives and when it reads, in virtual time."""

from contextlib import suppress
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest

from ferry_sdk import errors
from ferry_sdk.aftersales import watch
from ferry_sdk.aftersales.events import LAPSING, BookingSnapshot, parse_snapshot
from ferry_sdk.aftersales.schedule import Schedule
from tests.aftersales import virtual
from tests.aftersales.virtual import DAY, DEPARTURE, HOUR, Service, Snapshots, after, booking
from tests.support.exchanges import caught
from tests.support.tiers import LONG

LATER = "2050-06-03T08:00:00+02:00"
UNREADABLE = errors.UnexpectedResponseError("no price", status_code=200, field="total_price")


def failure(kind, status, **attributes):
    error = kind("no", status_code=status)
    vars(error).update(attributes)
    return error


def kinds(events):
    return [(event.booking_id, event.kind) for event in events]


def until(moment, before, then, **booking_changes):
    """An answer whose stage changes at a moment."""
    return lambda at: booking(stage=before if at < moment else then, **booking_changes)


class TestStages:
    @pytest.mark.parametrize("stage", ["ticketed", "lapsed", "rejected", "voided"])
    def test_booking_at_rest_gives_one_event(self, stage):
        service = Service(until(100, "payment_due", stage))
        (event,) = service.watch()
        assert (event.kind, event.stage, event.booking.stage) == (stage, stage, stage)
        assert event.before.stage == "payment_due"
        assert event.at == after(int(service.time))

    @pytest.mark.parametrize("stage", ["ticketed", "lapsed", "rejected", "voided"])
    def test_booking_at_rest_ends_the_watch(self, stage):
        service = Service(until(100, "payment_due", stage))
        [*service.watch()]
        assert service.time < 300

    def test_partial_stage_goes_on(self):
        service = Service(until(HOUR, "partially_ticketed", "ticketed"))
        assert kinds(service.watch()) == [("b1", "partially_ticketed"), ("b1", "ticketed")]

    def test_stage_never_reported_is_an_event(self):
        service = Service(lambda _: booking(stage="ticketed"))
        assert kinds(service.watch([booking(stage="ticketed")])) == [("b1", "ticketed")]

    def test_booking_at_rest_is_read_once(self):
        service = Service(lambda _: booking(stage="ticketed"))
        assert kinds(service.watch()) == [("b1", "ticketed")]
        assert len(service.reads) == 1


@pytest.mark.parametrize("skew", [0, 7 * HOUR], ids=["same clock", "service is ahead"])
class TestLapsing:
    """The clock is that of the service."""

    @pytest.fixture
    def events(self, skew):
        """The events of an option that lapses ten hours after the start."""
        service = Service(skew=skew)
        service.answers["b1"] = lambda at: (
            booking(lapses=10 * HOUR) if at < 10 * HOUR - skew else booking(stage="lapsed")
        )
        return [*service.watch()]

    def test_option_gives_two_events(self, events):
        assert [event.kind for event in events] == ["lapsing", "lapsed"]

    def test_reminder_comes_half_an_hour_before(self, events):
        assert timedelta() <= events[0].at - after(9.5 * HOUR) < timedelta(seconds=2)

    def test_option_lapses_on_time(self, events):
        assert timedelta() <= events[1].at - after(10 * HOUR) < timedelta(seconds=2)


def test_later_deadline_is_reminded_of_again():
    service = Service(lambda at: booking(lapses=(2 if at < 1.8 * HOUR else 5) * HOUR))
    events = [*service.watch(deadline=4.8 * HOUR)]
    assert [event.kind for event in events] == ["lapsing", "lapsing"]
    assert [event.booking.expire_at for event in events] == [after(2 * HOUR), after(5 * HOUR)]


class TestChanges:
    @pytest.mark.parametrize(
        "change",
        [
            pytest.param({"total": "61.00"}, id="total"),
            pytest.param({"currency": "TND"}, id="currency"),
            pytest.param({"departures": (LATER,)}, id="departure"),
        ],
    )
    def test_new_total_or_departure_is_a_change(self, change):
        service = Service(lambda at: booking(**(change if at > HOUR else {})))
        (event,) = service.watch(deadline=3 * HOUR)
        assert (event.kind, event.stage) == ("changed", "payment_due")
        assert event.before == BookingSnapshot.of(booking())

    def test_order_or_lack_of_departures_is_no_change(self):
        answers = [(DEPARTURE, LATER), (LATER, DEPARTURE), (), (LATER,), (DEPARTURE, LATER)]
        service = Service(
            lambda _: booking(departures=answers.pop(0) if len(answers) > 1 else answers[0])
        )
        assert kinds(service.watch()) == []
        assert len(service.reads) > 4

    def test_first_read_is_compared_with_the_booking_passed(self):
        service = Service(lambda _: booking(total="61.00"))
        (event,) = service.watch([booking()], deadline=60)
        assert (event.kind, event.before.total_price) == ("changed", 50)


@pytest.fixture(scope="module")
def reads():
    """When a booking was read that lapses in 20 hours."""
    service = Service(lambda _: booking(lapses=20 * HOUR))
    [*service.watch(deadline=20 * HOUR)]
    return service.reads_of("b1")


@pytest.fixture(scope="module")
def gaps(reads):
    return [later - earlier for earlier, later in pairwise(reads)]


class TestGaps:
    def test_first_gaps_are_short(self, gaps):
        assert max(gaps[:2]) < 60

    def test_gaps_grow_to_15_minutes(self, gaps):
        assert max(gaps) == pytest.approx(900)

    def test_no_gap_is_below_a_second(self, gaps):
        assert min(gaps) >= 1

    def test_reads_are_few(self, reads):
        assert len(reads) < 200

    def test_gaps_are_short_near_the_deadline(self, reads, gaps):
        assert max(gap for gap, at in zip(gaps, reads, strict=False) if at > 19.9 * HOUR) < 60

    def test_late_end_is_seen_within_seconds(self):
        service = Service(until(10 * HOUR + 20, "payment_due", "lapsed", lapses=10 * HOUR))
        *_, lapsed = service.watch()
        assert lapsed.at - after(10 * HOUR + 20) < timedelta(seconds=30)

    def test_booking_in_progress_is_read_often(self):
        (event,) = Service(until(10, "in_progress", "ticketed")).watch()
        assert event.at < after(30)

    def test_clock_beyond_the_calendar_is_readable(self):
        schedule = Schedule()
        schedule.set_time(datetime(9999, 12, 31, tzinfo=UTC).timestamp() + 2 * DAY)
        assert schedule.now().year == 9999


FAILURES = [
    pytest.param(failure(errors.RateLimitError, 429, retry_after=90.0), id="rate limit"),
    pytest.param(failure(errors.ServerError, 503), id="server error"),
    pytest.param(errors.ConnectionFailedError("refused"), id="no connection"),
    pytest.param(errors.UnexpectedResponseError("not JSON"), id="not JSON"),
]


class TestFailures:
    @pytest.mark.parametrize("error", FAILURES)
    def test_failures_for_hours_do_not_end_a_watch(self, error):
        service = Service(lambda at: error if at < 5 * HOUR else booking(stage="ticketed"))
        service.answers["b2"] = lambda at: error if at < 5 * HOUR else booking("b2", "voided")
        assert sorted(kinds(service.watch())) == [("b1", "ticketed"), ("b2", "voided")]
        assert len(service.reads) < 1_000

    def test_failed_read_is_repeated_soon(self):
        error = failure(errors.ServerError, 503)
        service = Service(lambda at: error if at < 3 else booking(stage="ticketed"))
        assert kinds(service.watch(deadline=13)) == [("b1", "ticketed")]

    def test_all_reads_pause_as_the_service_asks(self):
        service = Service()
        for name in ("b1", "b2", "b3"):
            service.answers[name] = lambda at: (
                failure(errors.RateLimitError, 429, retry_after=500.0) if at < 1 else booking()
            )
        [*service.watch(deadline=HOUR)]
        assert not [at for at, _ in service.reads if 1 < at < 500]

    def test_failing_booking_delays_no_other(self):
        service = Service(lambda _: failure(errors.ServerError, 500))
        issued = until(300, "in_progress", "ticketed")
        for name in map(str, range(20)):
            service.answers[name] = lambda at, name=name: issued(at).model_copy(
                update={"booking_id": name}
            )
        events = [event for event in service.watch(deadline=2 * HOUR) if event.kind == "ticketed"]
        assert len(events) == 20
        assert max(event.at for event in events) < after(600)


@pytest.mark.parametrize(
    "error",
    [
        pytest.param(failure(errors.NotFoundError, 404), id="not found"),
        pytest.param(failure(errors.PermissionDeniedError, 403), id="forbidden"),
    ],
)
class TestRefusals:
    def test_third_refusal_is_an_event(self, error):
        (event,) = Service(lambda _: error).watch()
        assert (event.booking_id, event.kind, event.error) == ("b1", "not_known", error)
        assert (event.stage, event.booking) == (None, None)

    def test_refused_booking_is_left_out(self, error):
        service = Service(until(HOUR, "payment_due", "ticketed"))
        service.answers["wrong"] = lambda _: error
        assert kinds(service.watch()) == [("wrong", "not_known"), ("b1", "ticketed")]
        assert len(service.reads_of("wrong")) == 3

    def test_booking_shown_later_goes_on(self, error):
        issued = until(HOUR, "payment_due", "ticketed")
        service = Service(lambda at: error if at < 1 else issued(at))
        assert kinds(service.watch()) == [("b1", "ticketed")]


class TestUnreadable:
    def test_unreadable_booking_gives_one_event(self):
        service = Service(lambda _: UNREADABLE)
        (event,) = service.watch(deadline=5 * HOUR)
        assert (event.booking_id, event.kind, event.error) == ("b1", "not_known", UNREADABLE)
        assert event.at < after(10)
        assert 3 < len(service.reads) < 50

    def test_booking_readable_again_goes_on(self):
        service = Service(lambda at: UNREADABLE if at < HOUR else booking(stage="ticketed"))
        assert kinds(service.watch()) == [("b1", "not_known"), ("b1", "ticketed")]

    def test_moment_of_unreadable_replies_is_no_event(self):
        service = Service(lambda at: UNREADABLE if at < 4 else booking(stage="ticketed"))
        assert kinds(service.watch()) == [("b1", "ticketed")]

    def test_unreadable_booking_delays_no_other(self):
        service = Service(lambda _: UNREADABLE)
        service.answers["b2"] = lambda at: booking("b2", "in_progress" if at < 30 else "ticketed")
        events = [event for event in service.watch(deadline=HOUR) if event.booking_id == "b2"]
        assert kinds(events) == [("b2", "ticketed")]
        assert events[0].at < after(100)


class TestSnapshots:
    SNAPSHOT = BookingSnapshot.of(booking(lapses=HOUR))
    TEXT = SNAPSHOT.to_text(None, after(HOUR))

    def test_stored_snapshot_is_read(self):
        assert parse_snapshot(self.TEXT) == (self.SNAPSHOT, None, after(HOUR))

    @pytest.mark.parametrize(
        "damaged",
        [
            pytest.param("", id="empty"),
            pytest.param("[]", id="list"),
            pytest.param("{}", id="object"),
            pytest.param(TEXT.replace("50.00", "x"), id="amount"),
            pytest.param(TEXT.replace("2050", "20"), id="year"),
        ],
    )
    def test_damaged_snapshot_is_none(self, damaged):
        assert parse_snapshot(damaged) is None

    def test_damaged_snapshot_counts_as_none(self):
        service = Service(lambda _: booking(stage="ticketed"))
        assert kinds(service.watch(journal=Snapshots(b1="{}"))) == [("b1", "ticketed")]

    def test_damaged_snapshot_is_logged(self, caplog):
        service = Service(lambda _: booking(stage="ticketed"))
        assert kinds(service.watch(journal=Snapshots(b1="{"))) == [("b1", "ticketed")]
        (message,) = [text for text in caplog.messages if "damaged" in text]
        assert "booking b1" in message

    def test_booking_without_events_is_saved_once(self):
        service = Service(lambda _: booking())
        [*service.watch(deadline=60, journal=Snapshots())]
        assert len(service.reads) > 1
        assert len(service.records) == 2, "one loads, one saves"

    def test_stored_state_counts_before_the_booking_passed(self):
        journal = Snapshots()
        service = Service(lambda _: booking())
        [*service.watch(deadline=60, journal=journal)]
        service.answers["b1"] = lambda _: booking(total="61.00")
        (event,) = service.watch([booking(total="61.00")], deadline=60, journal=journal)
        assert event.kind == "changed"


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


EVENTS_OF_STORY = {
    ("a", "changed"),
    ("a", "lapsing"),
    ("a", "lapsed"),
    ("b", "partially_ticketed"),
    ("b", "changed"),
    ("b", "ticketed"),
    ("c", "partially_voided"),
    ("c", "voided"),
}


def watch_story(*last_steps):
    """Watch the story in processes that are killed after these steps, and in one to the end."""
    service, journal, events = Service(), Snapshots(), []
    for name in "abc":
        service.answers[name] = lambda at, name=name: story(at)[name]
    for last_step in (*last_steps, 10**9):
        service.step, service.last_step = 0, last_step
        with suppress(virtual.Killed):
            events.extend(service.watch(deadline=6 * HOUR - service.time, journal=journal))
        service.time += 1  # as long as a new process takes to start
    return service, events


class TestRestarts:
    def test_each_event_is_given_once(self):
        service, events = watch_story()
        assert sorted(kinds(events)) == sorted(EVENTS_OF_STORY)
        assert len(service.records) > 2 * len(EVENTS_OF_STORY)

    @pytest.mark.slow
    def test_kill_at_any_step_loses_no_event(self):
        service, _ = watch_story()
        for step in service.records:
            for last_step in (step - 1, step):
                _, events = watch_story(last_step)
                assert {*kinds(events)} == EVENTS_OF_STORY, last_step
                assert len(events) <= len(EVENTS_OF_STORY) + 2

    @pytest.mark.parametrize("last_step", [6, 9, 13])
    def test_many_kills_lose_no_event(self, last_step):
        _, events = watch_story(*[last_step] * 100)
        assert {*kinds(events)} == EVENTS_OF_STORY

    def test_next_watch_gives_new_events_alone(self):
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

    def test_event_before_a_crash_is_compared_later(self):
        journal = Snapshots()
        service = Service(lambda _: booking(stage="partially_ticketed"))
        # The process ends before its first event counts as given.
        assert next(service.watch(journal=journal)).kind == "partially_ticketed"
        service.answers["b1"] = lambda _: booking(stage="ticketed", total="61.00")
        assert [event.kind for event in service.watch(journal=journal)] == ["changed", "ticketed"]


class TestEnd:
    def test_watch_of_nothing_ends_at_once(self):
        service = Service()
        assert [*service.watch([])] == []
        assert service.time == 0

    def test_watch_ends_at_its_deadline(self):
        service = Service(lambda _: booking())
        assert [*service.watch(deadline=1000)] == []
        assert service.time == pytest.approx(1000)

    def test_rejected_token_ends_the_watch(self):
        service = Service(lambda _: failure(errors.AuthenticationError, 401))
        caught(errors.AuthenticationError, next, service.watch())


@pytest.mark.parametrize(
    ("bookings", "deadline", "field"),
    [
        pytest.param("b1", 5, "bookings", id="a text"),
        pytest.param(5, 5, "bookings", id="a number"),
        pytest.param([""], 5, "bookings[0]", id="an empty id"),
        pytest.param(["b1"], 0, "deadline", id="no time"),
    ],
)
def test_wrong_argument_is_named(bookings, deadline, field):
    error = caught(errors.InvalidInputError, watch, Service(), bookings, deadline=deadline)
    assert error.field == field


@pytest.fixture(scope="module", params=[500, pytest.param(10_000, marks=LONG)])
def count(request):
    return request.param


@pytest.fixture(scope="module")
def rate(count):
    """A limiter lets through one 500th of the bookings a second."""
    return count / 500


@pytest.fixture(scope="module")
def urgent(count):
    """The deadlines of the hundredth of the bookings that lapses soon, by their ids."""
    return {f"b{number}": HOUR / 2 + 60 + number % 60 for number in range(0, count, 100)}


@pytest.fixture(scope="module")
def watched(count, rate, urgent):
    """The service, and the events of all bookings."""
    service = Service(seconds=1 / rate)
    limits = {f"b{number}": 10 * DAY for number in range(count)} | urgent
    for name, limit in limits.items():
        service.answers[name] = lambda at, name=name, limit=limit: booking(
            name, "payment_due" if at < limit else "lapsed", lapses=limit
        )
    bookings = [booking(name, lapses=limit) for name, limit in limits.items()]
    return service, [*service.watch(bookings, deadline=1.1 * HOUR)]


class TestManyBookings:
    @pytest.mark.slow
    def test_most_urgent_are_read_first(self, watched, urgent):
        service, _ = watched
        assert {name for _, name in service.reads[: len(urgent)]} == urgent.keys()

    def test_every_booking_is_read_in_time(self, watched):
        service, _ = watched
        assert {name for at, name in service.reads if at <= 900} == service.answers.keys()

    def test_reads_keep_to_the_rate(self, watched, rate):
        service, _ = watched
        assert len(service.reads) <= rate * 1.1 * HOUR + 8

    def test_urgent_bookings_give_their_events(self, watched, urgent):
        _, events = watched
        lapsing = [(name, "lapsing") for name in urgent]
        lapsed = [(name, "lapsed") for name in urgent]
        assert sorted(kinds(events)) == sorted(lapsing + lapsed)

    def test_events_are_on_time(self, watched, urgent, rate):
        _, events = watched
        for event in events:
            limit = after(urgent[event.booking_id])
            due = limit - LAPSING if event.kind == "lapsing" else limit
            assert timedelta() <= event.at - due < timedelta(seconds=20 / rate + 2)
