"""An order: a trip with fare and places, travellers, vehicle and contact."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ferry_sdk.cli.orders.trips import reservation_type_of, ways_of
from ferry_sdk.cli.terminal.output import error_console, print_facts, print_table, time_of
from ferry_sdk.client import Ferry
from ferry_sdk.models.availability import Place
from ferry_sdk.models.bookings import BookingCreated
from ferry_sdk.models.display.money import money
from ferry_sdk.models.inputs import Contact, Passenger, Selection, Vehicle
from ferry_sdk.planning.trips import Fare, Trip


class Choice(NamedTuple):
    """A trip with the chosen fare, and a place for each way."""

    trip: Trip
    fare: Fare
    places: Sequence[Place]


@dataclass(frozen=True, slots=True)
class Order:
    """The arguments of `bookings.create`.

    Attributes:
        choice: What is chosen; None if the order gives `selections` by id.
    """

    passengers: Sequence[Passenger]
    choice: Choice | None = None
    selections: Sequence[Selection] = ()
    reservation_type: str | None = None
    vehicle: Vehicle | None = None
    contact: Contact | None = None

    def send(self, ferry: Ferry) -> BookingCreated:
        """Create the booking."""
        selections, kind = self.selections, self.reservation_type
        if self.choice is not None:
            selections = self.choice.trip.select(self.choice.fare, self.choice.places)
            kind = reservation_type_of(self.choice.fare)
        return ferry.bookings.create(
            availabilities=selections,
            passengers=self.passengers,
            reservation_type=kind,
            vehicle=self.vehicle,
            contact=self.contact,
        )


def print_summary(order: Order) -> None:
    """Print the order before it is sent."""
    on = error_console()
    price = "shown after booking"
    if order.choice is not None:
        trip, fare, places = order.choice
        rows = [
            (
                f"{way.depart_name} → {way.arrive_name}",
                f"{way.depart_at:%a %d %b %H:%M}",
                time_of(way.arrive_at, way.depart_at),
                f"{tariff.type}\n{place.name}",
                money(tariff.amount, tariff.currency),
            )
            for way, tariff, place in zip(ways_of(trip), fare.tariffs, places, strict=True)
        ]
        heads = ("sailing", "leaves", "arrives", "tariff, place", "price")
        print_table(heads, rows, right=("price",), on=on)
        price = f"{money(fare.amount, fare.currency)} for the tariffs; a place may cost extra"
    contact, vehicle = order.contact, order.vehicle
    people = [f"{one.first_name} {one.last_name}, {one.type}" for one in order.passengers]
    print_facts(
        [
            ("travellers", "\n".join(people)),
            ("vehicle", vehicle and " ".join(filter(None, (vehicle.brand, vehicle.model)))),
            ("contact", contact and f"{contact.name}, {contact.email}"),
            ("price", f"{price}. Payment is due at `ferry confirm`"),
        ],
        on=on,
    )
