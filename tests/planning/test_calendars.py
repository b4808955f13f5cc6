"""The cheapest fare of every day."""

from datetime import date, datetime, timedelta, timezone

import pytest

from ferry_sdk import CalendarDay, InvalidInputError
from tests.planning.strait import ADULT
from tests.support.exchanges import caught

JUNE = (date(2050, 6, 1), date(2050, 6, 30))


def calendar_of(reader, start=JUNE[0], end=JUNE[1], **options):
    days = {"start": start, "end": end, "passengers": ADULT}
    return reader.trips.calendar("Genoa", "Tunis", **days, **options)


def test_every_day_has_its_cheapest_fare(reader):
    calendar = calendar_of(reader)
    assert [*calendar] == [JUNE[0] + timedelta(days) for days in range(30)]
    assert calendar.report.calls == 60
    assert calendar[date(2050, 6, 8)] == CalendarDay(date(2050, 6, 8))
    for day in (date(2050, 6, 2), date(2050, 6, 6)):
        found = reader.trips.search("Genoa", "Tunis", on=day, passengers=ADULT)
        one, best = calendar[day], found[0]
        assert (one.price, one.currency) == (best.price, best.currency)
        assert (one.company, one.depart_at) == (best.companies[0], best.depart_at)
        assert one.sailings == len(found)
    prices = [one.price for one in calendar.values() if one.price]
    assert calendar.cheapest.price == min(prices)
    route = "Genoa → Tunis (La Goulette)"
    assert repr(calendar) == f"<PriceCalendar {route}: 30 days, {len(prices)} with sailings>"


def test_a_calendar_becomes_a_frame_and_without_sailings_it_has_no_cheapest_day(reader):
    calendar = calendar_of(reader, max_calls=20)
    frame = calendar.to_frame()
    assert len(frame) == 30
    prices = [one.price for one in calendar.values() if one.price is not None]
    assert frame["price"].dropna().tolist() == prices
    floats = calendar.to_frame(money="float")["price"]
    assert floats.dtype == "float64"
    assert floats.isna().equals(frame["price"].isna())
    with pytest.raises(InvalidInputError, match="by: these records have no tariffs"):
        calendar.to_frame(by="tariff")
    html = calendar._repr_html_()
    assert "40 were not asked" in html
    assert str(calendar.cheapest.price) in html
    calendar = calendar_of(reader, "2051-01-10", "2051-01-11")
    assert calendar.cheapest is None
    assert "no fare" in calendar._repr_html_()
    for day in (date(2051, 1, 10), datetime(2051, 1, 10, 8, tzinfo=timezone.utc), "2051-01-10"):
        assert calendar[day] == CalendarDay(date(2051, 1, 10))
        assert day in calendar
    assert calendar.get("2051-01-12") is None
    with pytest.raises(KeyError):
        calendar[date(2051, 1, 12)]
    for value in ("10 January", "2051-01-32", "", 0, None):
        assert caught(InvalidInputError, calendar.__getitem__, value).field == "day"
    over = calendar_of(reader, "2020-01-01", "2020-01-03")
    assert (len(over), over.report.calls) == (3, 0), "days that are over are not asked"
    assert caught(InvalidInputError, calendar_of, reader, *JUNE[::-1]).field == "end"
