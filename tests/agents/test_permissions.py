"""The limit for one booking, and the moment from which an agent may write no more."""

from datetime import datetime, timedelta
from decimal import Decimal

import pytest

from ferry_sdk import ConfigurationError
from ferry_sdk.agents import Toolkit
from tests.agents.agent import book, error, order, result_of
from tests.support.trip import NOW

SOON = NOW + timedelta(hours=1)


@pytest.fixture
def capped(toolkit_of, agree):
    """Create toolkits whose bookings may cost so much."""
    return lambda **limits: toolkit_of(writes=True, approve=agree, per_booking=limits)


@pytest.fixture
def limited(toolkit_of, agree):
    """A toolkit that may write for an hour."""
    return toolkit_of(writes=True, approve=agree, until=SOON)


# The limit for one booking


def test_dearer_booking_is_refused(capped, asked, sending_nothing):
    toolkit = capped(EUR=10)
    booking = order(toolkit.sailings()[0])
    with sending_nothing():
        refusal = toolkit.fail("bookings_create", "per_booking", **booking)
    assert (refusal["limit"], refusal["currency"]) == ("10", "EUR")
    assert not asked


def test_bookings_at_the_limit_do_not_add_up(capped, toolkit):
    prices = [sailing["tariffs"][0]["amount"] for sailing in toolkit.sailings()[:2]]
    capped_toolkit = capped(EUR=max(prices, key=Decimal))
    first, second = capped_toolkit.book(0), capped_toolkit.book(1)
    assert first["booking_id"] != second["booking_id"]


def test_other_currency_is_refused(capped):
    toolkit = capped(GBP=500)
    refusal = toolkit.fail("bookings_create", "per_booking", **order(toolkit.sailings()[0]))
    assert "the limit is in GBP" in refusal["message"]


def test_price_that_rose_is_not_paid(capped, ferry_sandbox, sending_nothing):
    toolkit = capped(EUR=100)
    booking_id = toolkit.book()["booking_id"]
    ferry_sandbox.faults.add("unknown_enum", "bookings.get", field="total_price", value="500")
    with sending_nothing():
        toolkit.fail("bookings_confirm", "per_booking", booking_id=booking_id, expect_total="500")


# The end of writing


def test_writes_are_allowed_before_the_end(limited):
    assert limited.book_and_pay()["status"] == "confirmed"


def test_every_write_is_refused_after_the_end(limited, ferry_sandbox, sending_nothing, asked):
    booking = order(limited.sailings()[0])
    paid = limited.book_and_pay(1)
    named = {"booking_id": paid["booking_id"]}
    asked.clear()
    ferry_sandbox.clock.advance(timedelta(hours=1))
    limited.do("bookings_get", **named)
    with sending_nothing():
        for name, arguments in (
            ("bookings_create", booking),
            ("bookings_confirm", named),
            ("bookings_cancel", named),
            ("tickets_cancel", {"ticket_id": paid["ticket_id"]}),
        ):
            refusal = limited.fail(name, "too_late", **arguments)
            assert SOON.isoformat() in refusal["message"]
    assert not asked


def test_approval_after_the_end_sends_nothing(ferry, ferry_sandbox, sending_nothing):
    def approve(_):
        ferry_sandbox.clock.advance(timedelta(hours=1))
        ferry.catalogue.ports()  # its reply has the service's time
        return True

    maker = Toolkit(ferry, tools="all", writes=True, approve=lambda _: True)
    booking_id = book(maker)["booking_id"]
    toolkit = Toolkit(ferry, writes=True, approve=approve, until=SOON)
    result_of(toolkit.call("bookings_get", {"booking_id": booking_id}))
    with sending_nothing():
        error(toolkit.call("bookings_confirm", {"booking_id": booking_id}), "too_late")


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        pytest.param({"per_booking": {"EUR": -1}}, "per_booking", id="negative limit"),
        pytest.param({"per_booking": {"euro": 1}}, "per_booking", id="no currency"),
        pytest.param({"until": datetime(2050, 5, 3, 9, 0)}, "until", id="no time zone"),  # noqa: DTZ001 -- it is refused
        pytest.param({"until": "2050-05-03"}, "until", id="a text"),
    ],
)
def test_invalid_setting_is_named(ferry, settings, name):
    with pytest.raises(ConfigurationError, match=name):
        Toolkit(ferry, **settings)
