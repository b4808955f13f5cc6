"""The cheapest fare of every day."""

from datetime import UTC, date, datetime, timedelta

import pytest

from ferry_sdk import CalendarDay, InvalidInputError
from tests.planning.strait import ADULT
from tests.support.exchanges import caught

START, END = date(2050, 6, 1), date(2050, 6, 30)
NOTHING_SAILS = date(2050, 6, 8)


def calendar_of(reader, start=START, end=END, **options):
    days = {"start": start, "end": end, "passengers": ADULT}
    return reader.trips.calendar("Genoa", "Tunis", **days, **options)


@pytest.fixture(scope="module")
def june(reader):
    """The calendar of a month."""
    return calendar_of(reader)


@pytest.fixture(scope="module")
def prices(june):
    """The prices of the days on which something sails."""
    return [day.price for day in june.values() if day.price is not None]


@pytest.fixture(scope="module")
def empty(reader):
    """A calendar of two days on which nothing sails."""
    return calendar_of(reader, "2051-01-10", "2051-01-11")


class TestDays:
    def test_every_day_is_there(self, june):
        assert [*june] == [START + timedelta(days) for days in range(30)]
        assert june.report.calls == 60

    def test_day_without_sailings_has_no_price(self, june):
        assert june[NOTHING_SAILS] == CalendarDay(NOTHING_SAILS)

    @pytest.mark.parametrize("on", [date(2050, 6, 2), date(2050, 6, 6)], ids=str)
    def test_day_has_the_cheapest_trip(self, reader, june, on):
        trips = reader.trips.search("Genoa", "Tunis", on=on, passengers=ADULT)
        day, best = june[on], trips[0]
        assert (day.price, day.currency) == (best.price, best.currency)
        assert (day.company, day.depart_at) == (best.companies[0], best.depart_at)
        assert day.sailings == len(trips)

    def test_cheapest_day_has_the_least_price(self, june, prices):
        assert june.cheapest.price == min(prices)

    def test_calendar_without_prices_has_no_cheapest_day(self, empty):
        assert empty.cheapest is None

    def test_past_days_are_not_asked(self, reader):
        past = calendar_of(reader, "2020-01-01", "2020-01-03")
        assert len(past) == 3
        assert past.report.calls == 0

    def test_last_day_before_the_first_is_refused(self, reader):
        assert caught(InvalidInputError, calendar_of, reader, END, START).field == "end"

    def test_more_days_than_are_sold_are_refused(self, reader):
        assert caught(InvalidInputError, calendar_of, reader, START, date.max).field == "end"


class TestKeys:
    DAY = date(2051, 1, 10)

    @pytest.mark.parametrize(
        "key",
        [
            pytest.param(DAY, id="date"),
            pytest.param(datetime(2051, 1, 10, 8, tzinfo=UTC), id="moment"),
            pytest.param("2051-01-10", id="text"),
        ],
    )
    def test_day_is_found(self, empty, key):
        assert empty[key] == CalendarDay(self.DAY)
        assert key in empty

    def test_other_day_is_not_there(self, empty):
        assert empty.get("2051-01-12") is None
        with pytest.raises(KeyError):
            empty[date(2051, 1, 12)]

    @pytest.mark.parametrize("key", ["10 January", "2051-01-32", "", 0, None], ids=repr)
    def test_no_day_is_refused(self, empty, key):
        assert caught(InvalidInputError, empty.__getitem__, key).field == "day"


class TestTexts:
    def test_repr_counts_days(self, june, prices):
        route = "Genoa → Tunis (La Goulette)"
        assert repr(june) == f"<PriceCalendar {route}: 30 days, {len(prices)} with sailings>"

    def test_card_has_the_cheapest_price(self, june):
        assert str(june.cheapest.price) in june._repr_html_()

    def test_card_counts_what_was_not_asked(self, reader):
        assert "40 were not asked" in calendar_of(reader, max_calls=20)._repr_html_()

    def test_card_marks_days_without_a_fare(self, empty):
        assert "no fare" in empty._repr_html_()


class TestFrames:
    def test_frame_has_a_row_for_each_day(self, june, prices):
        frame = june.to_frame()
        assert len(frame) == 30
        assert frame["price"].dropna().tolist() == prices

    def test_amounts_can_be_floats(self, june):
        floats = june.to_frame(money="float")["price"]
        assert floats.dtype == "float64"
        assert floats.isna().equals(june.to_frame()["price"].isna())

    def test_days_have_no_tariffs(self, june):
        with pytest.raises(InvalidInputError, match="by: these records have no tariffs"):
            june.to_frame(by="tariff")
