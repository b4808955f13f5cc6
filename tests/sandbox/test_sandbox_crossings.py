"""A crossing for examples and tests can be booked by either client."""

from datetime import timedelta

import anyio
import pytest

from ferry_sdk import Ferry, NoSailingsError
from ferry_sdk.sandbox import Profile, Sandbox, acrossing, crossing


def test_crossing_can_be_booked(ferry):
    assert ferry.bookings.create(**crossing(ferry)).stage == "payment_due"


def test_crossing_can_be_booked_by_mcp(ferry):
    assert ferry.mcp.create_booking(**crossing(ferry)).stage == "payment_due"


def test_crossing_can_be_booked_by_an_async_client(async_ferry):
    async def book():
        async with async_ferry as ferry:
            return await ferry.bookings.create(**await acrossing(ferry, days=3))

    assert anyio.run(book).stage == "payment_due"


@pytest.mark.parametrize("days", [1, 30, 200])
def test_crossing_departs_by_the_service_clock(ferry, ferry_sandbox, days):
    (selection,) = crossing(ferry, days=days)["availabilities"]
    today = ferry_sandbox.clock.now().date()
    assert selection.depart_at.date() == today + timedelta(days=days)


def test_crossing_needs_no_date_header():
    with (
        Sandbox(profile=Profile(date_header="absent")) as sandbox,
        Ferry(sandbox.token, base_url=sandbox.base_url) as ferry,
    ):
        assert ferry.bookings.create(**crossing(ferry)).stage == "payment_due"


def test_crossing_needs_two_requests(ferry, ferry_sandbox):
    crossing(ferry)
    assert dict(ferry_sandbox.counters.requests) == {
        "catalogue.vehicle_brands": 1,
        "availability.search": 1,
    }


def test_crossing_without_sailings_is_an_error(ferry):
    with pytest.raises(NoSailingsError):
        crossing(ferry, days=365 * 190)
