"""What notebooks show of a price history: a table, a frame and a chart."""

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal

import pytest

from ferry_sdk import InvalidInputError
from ferry_sdk.notebook import prices_over_time
from ferry_sdk.offers import Observation, PriceHistory

SEEN = datetime(2050, 5, 3, 9, tzinfo=UTC)
LEAVES = datetime(2050, 6, 2, 20, tzinfo=timezone(timedelta(hours=2)))


def seen(price, hours=0, **changes):
    values = {
        "seen_at": SEEN + timedelta(hours=hours),
        "day": date(2050, 6, 2),
        "company": "CTN",
        "depart_at": LEAVES,
        "price": Decimal(price),
        "currency": "EUR",
        "places": {"Seat": 1, "Cabin": 2},
    }
    return Observation(**values | changes)


@pytest.fixture
def history():
    """Two prices of one sailing."""
    return PriceHistory([seen("90.50"), seen("80", 6)], "Marseille → Tunis")


def test_frame_has_a_row_for_each_observation(history):
    frame = history.to_frame()
    assert [*frame["price"]] == [Decimal("90.50"), Decimal(80)]
    assert [*frame["places_cabin"]] == [2, 2]
    assert str(frame["seen_at"].dtype) == "datetime64[us, UTC]"
    assert str(frame["depart_local"][0]) == "2050-06-02 20:00:00"


def test_empty_history_has_an_empty_frame():
    assert len(PriceHistory(()).to_frame(money="float")) == 0


def test_table_shows_the_prices(history):
    shown = history._repr_html_()
    assert "Marseille → Tunis" in shown
    assert "90.50 EUR" in shown
    assert "1 Seat, 2 Cabin" in shown


def test_long_table_is_cut(history):
    long = PriceHistory([*history] * 20)
    assert "and 10 earlier ones" in long._repr_html_()


def test_chart_has_a_line_for_each_company_and_day(history):
    (axes,) = prices_over_time(PriceHistory([*history, seen("70", company="GNV")])).axes
    first, second = axes.lines
    assert [*first.get_ydata()] == [Decimal("90.50"), 80]
    assert [*second.get_ydata()] == [70]
    assert axes.get_ylabel() == "Ticket (EUR)"


def test_chart_without_observations_says_so():
    (axes,) = prices_over_time(PriceHistory(())).axes
    assert [text.get_text() for text in axes.texts] == ["No observations"]


@pytest.mark.parametrize(
    "other",
    [
        pytest.param({"currency": "TND"}, id="currency"),
        pytest.param({"vehicle": "FIAT__500"}, id="vehicle"),
        pytest.param({"reservation_type": "OPTION"}, id="type of fare"),
    ],
)
def test_chart_of_different_things_is_refused(history, other):
    with pytest.raises(InvalidInputError, match="history"):
        prices_over_time(PriceHistory([*history, seen("70", **other)]))


def test_slice_is_a_tuple(history):
    assert [each.price for each in history[1:]] == [80]
    assert len(history) == 2
