"""A watch of offers against the local service, with both clients."""

import re
from contextlib import aclosing, suppress
from datetime import date, timedelta
from itertools import pairwise
from pathlib import Path

import pytest

from ferry_sdk import AmbiguousPlaceError, Ferry, InvalidInputError, Travellers, errors, offers
from ferry_sdk.journal import Journal
from ferry_sdk.offers import Below, Drop, Opens, Wish
from ferry_sdk.planning.catalogues import clear_cache
from tests.journal.intents import run_sql
from tests.offers.virtual import START
from tests.support.routes import know_routes
from tests.support.tiers import LONG
from tests.support.trip import DAY

ADULT = [{"type": "Adult", "gender": "Female", "age": 34}]
SECOND = timedelta(seconds=1)
PAGE = Path(__file__).parents[2] / "docs" / "offers.md"


def wish(*rules, **changes):
    arguments = {"days": (DAY, DAY), "passengers": ADULT, "companies": ["FRSIBERIA"], **changes}
    return Wish("Tarifa", "MATNG", rules=rules, **arguments)


@pytest.fixture
def sandbox(ferry_sandbox):
    """A service whose routes the clients know."""
    know_routes(ferry_sandbox)
    yield ferry_sandbox
    clear_cache()


@pytest.fixture
def take(clients, sandbox, journal):
    """Return a function that takes so many events of a watch, and closes it."""

    def take(count, client=None, **options):
        client = client or clients(sandbox.token, base_url=sandbox.base_url)
        options = {"deadline": 90, "every": SECOND, "max_calls": "500/hour", **options}

        async def take_async():
            async with aclosing(offers.watch(client._target, journal, **options)) as watch:
                return [await anext(watch) for _ in range(count)]

        if clients.is_async:
            return clients.portal.call(take_async)
        with offers.watch(client, journal, **options) as watch:
            return [next(watch) for _ in range(count)]

    return take


def test_moved_price_is_an_event(sandbox, journal, take):
    offers.add(journal, wish(Drop(percent=10)), key="w")
    sandbox.faults.add("fare_change", "availability.search", times=None, after=1, factor=0.8)
    (event,) = take(1)
    assert (event.key, event.kind) == ("w", "dropped")
    assert event.price < event.before
    assert event.price == event.trip.price


def test_observations_are_what_was_answered(journal, take):
    offers.add(journal, wish(Below("900", "EUR")), key="w")
    (event,) = take(1)
    history = offers.history(journal, "Tarifa", "MATNG")
    assert min(seen.price for seen in history) == event.price
    assert {seen.day for seen in history} == {DAY}


class TestDamagedAnswer:
    @pytest.fixture
    def journal(self, sqlite_url):
        """A journal in a file, which another program can damage."""
        with Journal(sqlite_url) as journal:
            yield journal

    def test_damaged_answer_is_left_out_with_a_warning(self, journal, sqlite_url, take, caplog):
        offers.add(journal, wish(Below("900", "EUR")), key="w")
        take(1)
        run_sql(sqlite_url, "UPDATE ferry_offers_answers SET content = '{'")
        assert len(offers.history(journal, "Tarifa", "MATNG")) == 0
        assert "is damaged: it is left out" in caplog.text


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param({"kind": "server_error"}, id="server error"),
        pytest.param({"kind": "not_json"}, id="no JSON"),
        pytest.param({"kind": "lose_reply"}, id="lost reply", marks=LONG),
        pytest.param({"kind": "refused", "status": 422}, id="refused", marks=LONG),
        pytest.param({"kind": "wrong_shape"}, id="other shape", marks=LONG),
    ],
)
def test_failed_search_is_in_the_report(sandbox, journal, fault):
    offers.add(journal, wish(Opens()), key="w")
    sandbox.faults.add(operation="availability.search", times=None, **fault)
    with (
        Ferry(sandbox.token, base_url=sandbox.base_url) as ferry,
        offers.watch(ferry, journal, deadline=60, every=SECOND, max_calls="1/hour") as watch,
    ):
        # It ends as soon as the search has failed.
        watch._watcher._seconds_left = lambda: 0.0 if watch.report.failed else 60.0
        assert [*watch] == []
    assert len(watch.report.failed) == 1
    assert not watch.report.is_complete
    assert len(offers.history(journal, "Tarifa", "MATNG")) == 0


def test_missing_place_is_in_the_report(sandbox, journal):
    lost = Wish("Atlantis", "MATNG", days=(DAY, DAY), passengers=ADULT, rules=[Opens()])
    offers.add(journal, lost, key="a")
    offers.add(journal, wish(Below("900", "EUR")), key="w")
    with (
        Ferry(sandbox.token, base_url=sandbox.base_url) as ferry,
        offers.watch(ferry, journal, deadline=90, every=SECOND, max_calls="9/hour") as watch,
    ):
        assert next(watch).key == "w"
    (failed,) = watch.report.failed
    assert isinstance(failed.error, errors.UnknownPlaceError)


class TestGiven:
    @pytest.fixture(autouse=True)
    def _wish(self, journal):
        offers.add(journal, wish(Below("900", "EUR"), Below("901", "EUR")), key="w")

    def test_closed_watch_has_given_its_event(self, take):
        (first,) = take(1)
        (second,) = take(1)
        assert first.rule != second.rule

    def test_dropped_watch_gives_its_event_again(self, sandbox, journal):
        options = {"deadline": 90, "every": SECOND, "max_calls": "9/hour"}
        with Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
            event = next(offers.watch(ferry, journal, **options))
            again = next(offers.watch(ferry, journal, **options))
        assert again == event

    def test_block_that_fails_gives_its_event_again(self, sandbox, journal):
        options = {"deadline": 90, "every": SECOND, "max_calls": "9/hour"}
        with Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
            with suppress(ZeroDivisionError), offers.watch(ferry, journal, **options) as watch:
                event = next(watch)
                raise ZeroDivisionError
            assert next(offers.watch(ferry, journal, **options)) == event


class TestWishes:
    def test_wishes_are_stored(self, any_journal):
        first = wish(Below("90", "EUR"), Opens("Cabin"), depart_between=("18:00", None))
        offers.add(any_journal, first, key="b")
        offers.add(any_journal, wish(Drop(percent="7.5"), vehicle="fiat 500"), key="a")
        stored = offers.wishes(any_journal)
        assert [*stored] == ["a", "b"]
        assert stored["b"] == first
        assert stored["a"].vehicle == "fiat 500"

    def test_wish_with_the_key_is_replaced(self, journal):
        offers.add(journal, wish(Opens()), key="w")
        offers.add(journal, wish(Opens("Cabin")), key="w")
        assert offers.wishes(journal)["w"].rules == (Opens("Cabin"),)

    def test_removed_wish_is_gone(self, journal):
        offers.add(journal, wish(Opens()), key="w")
        assert offers.remove(journal, "w")
        assert not offers.remove(journal, "w")
        assert offers.wishes(journal) == {}

    def test_names_of_travellers_are_not_kept(self, journal):
        ada = {"gender": "Female", "birth_date": "1991-04-02"}
        party = Travellers([{**ada, "first_name": "Ada", "last_name": "Reyes"}])
        offers.add(journal, wish(Opens(), passengers=party), key="w")
        (record,) = journal.offers.load_wishes()
        assert not re.search("Ada|Reyes|1991", record.content)
        assert [who.age for who in offers.wishes(journal)["w"].passengers] == [59]

    @pytest.mark.parametrize(
        ("changes", "field"),
        [
            pytest.param({"days": DAY}, "days", id="one day"),
            pytest.param({"days": (DAY, DAY - timedelta(1))}, "days", id="days backwards"),
            pytest.param({"days": (DAY, date.max)}, "days", id="more days than are sold"),
            pytest.param({"passengers": []}, "passengers", id="nobody"),
            pytest.param({"passengers": [{"type": "Cat"}]}, "passengers[0].type", id="a cat"),
            pytest.param({"companies": "CTN"}, "companies", id="text"),
            pytest.param({"vehicle": 500}, "vehicle", id="vehicle"),
            pytest.param({"reservation_type": "FREE"}, "reservation_type", id="type"),
            pytest.param({"depart_between": "18:00"}, "depart_between", id="one time"),
            pytest.param({"depart_between": ("25:00", None)}, "depart_between", id="no time"),
            pytest.param({"depart_between": ("18:00", "08:00")}, "depart_between", id="backwards"),
            pytest.param({"rules": []}, "rules", id="no rule"),
            pytest.param({"rules": [Opens(), "below"]}, "rules[1]", id="no such rule"),
        ],
    )
    def test_invalid_argument_is_named(self, changes, field):
        arguments = {"days": (DAY, DAY), "passengers": ADULT, "rules": [Opens()], **changes}
        with pytest.raises(InvalidInputError) as error:
            Wish("Tarifa", "MATNG", **arguments)
        assert error.value.field == field

    @pytest.mark.parametrize("key", ["", " ", 7, "x" * 201, "a\nb"])
    def test_invalid_key_is_refused(self, journal, key):
        with pytest.raises(InvalidInputError, match="key"):
            offers.add(journal, wish(Opens()), key=key)

    @pytest.mark.parametrize(
        ("options", "field"),
        [
            pytest.param({"deadline": 0}, "deadline", id="no time"),
            pytest.param({"every": 3600}, "every", id="seconds"),
            pytest.param({"every": timedelta(0)}, "every", id="no interval"),
            pytest.param({"max_calls": "500/minute"}, "max_calls", id="a minute"),
            pytest.param({"max_calls": 500}, "max_calls", id="number"),
            pytest.param({"keys": "w"}, "keys", id="one key"),
            pytest.param({"keys": [7]}, "keys[0]", id="no key"),
        ],
    )
    def test_invalid_option_of_a_watch_is_named(self, journal, options, field):
        valid = {"deadline": 60, "every": SECOND, "max_calls": "9/hour"}
        ferry = Ferry("token", base_url="http://localhost:9")
        with ferry, pytest.raises(InvalidInputError) as error:
            offers.watch(ferry, journal, **valid | options)
        assert error.value.field == field

    def test_url_is_no_journal(self):
        with pytest.raises(InvalidInputError, match="journal"):
            offers.wishes("sqlite://")


def test_alert_for_two_towns_takes_twelve_lines():
    block = re.search(r'```python title="alert.py"\n(.*?)```', PAGE.read_text("utf-8"), re.DOTALL)
    lines = [line for line in block[1].splitlines() if line.strip()]
    assert len(lines) <= 12


def test_searches_of_a_look_up_are_the_days_and_companies(journal, take):
    days = (DAY, DAY + timedelta(days=2))
    offers.add(journal, wish(Below("900", "EUR"), days=days, companies=None), key="w")
    take(6)
    seen = offers.history(journal, "Tarifa", "MATNG")
    assert {each.day for each in seen} == {DAY + timedelta(days=number) for number in range(3)}
    assert {each.company for each in seen} == {"BALEARIA", "FRSIBERIA"}
    assert all(first.seen_at <= second.seen_at for first, second in pairwise(seen))


def test_ambiguous_port_of_a_history_is_refused(journal):
    ports = {"A": "Tunis (La Goulette)", "B": "Tunis (Rades)", "C": "Genoa"}
    journal.offers.save_searches(START, [], ports)
    with pytest.raises(AmbiguousPlaceError) as error:
        offers.history(journal, "Genoa", "Tunis")
    assert error.value.field == "destination"
