"""`max_total` of a new booking: before it is sent by the tariffs, afterwards by the total."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from ferry_sdk import InvalidInputError, OutcomeEvent, TotalExceededError
from tests.engine.replies import good, scripted_driver
from tests.support.driven import SETTINGS
from tests.support.operations import described
from tests.support.samples import BOOKING_CREATED
from tests.support.trip import PASSENGERS, search_arguments

if TYPE_CHECKING:
    from ferry_sdk import Ferry, Selection
    from ferry_sdk.sandbox import Sandbox
    from tests.support.both import Clients


def select(ferry: Ferry, place: str) -> Selection:
    sailing = ferry.availability.search(**search_arguments())[0]
    tariff = next(one for one in sailing.tariffs if one.type == "Ticket")
    return sailing.select(
        tariff=tariff, place=next(one for one in sailing.places if one.type == place)
    )


def selection(**known: Any) -> dict[str, Any]:
    return {"availability_id": "a-1", "tariff_id": "t-1", "place_id": "p-1", **known}


def test_tariffs_that_cost_more_are_not_sent(both: Ferry, ferry_sandbox: Sandbox) -> None:
    chosen = select(both, "Seat")
    assert chosen.amount is not None
    with pytest.raises(TotalExceededError) as info:
        both.bookings.create(
            availabilities=[chosen],
            passengers=PASSENGERS,
            max_total=chosen.amount - Decimal("0.01"),
        )
    error = info.value
    assert (error.total, error.currency, error.booking_id) == (chosen.amount, "EUR", None)
    assert error.outcome == "not_sent"
    assert not ferry_sandbox.counters.requests["bookings.create"]
    booking = both.bookings.create(
        availabilities=[chosen], passengers=PASSENGERS, max_total=str(chosen.amount)
    )
    assert booking.total_price == chosen.amount


def test_a_booking_that_costs_more_is_named_and_on_record(
    clients: Clients, ferry_sandbox: Sandbox
) -> None:
    journals = pytest.importorskip("ferry_sdk.journal", reason="needs the extra journal")
    seen: list[OutcomeEvent] = []
    with journals.Journal("sqlite://") as journal:
        ferry = clients(
            ferry_sandbox.token,
            base_url=ferry_sandbox.base_url,
            journal=journal,
            event_hooks={"outcome": [seen.append]},
        )
        chosen = select(ferry, "Cabin")
        with pytest.raises(TotalExceededError) as info:
            ferry.bookings.create(
                availabilities=[chosen], passengers=PASSENGERS, max_total=chosen.amount
            )
        error = info.value
        assert error.booking_id is not None
        booking = ferry.bookings.get(error.booking_id)
        ferry.bookings.cancel(error.booking_id, max_penalty=0)
        (entry,) = journal.entries(operation="bookings.create")
    assert (error.outcome, error.operation) == ("done", "bookings.create")
    assert ("done", "TotalExceededError") in [(one.outcome, one.problem) for one in seen]
    assert (entry.state, entry.booking_id) == ("done", error.booking_id)
    assert entry.correlation_id == error.correlation_id
    assert (booking.total_price, booking.payment_status) == (error.total, "unpaid")
    assert error.limit == chosen.amount < error.total
    assert len(ferry_sandbox.counters.effects_of("bookings.create")) == 1


@pytest.mark.parametrize(
    ("known", "limit", "is_refused"),
    [
        ({}, "148.18", False),
        ({}, "148.17", True),
        ({"amount": "100"}, "148.18", False),
        ({"amount": "200"}, "148.18", False),  # an amount of no currency says nothing
        ({"amount": "100", "currency": "EUR"}, "148.18", False),
        ({"amount": "100", "currency": "TND"}, "148.18", True),
    ],
)
def test_a_total_is_compared_in_the_currency_of_the_tariffs(
    known: dict[str, Any], limit: str, is_refused: bool
) -> None:
    driver = scripted_driver(good(BOOKING_CREATED))
    operation = described("bookings.create", availabilities=[selection(**known)], max_total=limit)
    if not is_refused:
        assert driver.raw(operation, SETTINGS).parse().booking_id == "b-1"
        return
    with pytest.raises(TotalExceededError) as info:
        driver.raw(operation, SETTINGS)
    assert (info.value.booking_id, info.value.currency) == ("b-1", "EUR")
    assert str(info.value) == f"booking b-1 costs 148.18 EUR, the limit is {limit}"


def test_the_tariffs_are_added_up() -> None:
    ways = [selection(amount="60.05", currency="EUR"), selection(amount="40", currency="EUR")]
    with pytest.raises(TotalExceededError, match=r"the tariffs cost 100\.05 EUR"):
        described("bookings.create", availabilities=ways, max_total=100)
    ways[1]["currency"] = "TND"
    with pytest.raises(InvalidInputError, match="currencies") as info:
        described("bookings.create", availabilities=ways, max_total=1000)
    assert info.value.field == "max_total"
