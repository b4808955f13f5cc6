"""Cancel a round trip, but only if the fee is within the customer's limit."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal

from ferry_sdk import Booking, Ferry, PenaltyExceededError
from ferry_sdk.sandbox import Sandbox


def round_trip(ferry: Ferry) -> Booking:
    """Book and confirm Algeciras to Ceuta and back."""
    out = date.today() + timedelta(days=30)
    trips = ferry.trips.search(
        "Algeciras",
        "Ceuta",
        on=out,
        back=out + timedelta(days=7),
        passengers=[{"type": "Adult", "gender": "Male", "age": 52}],
        companies=["BALEARIA"],
    )
    # Round-trip fares are cheaper, but often not refunded.
    singles = next(fare for fare in trips[0].fares if fare.kind == "two_singles")
    booking = ferry.bookings.create(
        availabilities=trips[0].select(singles),
        passengers=[{"type": "Adult", "first_name": "Iker", "last_name": "Soler"}],
    )
    ferry.bookings.confirm(booking.booking_id, expect_total=singles.amount)
    return ferry.bookings.wait(booking.booking_id, until="ticketed", deadline=30)


def cancel(ferry: Ferry, booking: Booking, limit: Decimal) -> bool:
    """Cancel within a limit, and print the refund."""
    try:
        cancellation = ferry.bookings.cancel(
            booking.booking_id, booking_reference=booking.booking_reference, max_penalty=limit
        )
    except PenaltyExceededError as error:
        print(f"Not cancelled: the fee is {error.penalty} {error.currency}, not {error.limit}.")
        return False
    if cancellation.refund_amount is None:
        print("Cancelled. The reply was lost, so the refund is unknown.")
    elif cancellation.refund_shortfall:
        print(f"Cancelled, but the refund is {cancellation.refund_shortfall} less than previewed.")
    else:
        print(f"Cancelled. Refund: {cancellation.refund_amount} {booking.currency}")
    return True


def main(ferry: Ferry) -> None:
    """Cancel free of charge if possible, otherwise for at most a quarter of the price."""
    booking = round_trip(ferry)
    print(f"{booking.booking_reference}: {booking.total_price} {booking.currency}")
    if not cancel(ferry, booking, Decimal(0)):
        cancel(ferry, booking, booking.total_price / 4)


if __name__ == "__main__":
    with Sandbox() as sandbox, Ferry(sandbox.token, base_url=sandbox.base_url) as client:
        main(client)
