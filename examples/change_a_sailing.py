"""Move a customer's crossing to another day, as a desk does it: quote, agree, change."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal

from ferry_sdk import Ferry, OrderError, PenaltyExceededError, Trip, orders
from ferry_sdk.journal import Journal
from ferry_sdk.models import PassengerDict
from ferry_sdk.sandbox import Sandbox

TRAVELLERS: list[PassengerDict] = [
    {"type": "Adult", "first_name": "Iker", "last_name": "Soler", "gender": "Male", "age": 52}
]


def cheapest(ferry: Ferry, day: date) -> Trip:
    """Find the cheapest crossing of a day."""
    trips = ferry.trips.search(
        "Algeciras",
        "Ceuta",
        on=day,
        passengers=[{"type": "Adult", "gender": "Male", "age": 52}],
    )
    return trips.filter(reservation_type="TICKET")[0]


def sell(ferry: Ferry, day: date, journal: Journal) -> str:
    """Sell a crossing, and return its booking once its tickets are issued."""
    selection = cheapest(ferry, day).select()
    order = orders.hold(ferry, [selection], passengers=TRAVELLERS, journal=journal)
    order = orders.confirm(ferry, order, expect_totals=order.totals, journal=journal)
    booking_id = str(order.parts[0].booking_id)
    # Until then nobody knows what a change costs.
    ferry.bookings.wait(booking_id, until="ticketed", deadline=60)
    return booking_id


def change(ferry: Ferry, booking_id: str, day: date, journal: Journal) -> None:
    """Change a booking to another day, at the price and the fee that the customer was told."""
    trip = cheapest(ferry, day)
    fee = ferry.bookings.cancel_fee(booking_id)
    print(f"New: {trip.price} {trip.currency}, {trip.depart_at:%d %B %H:%M}")
    print(f"Kept of the old one: {fee.penalty_amount}, given back: {fee.refund_amount}")
    try:
        order = orders.change(
            ferry,
            booking_id,
            to=trip.select(),
            passengers=TRAVELLERS,
            expect_totals={trip.currency: trip.price or Decimal(0)},
            max_penalty={fee.currency: fee.penalty_amount},
            journal=journal,
        )
    except PenaltyExceededError as error:
        print(f"Not changed: the fee is {error.penalty} {error.currency} now.")
    except OrderError as error:
        print(f"Not changed as agreed: {error}")
        for part in error.order.parts:
            print(f"The {part.role} booking {part.booking_id} is {part.state}.")
    else:
        new, old = order.parts
        print(f"Changed: the new booking is {new.state}, the old one is {old.state}.")


if __name__ == "__main__":
    with (
        Sandbox() as sandbox,
        Ferry(sandbox.token, base_url=sandbox.base_url) as client,
        Journal("sqlite:///desk.db") as record,
    ):
        start = date.today() + timedelta(days=30)
        sold = sell(client, start, record)
        change(client, sold, start + timedelta(days=7), record)
