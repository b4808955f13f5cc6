"""A watch until departure: its events and its reads, in virtual time."""

from contextlib import suppress
from datetime import datetime, timedelta
from itertools import pairwise, product

import pytest

from ferry_sdk import errors
from ferry_sdk.aftersales import watch
from ferry_sdk.aftersales.departures import StoredDepartures, parse_departures
from ferry_sdk.journal import Journal
from ferry_sdk.types import OutcomeDetails
from tests.aftersales import virtual
from tests.aftersales.virtual import DAY, HOUR, Departures, Service, after, booking
from tests.journal.intents import confirmation
from tests.support.exchanges import caught
from tests.support.tiers import LONG

OUT, BACK = 83 * DAY, 90 * DAY
END = 91 * DAY
ONE_DAY, TWO_HOURS = timedelta(days=1), timedelta(hours=2)
REMIND = (ONE_DAY, TWO_HOURS)
ROUND = 300.0


def departure(seconds):
    return after(seconds).isoformat()


def ticketed(*moments, stage="ticketed", **changes):
    """A booking that departs at these moments, in seconds since the start; None: no moment."""
    departures = tuple(None if each is None else departure(each) for each in moments)
    return booking(stage=stage, departures=departures, **changes)


def moves(moment, before, then):
    """An answer that changes at a moment."""
    return lambda at: before if at < moment else then


def follow(service, *, deadline=END, journal=None, remind=REMIND, **options):
    """The events of one watch until departure."""
    options = {"until": "departure", "remind": remind, **options}
    return [*service.watch(deadline=deadline, journal=journal, **options)]


def rounds(service, journal, *, length, until, remind=REMIND):
    """Give the events of watches that follow each other, as a worker begins them."""
    while service.time < until:
        next_round = service.time + length
        options = {"until": "departure", "remind": remind}
        yield from service.watch(deadline=length, journal=journal, **options)
        service.time = max(service.time, next_round)


def follow_in_rounds(service, journal, *, length=ROUND, until=END):
    return [*rounds(service, journal, length=length, until=until)]


def kinds(events):
    return [event.kind for event in events]


def reminders(events):
    """The leads of the reminders, each with the direction."""
    return [(str(event.leg), event.lead) for event in events if event.kind == "departing"]


@pytest.fixture
def journal():
    """A journal in memory."""
    return Departures()


@pytest.fixture(scope="module")
def one_way():
    """The service with a ticket that departs 90 days after the start."""
    return Service(lambda _: ticketed(BACK))


@pytest.fixture(scope="module")
def one_way_events(one_way):
    """The events of a one-way ticket until it departs."""
    return follow(one_way)


class TestOneWay:
    def test_watch_ends_with_the_departure(self, one_way_events):
        assert kinds(one_way_events) == ["ticketed", "departing", "departing", "departed"]

    def test_reminders_come_when_their_leads_begin(self, one_way_events):
        for event in one_way_events[1:3]:
            assert timedelta() <= event.at - (event.departs_at - event.lead) <= timedelta(seconds=2)

    def test_departure_is_given_when_the_ship_leaves(self, one_way_events):
        departed = one_way_events[-1]
        assert timedelta() <= departed.at - after(BACK) <= timedelta(seconds=2)

    def test_reminder_names_its_sailing(self, one_way_events):
        reminder = one_way_events[1]
        assert (reminder.leg, reminder.departs_at) == ("Outward", after(BACK))
        assert (reminder.lead, reminder.stage) == (ONE_DAY, "ticketed")
        assert reminder.booking.tickets[0].id == "t0"

    def test_departed_names_its_sailing(self, one_way_events):
        departed = one_way_events[-1]
        assert (departed.leg, departed.departs_at, departed.lead) == ("Outward", after(BACK), None)

    def test_reads_of_90_days_are_few(self, one_way, one_way_events):
        assert len(one_way.reads) <= 130

    def test_booking_is_read_once_a_day(self, one_way, one_way_events):
        early = [at for at in one_way.reads_of("b1") if at < BACK - DAY]
        assert {round(later - earlier) for earlier, later in pairwise(early)} == {86_400}

    def test_booking_is_read_hourly_on_its_last_day(self, one_way, one_way_events):
        late = [at for at in one_way.reads_of("b1") if at >= BACK - DAY]
        assert max(later - earlier for earlier, later in pairwise(late)) <= HOUR


@pytest.fixture(scope="module")
def round_trip():
    """The service with two tickets, of which the second departs a week after the first."""
    return Service(lambda _: ticketed(OUT, BACK))


@pytest.fixture(scope="module")
def round_trip_events(round_trip):
    """The events of a round trip until its way back departs, with three leads."""
    return follow(round_trip, remind=(ONE_DAY, TWO_HOURS, timedelta(days=3, minutes=7)))


class TestRoundTrip:
    def test_each_leg_has_each_reminder(self, round_trip_events):
        leads = (timedelta(days=3, minutes=7), ONE_DAY, TWO_HOURS)
        assert reminders(round_trip_events) == [*product(("Outward", "Return"), leads)]

    def test_each_leg_departs(self, round_trip_events):
        departed = [event.leg for event in round_trip_events if event.kind == "departed"]
        assert departed == ["Outward", "Return"]

    def test_reads_of_90_days_are_few(self, round_trip, round_trip_events):
        assert len(round_trip.reads) <= 130

    def test_first_sailing_is_read_often_on_its_day(self, round_trip, round_trip_events):
        late = [at for at in round_trip.reads_of("b1") if OUT - DAY <= at <= OUT + 2]
        assert max(later - earlier for earlier, later in pairwise(late)) <= 6 * HOUR


def both_ways(outward, back=None):
    """A booking of one ticket for both ways, which departs at these moments."""
    answer = ticketed(DAY)
    (ticket,) = answer.tickets
    legs = {"outward": {"journey": {"depart_at": departure(outward)}}}
    if back is not None:
        legs["return"] = {"journey": {"depart_at": departure(back)}}
    availability = type(ticket.availability).model_validate(legs)
    changes = {"availability": availability, "direction": "OUTWARD+RETURN"}
    return answer.model_copy(update={"tickets": (ticket.model_copy(update=changes),)})


def test_both_ways_of_one_ticket_depart():
    service = Service(lambda _: both_ways(5 * DAY, 9 * DAY))
    departed = [event for event in follow(service) if event.kind == "departed"]
    assert [event.departs_at for event in departed] == [after(5 * DAY), after(9 * DAY)]


class TestMovedDepartures:
    def test_later_departure_is_reminded_of_again(self):
        service = Service(moves(9.5 * DAY, ticketed(10 * DAY), ticketed(12 * DAY)))
        events = follow(service)
        assert kinds(events) == [
            "ticketed",
            "departing",
            "changed",
            "departing",
            "departing",
            "departed",
        ]
        assert events[-1].at - after(12 * DAY) < timedelta(seconds=3)

    def test_earlier_departure_is_given_at_once(self):
        service = Service(moves(5 * DAY, ticketed(10 * DAY), ticketed(5 * DAY + 1.5 * HOUR)))
        events = follow(service)
        assert kinds(events) == ["ticketed", "changed", "departing", "departed"]
        assert reminders(events) == [("Outward", TWO_HOURS)]

    def test_nobody_is_reminded_of_the_old_departure(self):
        service = Service(moves(9 * DAY - 1, ticketed(10 * DAY), ticketed(20 * DAY)))
        events = follow(service, remind=[ONE_DAY])
        assert kinds(events) == ["ticketed", "changed", "departing", "departed"]
        assert events[2].departs_at == after(20 * DAY)

    def test_moment_left_out_is_no_change(self):
        service = Service(lambda at: ticketed(None if 2 * DAY < at < 8 * DAY else 10 * DAY))
        assert kinds(follow(service)) == ["ticketed", "departing", "departing", "departed"]


class TestCancelledSailings:
    def test_cancelled_booking_ends_the_watch(self):
        service = Service(moves(5 * DAY, ticketed(10 * DAY), ticketed(10 * DAY, stage="voided")))
        assert kinds(follow(service)) == ["ticketed", "voided"]
        assert service.time < 6 * DAY + 2

    def test_nobody_is_reminded_of_a_cancelled_sailing(self):
        gone = ticketed(
            5 * DAY, 10 * DAY, stage="partially_voided", statuses=("Canceled", "Issued")
        )
        service = Service(moves(4 * DAY - 1, ticketed(5 * DAY, 10 * DAY), gone))
        events = follow(service, remind=[ONE_DAY])
        assert kinds(events) == ["ticketed", "partially_voided", "departing", "departed"]
        assert events[2].leg == "Return"

    def test_rest_of_a_voided_booking_is_read_daily(self):
        gone = ticketed(OUT, BACK, stage="partially_voided", statuses=("Issued", "Canceled"))
        service = Service(moves(DAY, ticketed(OUT, BACK), gone))
        follow(service)
        assert len(service.reads) <= 130

    def test_issued_leg_departs_while_the_other_fails(self):
        failed = ("Issued", "Failed")
        part = ticketed(2 * DAY, 9 * DAY, stage="partially_ticketed", statuses=failed)
        events = follow(Service(lambda _: part), deadline=3 * DAY)
        assert reminders(events) == [("Outward", ONE_DAY), ("Outward", TWO_HOURS)]
        assert kinds(events)[-1] == "departed"


@pytest.mark.parametrize(
    ("day", "moment"),
    [
        pytest.param("2050-10-30", "2050-10-30T08:00:00+01:00", id="autumn, Marseille"),
        pytest.param("2050-10-30", "2050-10-30T08:00:00+00:00", id="autumn, London"),
        pytest.param("2051-03-26", "2051-03-26T08:00:00+02:00", id="spring, Marseille"),
        pytest.param("2051-03-26", "2051-03-26T08:00:00+01:00", id="spring, Tunis"),
    ],
)
def test_lead_is_exact_where_summer_time_changes(day, moment):
    service = Service(lambda _: booking(stage="ticketed", departures=(moment,)))
    service.time = (datetime.fromisoformat(f"{day}T00:00:00+00:00") - virtual.START).total_seconds()
    service.time -= 3 * DAY
    events = follow(service, deadline=5 * DAY)
    departs_at = datetime.fromisoformat(moment)
    for event, lead in zip(events[1:], (ONE_DAY, TWO_HOURS, timedelta()), strict=True):
        assert timedelta() <= event.at - (departs_at - lead) <= timedelta(seconds=2)


class TestWithoutMoment:
    OPEN = (("is_open", True),)

    @pytest.mark.parametrize(
        "answer",
        [
            pytest.param(ticketed(10 * DAY, legs=OPEN), id="open ticket"),
            pytest.param(ticketed(None), id="empty availability"),
            pytest.param(ticketed(10 * DAY, legs=(("journey", None),)), id="no journey"),
            pytest.param(ticketed(), id="no ticket"),
        ],
    )
    def test_unknown_departure_is_given_once(self, answer):
        service = Service(lambda _: answer)
        events = follow(service, deadline=90 * DAY)
        assert kinds(events) == ["ticketed", "not_known"]
        assert (events[1].departs_at, events[1].error) == (None, None)
        assert len(service.reads) <= 91

    def test_other_leg_is_reminded_of(self):
        events = follow(Service(lambda _: ticketed(5 * DAY, None)), deadline=6 * DAY)
        assert kinds(events) == ["ticketed", "not_known", "departing", "departing", "departed"]
        assert events[1].leg == "Return"

    def test_way_back_of_the_same_ticket_is_named(self):
        events = follow(Service(lambda _: both_ways(5 * DAY)), deadline=6 * DAY)
        assert kinds(events) == ["ticketed", "not_known", "departing", "departing", "departed"]
        assert events[1].leg == "Return"

    def test_departure_known_later_is_reminded_of(self):
        service = Service(moves(DAY, ticketed(None), ticketed(5 * DAY)))
        assert kinds(follow(service))[2:] == ["departing", "departing", "departed"]

    def test_unknown_departure_is_not_given_again(self, journal):
        service = Service(lambda _: ticketed(None))
        events = follow_in_rounds(service, journal, length=HOUR, until=5 * DAY)
        assert kinds(events) == ["ticketed", "not_known"]


class TestOtherStages:
    def test_sale_is_watched_as_until_rest(self):
        service = Service(moves(HOUR, ticketed(DAY, stage="in_progress"), ticketed(DAY)))
        assert kinds(follow(service)) == ["ticketed", "departing", "departing", "departed"]

    @pytest.mark.parametrize("stage", ["voided", "lapsed", "rejected"])
    def test_booking_that_nobody_travels_on_ends(self, stage):
        service = Service(lambda _: ticketed(DAY, stage=stage))
        assert kinds(follow(service)) == [stage]
        assert len(service.reads) == 1

    def test_watch_until_rest_has_no_departure(self):
        service = Service(lambda _: ticketed(HOUR))
        assert kinds(service.watch()) == ["ticketed"]


def test_leads_of_the_lapse_are_the_callers():
    lead = timedelta(hours=3)
    service = Service(lambda _: booking(lapses=10 * HOUR))
    (event,) = service.watch(deadline=9 * HOUR, lapsing=lead)
    assert (event.kind, event.lead) == ("lapsing", lead)
    assert timedelta() <= event.at - after(7 * HOUR) < timedelta(seconds=2)


class TestSlowCallers:
    def test_ship_that_left_meanwhile_is_read_again(self):
        answers = [ticketed(DAY, total="50.00"), ticketed(DAY, total="51.00")]
        service = Service(lambda at: answers[at > HOUR])
        events = []
        for event in service.watch(
            deadline=2 * DAY, until="departure", remind=[timedelta(hours=23)]
        ):
            events.append((event.kind, event.at < after(DAY)))
            if event.kind == "changed":
                service.time += DAY
        assert events == [("ticketed", True), ("changed", True), ("departed", False)]

    def test_reminder_follows_a_fresh_read(self):
        service = Service(lambda _: ticketed(DAY))
        events = []
        for event in service.watch(deadline=2 * DAY, until="departure", remind=[ONE_DAY]):
            events.append((event.kind, len(service.reads)))
            service.time += HOUR
        assert events[:2] == [("ticketed", 1), ("departing", 2)]


class TestRounds:
    """A worker begins a watch every five minutes, or a program every six hours."""

    @pytest.mark.parametrize(
        "length",
        [pytest.param(6 * HOUR, id="6 hours"), pytest.param(ROUND, id="5 min", marks=LONG)],
    )
    def test_short_watches_read_as_seldom(self, journal, length):
        service = Service(lambda _: ticketed(OUT, BACK))
        events = follow_in_rounds(service, journal, length=length)
        assert reminders(events) == [*product(("Outward", "Return"), REMIND)]
        assert kinds(events).count("departed") == 2
        assert len(service.reads) <= 130

    @pytest.mark.parametrize("stage", ["voided", "lapsed"])
    def test_booking_that_ended_is_not_read_again(self, journal, stage):
        service = Service(lambda _: ticketed(DAY, stage=stage))
        assert kinds(follow_in_rounds(service, journal, until=HOUR)) == [stage]
        assert len(service.reads) == 1

    def test_booking_that_departed_is_not_read_again(self, journal):
        service = Service(lambda _: ticketed(HOUR))
        follow_in_rounds(service, journal, until=2 * HOUR)
        reads = len(service.reads)
        follow_in_rounds(service, journal, until=3 * DAY)
        assert len(service.reads) == reads

    def test_new_write_is_followed_by_a_read(self, journal):
        service = Service(lambda _: ticketed(10 * DAY))
        follow(service, deadline=60, journal=journal)
        service.answers["b1"] = lambda _: ticketed(10 * DAY, stage="voided")
        journal.writes["b1"] = 1
        assert kinds(follow(service, deadline=60, journal=journal)) == ["voided"]

    def test_rejected_booking_may_be_confirmed_again(self, journal):
        service = Service(moves(DAY, ticketed(9 * DAY, stage="rejected"), ticketed(9 * DAY)))
        events = follow_in_rounds(service, journal, length=HOUR, until=3 * DAY)
        assert kinds(events) == ["rejected", "ticketed"]

    @pytest.mark.parametrize(
        "error",
        [
            pytest.param(errors.NotFoundError("no", status_code=404), id="refused"),
            pytest.param(
                errors.UnexpectedResponseError("no", status_code=200, field="stage"),
                id="unreadable",
            ),
        ],
    )
    def test_unknown_booking_is_given_once(self, journal, error):
        service = Service(lambda _: error)
        events = follow_in_rounds(service, journal, until=5 * DAY, length=HOUR)
        assert kinds(events) == ["not_known"]
        assert len(service.reads) <= 10

    def test_damaged_departures_are_read_again(self, journal):
        service = Service(lambda _: ticketed(10 * DAY))
        follow(service, deadline=60, journal=journal)
        journal.departures["b1"] = "{"
        assert follow(service, deadline=60, journal=journal) == []
        assert len(service.reads) == 2

    def test_longer_lead_of_a_new_program_is_given(self, journal):
        service = Service(lambda _: ticketed(10 * DAY))
        follow(service, deadline=60, journal=journal, remind=[TWO_HOURS])
        events = follow(service, deadline=60, journal=journal, remind=[timedelta(days=11)])
        assert reminders(events) == [("Outward", timedelta(days=11))]


class TestClocks:
    @pytest.mark.parametrize("skew", [-2 * DAY, -7 * HOUR, 7 * HOUR, 2 * DAY], ids=str)
    def test_moments_are_those_of_the_service(self, journal, skew):
        service = Service(skew=skew)
        service.answers["b1"] = lambda _: ticketed(5 * DAY)
        events = follow_in_rounds(service, journal, length=HOUR, until=5 * DAY - skew + 2 * HOUR)
        assert kinds(events) == ["ticketed", "departing", "departing", "departed"]
        for event, lead in zip(events[1:], (*REMIND, timedelta()), strict=True):
            assert timedelta() <= event.at - (after(5 * DAY) - lead) <= timedelta(seconds=2)

    def test_clock_set_forward_between_watches_counts(self, journal):
        service = Service(lambda at: ticketed(10 * DAY))
        follow(service, deadline=60, journal=journal)
        service.skew = 10 * DAY - HOUR
        events = follow(service, deadline=60, journal=journal)
        assert reminders(events) == [("Outward", TWO_HOURS)]

    def test_time_is_asked_once_a_watch(self, journal):
        service = Service(lambda _: ticketed(10 * DAY))
        follow(service, deadline=60, journal=journal)
        follow(service, deadline=HOUR, journal=journal)
        assert (len(service.reads), service.times_asked) == (1, 1)


class TestDowntime:
    """A worker that is down while leads begin, or while the ship leaves."""

    @pytest.mark.parametrize("stop", [30 * HOUR, 25 * HOUR, 3 * HOUR, 90 * 60], ids=str)
    @pytest.mark.parametrize("start", [23 * HOUR, 2.5 * HOUR, HOUR, 60, 2, -60, -DAY], ids=str)
    def test_nothing_is_missed_and_nothing_late(self, journal, stop, start):
        departs = 3 * DAY
        service = Service(lambda _: ticketed(departs))
        events = follow_in_rounds(service, journal, length=HOUR, until=departs - stop)
        service.time = max(service.time, departs - start)
        events += follow_in_rounds(service, journal, length=HOUR, until=departs + 2 * DAY)

        assert kinds(events).count("departed") == 1
        departing = [event for event in events if event.kind == "departing"]
        assert all(event.at < after(departs) for event in departing)
        leads = [event.lead for event in departing]
        assert sorted({*leads}, reverse=True) == leads
        if start > 2:  # it came back before the departure, so the shortest lead is given
            assert leads[-1] == TWO_HOURS
        if stop < 24 * HOUR or start >= 23 * HOUR:
            assert leads[0] == ONE_DAY

    def test_of_several_leads_only_the_shortest_is_given(self, journal):
        service = Service(lambda _: ticketed(10 * DAY))
        follow(service, deadline=60, journal=journal)
        service.time = 10 * DAY - HOUR
        (event,) = follow(service, deadline=60, journal=journal)
        assert (event.kind, event.lead) == ("departing", TWO_HOURS)
        assert event.departs_at - event.at <= timedelta(hours=1)

    def test_service_down_when_leads_begin(self):
        down = errors.ServerError("no", status_code=503)
        service = Service(
            lambda at: down if 8.9 * DAY < at < 10 * DAY - HOUR else ticketed(10 * DAY)
        )
        events = follow(service)
        assert reminders(events) == [("Outward", TWO_HOURS)]
        assert kinds(events)[-1] == "departed"


def trip(at):
    """A round trip whose first sailing moves, and whose second one is cancelled."""
    out = 5 * DAY if at < 3 * DAY else 6 * DAY
    if at < 8 * DAY:
        return ticketed(out, 10 * DAY)
    return ticketed(out, 10 * DAY, stage="partially_voided", statuses=("Issued", "Canceled"))


EVENTS_OF_TRIP = [
    ("ticketed", None),
    ("changed", None),
    ("departing", ONE_DAY),
    ("departing", TWO_HOURS),
    ("departed", None),
    ("partially_voided", None),
]


def follow_trip(*last_steps):
    """Watch the trip in processes that are killed after these steps, and in one to the end."""
    service, journal, events = Service(trip), Departures(), []
    for last_step in (*last_steps, 10**9):
        service.step, service.last_step = 0, last_step
        with suppress(virtual.Killed):
            events.extend(rounds(service, journal, length=2 * DAY, until=9 * DAY))
        service.time += 1  # as long as a new process takes to start
    return service, [(event.kind, event.lead) for event in events]


class TestKills:
    def test_each_event_is_given_once(self):
        _, events = follow_trip()
        assert events == EVENTS_OF_TRIP

    def test_kill_at_any_step_loses_no_event(self, record_property):
        service, _ = follow_trip()
        kills = 0
        for step in service.records:
            for last_step in (step - 1, step):
                kills += 1
                _, events = follow_trip(last_step)
                assert [*dict.fromkeys(events)] == EVENTS_OF_TRIP, last_step
                assert len(events) <= len(EVENTS_OF_TRIP) + 1, last_step
        record_property("processes killed", kills)

    @pytest.mark.parametrize("last_step", [9, 12, 17])
    def test_many_kills_lose_no_event(self, last_step):
        _, events = follow_trip(*[last_step] * 100)
        assert [*dict.fromkeys(events)] == EVENTS_OF_TRIP


class TestStoredDepartures:
    STORED = StoredDepartures(read_at=after(0), writes=2)

    def test_stored_departures_are_read(self):
        assert parse_departures(self.STORED.to_text()) == self.STORED

    def test_field_of_a_later_version_is_ignored(self):
        text = self.STORED.to_text().replace("{", '{"later": 1, ', 1)
        assert parse_departures(text) == self.STORED

    def test_no_traveller_is_stored(self, journal):
        answer = ticketed(10 * DAY)
        follow(Service(lambda _: answer), deadline=60, journal=journal)
        (text,) = journal.departures.values()
        assert "t0 Outward" in text
        assert {*parse_departures(text).__slots__} == {
            "read_at",
            "writes",
            "is_finished",
            "is_not_known",
            "sailings",
        }


class TestBookingsOfTheJournal:
    """A watch that is given no bookings takes those of the journal."""

    @pytest.fixture
    def service(self):
        """The service with a ticket that departs on the tenth day."""
        return Service(lambda _: ticketed(10 * DAY))

    @pytest.fixture
    def sold(self):
        """A journal with the writes of the ticket."""
        with Journal("sqlite://") as journal:
            journal.end(journal.begin(confirmation("b1")), "done", OutcomeDetails("b1"))
            yield journal

    def test_booking_is_watched_until_it_departs(self, service, sold):
        events = follow(service, bookings=None, journal=sold, remind=())
        assert kinds(events) == ["ticketed", "departed"]

    def test_departure_during_a_two_day_break_is_given(self, service, sold):
        follow(service, bookings=None, journal=sold, deadline=HOUR, remind=())
        service.time = 12 * DAY - HOUR
        (event,) = follow(service, bookings=None, journal=sold, deadline=HOUR / 2, remind=())
        assert event.kind == "departed"

    def test_booking_that_departed_long_ago_is_not_read(self, service, sold):
        follow(service, bookings=None, journal=sold, deadline=HOUR, remind=())
        reads = len(service.reads)
        service.time = 12 * DAY + HOUR
        assert follow(service, bookings=None, journal=sold, deadline=HOUR, remind=()) == []
        assert len(service.reads) == reads

    @pytest.mark.parametrize("until", ["rest", "departure"])
    def test_no_journal_is_an_error(self, until):
        error = caught(errors.InvalidInputError, watch, Service(), None, deadline=5, until=until)
        assert error.field == "bookings"

    def test_watch_until_rest_needs_a_list(self, sold):
        error = caught(errors.InvalidInputError, watch, Service(), None, deadline=5, journal=sold)
        assert error.field == "bookings"


@pytest.mark.parametrize(
    ("options", "field"),
    [
        pytest.param({"until": "arrival"}, "until", id="until a word"),
        pytest.param({"until": None}, "until", id="until nothing"),
        pytest.param({"until": ["rest"]}, "until", id="until a list"),
        pytest.param({"remind": ONE_DAY}, "remind", id="one lead"),
        pytest.param({"remind": "day"}, "remind", id="a text"),
        pytest.param({"remind": [ONE_DAY, 7200]}, "remind[1]", id="seconds"),
        pytest.param({"remind": [timedelta()]}, "remind[0]", id="no time"),
        pytest.param({"remind": [ONE_DAY], "until": "rest"}, "remind", id="until rest"),
        pytest.param({"lapsing": 1800}, "lapsing", id="lapsing in seconds"),
        pytest.param({"lapsing": -ONE_DAY}, "lapsing", id="lapsing before"),
    ],
)
def test_wrong_argument_is_named(options, field):
    options = {"until": "departure", **options}
    error = caught(errors.InvalidInputError, watch, Service(), ["b1"], deadline=5, **options)
    assert error.field == field
