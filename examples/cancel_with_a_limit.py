"""Cancel a round trip, but only if no more is kept than the customer agreed to."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal

from ferry_sdk import Availability, Booking, Ferry, PenaltyExceededError, Selection
from ferry_sdk.sandbox import Sandbox


def cheapest(sailings: list[Availability]) -> Selection:
    """The cheapest ticket of several sailings."""
    offers = [
        (tariff.amount, sailing, tariff)
        for sailing in sailings
        for tariff in sailing.tariffs
        if tariff.type == "Ticket" and not tariff.roundtrip_locked
    ]
    _, sailing, tariff = min(offers, key=lambda offer: offer[0])
    return sailing.select(tariff=tariff, place=sailing.places[0])


def round_trip(ferry: Ferry) -> Booking:
    """Algeciras to Ceuta and back, confirmed and issued."""
    by_route = {journey.route: journey.journey_id for journey in ferry.catalogue.journeys()}
    out = date.today() + timedelta(days=30)
    sailings = ferry.availability.search(
        company="BALEARIA",
        depart_code="ESALG",
        arrive_code="ESCEU",
        out_journey_id=by_route["Algeciras → Ceuta"],
        out_at=out,
        out_time="06:00",
        ret_journey_id=by_route["Ceuta → Algeciras"],
        ret_at=out + timedelta(days=7),
        ret_time="06:00",
        passengers=[{"type": "Adult", "gender": "Male", "age": 52}],
    )
    there = [sailing for sailing in sailings if sailing.direction == "Outward"]
    back = [sailing for sailing in sailings if sailing.direction == "Return"]
    booking = ferry.bookings.create(
        availabilities=[cheapest(there), cheapest(back)],
        passengers=[{"type": "Adult", "first_name": "Iker", "last_name": "Soler"}],
    )
    ferry.bookings.confirm(booking.booking_id, expect_total=booking.total_price)
    return ferry.bookings.wait(booking.booking_id, until="ticketed", deadline=30)


def cancel(ferry: Ferry, booking: Booking, limit: Decimal) -> bool:
    """Cancel within a limit, and tell what came back."""
    try:
        cancellation = ferry.bookings.cancel(
            booking.booking_id, booking_reference=booking.booking_reference, max_penalty=limit
        )
    except PenaltyExceededError as error:
        print(f"Not cancelled: {error.penalty} {error.currency} would be kept, not {error.limit}.")
        return False
    if cancellation.refund_amount is None:
        print("Cancelled; the reply was lost, and the refund is not known.")
    elif cancellation.refund_shortfall:
        print(f"Cancelled, but {cancellation.refund_shortfall} less came back than was said.")
    else:
        print(f"Cancelled: {cancellation.refund_amount} {booking.currency} came back.")
    return True


def main(ferry: Ferry) -> None:
    """Cancel at no cost if possible, else for a quarter of the price at the most."""
    booking = round_trip(ferry)
    print(f"{booking.booking_reference}: {booking.total_price} {booking.currency}")
    if not cancel(ferry, booking, Decimal(0)):
        cancel(ferry, booking, booking.total_price / 4)


if __name__ == "__main__":
    with Sandbox() as sandbox, Ferry(sandbox.token, base_url=sandbox.base_url) as client:
        main(client)
