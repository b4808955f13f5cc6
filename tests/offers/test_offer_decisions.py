"""Which searches a watch of offers makes, and which events it gives, in virtual time."""

from collections import Counter
from datetime import timedelta
from decimal import Decimal
from itertools import pairwise
from math import ceil

import pytest

from ferry_sdk import errors
from ferry_sdk.offers import Below, Drop, Opens, add, history, remove
from tests.offers.virtual import (
    DAY,
    HOUR,
    START,
    Offered,
    Reply,
    Service,
    search,
    store_wish,
    wish,
)

CHEAP = Reply((Offered("80"),))
DEAR = Reply((Offered("120"),))
NOTHING = Reply()
BELOW = Below("90", "EUR")


def failure(kind, status, **attributes):
    error = kind("no", status_code=status)
    vars(error).update(attributes)
    return error


def course(*replies):
    """Return the answer of a service that gives one reply after the other, the last for ever."""
    left = [*replies]
    return lambda *_: left.pop(0) if len(left) > 1 else left[0]


@pytest.fixture
def one_wish(journal):
    """A wish of a price below 90 EUR, which one search answers."""
    store_wish(journal, "w", wish(BELOW))
    return journal


def kinds(events):
    return [(event.key, event.kind) for event in events]


class TestEvents:
    def test_event_equals_what_was_seen(self, one_wish):
        (event,) = Service(course(CHEAP)).watch(one_wish)
        assert (event.key, event.kind, event.rule) == ("w", "below", BELOW)
        assert (event.price, event.currency, event.before) == (80, "EUR", None)
        assert (event.trip.price, event.trip.companies) == (80, ("CTN",))
        assert event.seen_at == START

    def test_each_rule_has_an_event(self, journal):
        store_wish(journal, "w", wish(BELOW, Drop(percent=10), Opens("Cabin")))
        cabin = Reply((Offered("80", places=("Cabin",)),))
        events = [*Service(course(DEAR, cabin)).watch(journal, deadline=2 * HOUR)]
        assert [event.kind for event in events] == ["below", "dropped", "opened"]
        assert [event.before for event in events] == [Decimal(120), Decimal(120), None]

    def test_wishes_share_a_search(self, journal):
        for key in "abc":
            store_wish(journal, key, wish(BELOW))
        service = Service(course(CHEAP))
        assert kinds(service.watch(journal)) == [(key, "below") for key in "abc"]
        assert len(service.asked) == 1

    def test_trips_at_other_times_are_ignored(self, journal):
        store_wish(journal, "w", wish(BELOW, depart_between=("18:00", None)))
        morning = Reply((Offered("50", hour=8), Offered("85", hour=20)))
        (event,) = Service(course(morning)).watch(journal)
        assert event.price == 85

    @pytest.mark.parametrize(
        "reply",
        [
            pytest.param(failure(errors.ServerError, 503), id="server error"),
            pytest.param(failure(errors.UnprocessableEntityError, 422), id="refused"),
            pytest.param(errors.UnexpectedResponseError("no", status_code=200), id="unreadable"),
            pytest.param(errors.ConnectionFailedError("no"), id="no connection"),
        ],
    )
    def test_failure_neither_fires_nor_arms(self, one_wish, reply):
        service = Service(course(CHEAP, reply, CHEAP))
        assert kinds(service.watch(one_wish, deadline=4 * HOUR)) == [("w", "below")]

    def test_nothing_sails_is_an_answer(self, journal):
        store_wish(journal, "w", wish(Opens()))
        nothing = failure(errors.NoSailingsError, 404)
        service = Service(course(nothing, CHEAP))
        assert kinds(service.watch(journal, deadline=2 * HOUR)) == [("w", "opened")]

    @pytest.mark.parametrize(
        "error",
        [errors.AuthenticationError("no", status_code=401), errors.ConfigurationError("no")],
        ids=["authentication", "configuration"],
    )
    def test_failure_of_every_search_ends_the_watch(self, one_wish, error):
        with pytest.raises(type(error)):
            [*Service(course(error)).watch(one_wish)]


class TestGiven:
    def test_event_counts_when_the_next_is_wanted(self, one_wish):
        assert len([*Service(course(CHEAP)).watch(one_wish)]) == 1
        assert [*Service(course(CHEAP)).watch(one_wish)] == []

    def test_event_in_doubt_comes_again(self, one_wish):
        event = next(Service(course(CHEAP)).watch(one_wish))
        (again,) = Service(course(CHEAP)).watch(one_wish, deadline=1)
        assert again == event

    def test_other_keys_leave_their_events_to_others(self, journal):
        for key in "ab":
            store_wish(journal, key, wish(BELOW))
        assert kinds(Service(course(CHEAP)).watch(journal, keys={"a"})) == [("a", "below")]
        assert kinds(Service(course(CHEAP)).watch(journal, keys={"b"})) == [("b", "below")]

    def test_running_watch_gives_events_of_other_keys(self, journal):
        for key in "ab":
            store_wish(journal, key, wish(BELOW))
        service = Service(course(CHEAP))
        running = service.watch(journal, keys={"b"}, deadline=3 * HOUR, every=2 * HOUR)
        assert kinds([next(running)]) == [("b", "below")]
        service.time += HOUR
        assert kinds(service.watch(journal, keys={"a"}, deadline=60)) == [("a", "below")]


class TestReplaced:
    def test_equal_wish_keeps_its_state(self, one_wish):
        [*Service(course(CHEAP)).watch(one_wish)]
        add(one_wish, wish(BELOW), key="w")
        assert [*Service(course(CHEAP), HOUR).watch(one_wish)] == []

    def test_other_rules_keep_the_states_of_those_that_stay(self, one_wish):
        [*Service(course(CHEAP)).watch(one_wish)]
        store_wish(one_wish, "w", wish(BELOW, Below("85", "EUR")))
        (event,) = Service(course(CHEAP), HOUR).watch(one_wish)
        assert event.rule == Below("85", "EUR")

    def test_other_times_begin_anew(self, one_wish):
        [*Service(course(CHEAP)).watch(one_wish)]
        store_wish(one_wish, "w", wish(BELOW, depart_between=("18:00", None)))
        assert kinds(Service(course(CHEAP), HOUR).watch(one_wish)) == [("w", "below")]

    def test_search_that_is_not_needed_is_not_made(self, one_wish):
        store_wish(one_wish, "w", wish(BELOW, companies=["GNV"]), [search("GNV")])
        service = Service(course(CHEAP))
        [*service.watch(one_wish)]
        assert {company for _, company, _ in service.asked} == {"GNV"}

    def test_removed_wish_gives_no_event(self, one_wish):
        next(Service(course(CHEAP)).watch(one_wish))
        assert remove(one_wish, "w")
        assert [*Service(course(CHEAP), HOUR).watch(one_wish)] == []


class TestLookedUpAgain:
    """A wish whose searches are looked up again after a day."""

    LATER = timedelta(days=1)

    @pytest.fixture
    def look_up(self, journal):
        """Return a function that looks up the wish again, and finds these searches."""

        def find(at, *searches):
            (record,) = journal.offers.wishes_to_look_up(at, None, most=2)
            records = [each.to_record() for each in searches]
            journal.offers.save_searches(at, [(record, records)], {})

        store_wish(journal, "w", wish(BELOW), [search("CTN"), search("GNV")])
        return find

    def test_search_that_is_not_found_is_made(self, journal, look_up):
        look_up(START + self.LATER, search("GNV"))
        service = Service(course(DEAR), self.LATER.total_seconds())
        [*service.watch(journal)]
        assert {company for _, company, _ in service.asked} == {"CTN", "GNV"}

    def test_search_that_is_found_again_keeps_its_state(self, journal, look_up):
        assert len([*Service(course(CHEAP)).watch(journal)]) == 2
        look_up(START + self.LATER, search("GNV"))
        look_up(START + 2 * self.LATER, search("CTN"), search("GNV"))
        service = Service(course(CHEAP), 2 * self.LATER.total_seconds())
        assert [*service.watch(journal)] == []
        assert len(service.asked) == 2


class TestEnded:
    @pytest.fixture
    def ended(self, one_wish):
        """A service at a moment after the last day, and the events of a watch."""
        service = Service(course(CHEAP), time=timedelta(days=40).total_seconds())
        return service, [*service.watch(one_wish)]

    def test_last_day_ends_a_wish(self, ended):
        _, (event,) = ended
        assert (event.key, event.kind) == ("w", "ended")
        assert (event.rule, event.trip, event.price, event.before) == (None,) * 4

    def test_wish_ends_once(self, ended, one_wish):
        service, _ = ended
        assert [*service.watch(one_wish)] == []

    def test_day_that_has_passed_is_not_asked(self, ended):
        service, _ = ended
        assert service.asked == []

    def test_later_days_end_again(self, ended, one_wish):
        service, _ = ended
        later = DAY + timedelta(days=20)
        store_wish(one_wish, "w", wish(BELOW, days=(later, later)), [search(day=later)])
        service.time += timedelta(days=20).total_seconds()
        assert kinds(service.watch(one_wish)) == [("w", "ended")]


class TestTurns:
    def test_search_is_made_every_interval(self, one_wish):
        service = Service(course(DEAR))
        [*service.watch(one_wish, deadline=5.5 * HOUR)]
        assert [at // HOUR for at, _, _ in service.asked] == [0, 1, 2, 3, 4, 5]

    def test_two_watches_make_a_search_once(self, one_wish):
        service = Service(course(DEAR))
        [*service.watch(one_wish, deadline=0.5 * HOUR)]
        [*service.watch(one_wish, deadline=0.25 * HOUR)]
        assert len(service.asked) == 1

    def test_failed_search_is_repeated_after_minutes(self, one_wish):
        service = Service(course(failure(errors.ServerError, 503), DEAR))
        [*service.watch(one_wish, every=6 * HOUR)]
        assert len(service.asked) == 2
        assert service.asked[1][0] < 600

    def test_refused_search_waits_for_its_turn(self, one_wish):
        service = Service(course(failure(errors.UnprocessableEntityError, 422)))
        [*service.watch(one_wish, every=6 * HOUR)]
        assert len(service.asked) == 1

    def test_service_that_is_down_is_left_alone(self, journal):
        searches = [search(f"C{number}") for number in range(200)]
        store_wish(journal, "w", wish(BELOW), searches)
        service = Service(course(failure(errors.ServerError, 503)))
        [*service.watch(journal, deadline=300)]
        assert len(service.asked) < 100

    def test_pause_doubles_up_to_a_minute(self, journal):
        searches = [search(f"C{number}") for number in range(200)]
        store_wish(journal, "w", wish(BELOW), searches)
        service = Service(course(failure(errors.ServerError, 503)))
        [*service.watch(journal, deadline=300)]
        rounds = sorted({at for at, _, _ in service.asked})
        pauses = [later - earlier for earlier, later in pairwise(rounds)]
        assert pauses == [2, 4, 8, 16, 32, 64, 64, 64]

    def test_retry_after_is_respected(self, journal):
        store_wish(journal, "w", wish(BELOW), [search(f"C{number}") for number in range(16)])
        limited = failure(errors.RateLimitError, 429, retry_after=200.0)
        service = Service(course(limited))
        [*service.watch(journal, deadline=190)]
        assert len(service.asked) == 8


class TestHourlyLimit:
    @pytest.mark.parametrize(("count", "limit"), [(10, 3), (25, 24), (7, 7), (40, 1)])
    def test_no_hour_has_more_searches(self, journal, count, limit):
        store_wish(journal, "w", wish(BELOW), [search(f"C{number}") for number in range(count)])
        service = Service(course(DEAR), seconds=1.0)
        [*service.watch(journal, deadline=5 * HOUR, every=HOUR, most=limit)]
        times = [at for at, _, _ in service.asked]
        for start in times:
            assert sum(start <= at < start + HOUR for at in times) <= limit
        assert len(times) >= min(limit * 4, count)

    @pytest.mark.parametrize(("count", "limit"), [(10, 3), (25, 24), (40, 7)])
    def test_every_search_has_its_turn(self, journal, count, limit):
        store_wish(journal, "w", wish(BELOW), [search(f"C{number}") for number in range(count)])
        service = Service(course(DEAR))
        hours = ceil(count / limit)
        [*service.watch(journal, deadline=hours * HOUR, every=60, most=limit)]
        assert len({company for _, company, _ in service.asked}) == count

    def test_oldest_search_comes_first(self, journal):
        store_wish(journal, "w", wish(BELOW), [search(f"C{number}") for number in range(10)])
        service = Service(course(DEAR))
        [*service.watch(journal, deadline=10 * HOUR, every=60, most=3)]
        counts = Counter(company for _, company, _ in service.asked)
        assert max(counts.values()) - min(counts.values()) <= 1

    def test_restart_does_not_forget_the_calls(self, journal):
        store_wish(journal, "w", wish(BELOW), [search(f"C{number}") for number in range(30)])
        service = Service(course(DEAR))
        for _ in range(10):
            [*service.watch(journal, deadline=300, most=5)]
        assert len(service.asked) == 5


class TestReport:
    def test_answers_and_failures_are_told_apart(self, journal):
        store_wish(journal, "w", wish(BELOW), [search(f"C{number}") for number in range(4)])
        replies = {
            "C0": CHEAP,
            "C1": NOTHING,
            "C2": failure(errors.ServerError, 503),
            "C3": Reply((Offered("120"),), is_complete=False),
        }
        service = Service(lambda each, _: replies[each.company])
        watcher = service.watcher(journal, deadline=60)
        [*service.perform(watcher.steps(service.settings))]
        report = watcher.report
        assert {each.company for each in report.answered} == {"C0", "C3"}
        assert [each.company for each in report.nothing] == ["C1"]
        assert [each.company for each in report.failed] == ["C2"]
        assert [each.search.company for each in report.unreadable] == ["C3"]

    def test_searches_beyond_the_limit_are_not_asked(self, journal):
        store_wish(journal, "w", wish(BELOW), [search(f"C{number}") for number in range(4)])
        service = Service(course(DEAR))
        watcher = service.watcher(journal, deadline=60, most=3)
        [*service.perform(watcher.steps(service.settings))]
        assert len(watcher.report.asked) == 3
        assert len(watcher.report.not_asked) == 1


class TestHistory:
    def test_each_sailing_is_an_observation(self, one_wish):
        two = Reply((Offered("120"), Offered("99.50", "TND", ("Seat", "Cabin", "Cabin"), 8)))
        [*Service(course(two)).watch(one_wish)]
        first, second = history(one_wish, "Marseille", "Tunis")
        assert (first.price, first.currency) == (Decimal("99.50"), "TND")
        assert first.places == {"Seat": 1, "Cabin": 2}
        assert (second.price, second.company, second.day) == (120, "CTN", DAY)
        assert [each.age for each in second.passengers] == [34]

    def test_since_and_until_choose_answers(self, one_wish):
        [*Service(course(DEAR)).watch(one_wish, deadline=2.5 * HOUR)]
        hour = timedelta(hours=1)
        seen = history(one_wish, "FRMRS", "TNLGN", since=START + hour, until=START + 2 * hour)
        assert [each.seen_at for each in seen] == [START + hour]

    def test_other_ports_have_no_history(self, one_wish):
        [*Service(course(DEAR)).watch(one_wish)]
        assert len(history(one_wish, "Tunis", "Marseille")) == 0
        assert len(history(one_wish, "Genoa", "Tunis")) == 0

    def test_old_answers_are_forgotten(self, one_wish):
        [*Service(course(DEAR)).watch(one_wish)]
        one_wish.forget(older_than=0)
        assert len(history(one_wish, "Marseille", "Tunis")) == 1  # seen at a later time than now
