"""Book a round trip with a car, confirm it, read the cancellation fee, and cancel."""

from __future__ import annotations

from datetime import date, timedelta

from ferry_sdk import Availability, Ferry, Selection
from ferry_sdk.sandbox import Sandbox


def cheapest(sailings: list[Availability]) -> Selection:
    """Select the cheapest ticket of several sailings, with the first place."""
    offers = [
        (tariff.amount, sailing, tariff)
        for sailing in sailings
        for tariff in sailing.tariffs
        if tariff.type == "Ticket" and not tariff.roundtrip_locked
    ]
    _, sailing, tariff = min(offers, key=lambda offer: offer[0])
    return sailing.select(tariff=tariff, place=sailing.places[0])


def main(ferry: Ferry) -> None:
    """Book, confirm and cancel."""
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
        vehicle={"code": "FIAT__500"},
    )
    there = [sailing for sailing in sailings if sailing.direction == "Outward"]
    back = [sailing for sailing in sailings if sailing.direction == "Return"]
    booking = ferry.bookings.create(
        availabilities=[cheapest(there), cheapest(back)],
        passengers=[{"type": "Adult", "first_name": "Iker", "last_name": "Soler"}],
        vehicle={"code": "CAR", "vehicule_code": "FIAT__500", "identification": "1234 BCD"},
        contact={"name": "Iker Soler", "email": "iker@example.org"},
    )
    print(f"{booking.booking_reference}: {booking.total_price} {booking.currency}")
    ferry.bookings.confirm(booking.booking_id)
    for ticket in ferry.bookings.get(booking.booking_id).tickets:
        print(f"  {ticket.direction}: {ticket.ticket_number}, {ticket.status}")
    fee = ferry.bookings.cancel_fee(booking.booking_id)
    print(f"Cancellation fee: {fee.penalty_amount} {fee.currency}")
    print(f"Refund: {ferry.bookings.cancel(booking.booking_id).refund_amount}")


if __name__ == "__main__":
    with Sandbox() as sandbox, Ferry(sandbox.token, base_url=sandbox.base_url) as client:
        main(client)
