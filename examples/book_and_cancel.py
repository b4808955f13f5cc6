"""Book a round trip with a car, confirm it, read the cancellation fee, and cancel."""

from __future__ import annotations

from datetime import date, timedelta

from ferry_sdk import Ferry
from ferry_sdk.sandbox import Sandbox


def main(ferry: Ferry) -> None:
    """Book, confirm and cancel."""
    out = date.today() + timedelta(days=30)
    car = ferry.vehicles.find("Fiat 500")[0]
    trips = ferry.trips.search(
        "Algeciras",
        "Ceuta",
        on=out,
        back=out + timedelta(days=7),
        passengers=[{"type": "Adult", "gender": "Male", "age": 52}],
        vehicle=car.query,
    )
    booking = ferry.bookings.create(
        availabilities=trips[0].select(),
        passengers=[{"type": "Adult", "first_name": "Iker", "last_name": "Soler"}],
        vehicle=car.booking(identification="1234 BCD"),
        contact={"name": "Iker Soler", "email": "iker@example.org"},
    )
    print(f"{booking.booking_reference}: {booking.total_price} {booking.currency}")
    ferry.bookings.confirm(booking.booking_id, expect_total=trips[0].price)
    booking_id = booking.booking_id
    # Some companies issue tickets with a delay.
    for ticket in ferry.bookings.wait(booking_id, until="ticketed", deadline=30).tickets:
        print(f"  {ticket.direction}: {ticket.ticket_number}, {ticket.status}")
    fee = ferry.bookings.cancel_fee(booking_id)
    print(f"Cancellation fee: {fee.penalty_amount} {fee.currency}")
    print(f"Refund: {ferry.bookings.cancel(booking_id).refund_amount}")


if __name__ == "__main__":
    with Sandbox() as sandbox, Ferry(sandbox.token, base_url=sandbox.base_url) as client:
        main(client)
