"""An order: travellers, vehicle and contact, and the trip with fare and places for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pydantic import Field

from ferry_sdk._runtime.money import money
from ferry_sdk.cli.orders.trips import Search, ways_of
from ferry_sdk.cli.terminal.output import (
    error_console,
    moment,
    print_facts,
    print_table,
    time_of,
)
from ferry_sdk.client import Ferry
from ferry_sdk.models.availability import Place
from ferry_sdk.models.bookings import BookingCreated
from ferry_sdk.models.inputs import Contact, Input, Passenger, Selection, Vehicle
from ferry_sdk.planning.trips import Fare, Trip


class WayChoice(Input):
    """What to choose for one way.

    Attributes:
        leaves: Time of departure as HH:MM; None: any.
        tariff: The tariff's id or type; None: any of the search.
        place: An id, type or name, of which the first is chosen; None selects the first place.
    """

    leaves: str | None = None
    tariff: str | None = None
    place: str | None = None


class Order(Input):
    """An order, as a file gives it: with `availabilities`, or a search with choices."""

    passengers: list[Passenger] = Field(min_length=1)
    availabilities: list[Selection] | None = Field(default=None, min_length=1)
    search: Search | None = None
    choices: list[WayChoice] = Field(default_factory=list[WayChoice])
    reservation_type: str | None = None
    vehicle: Vehicle | None = None
    contact: Contact | None = None


class Choice(NamedTuple):
    """A trip with the chosen fare, and a place for each way."""

    trip: Trip
    fare: Fare
    places: Sequence[Place]


def send_order(ferry: Ferry, order: Order, choice: Choice | None) -> BookingCreated:
    """Create the booking of what is chosen, or else of the order's availabilities."""
    selections: Sequence[Selection] = order.availabilities or ()
    kind = order.reservation_type
    if choice is not None:
        selections = choice.trip.select(choice.fare, choice.places)
        kind = choice.fare.reservation_type
    return ferry.bookings.create(
        availabilities=selections,
        passengers=order.passengers,
        reservation_type=kind,
        vehicle=order.vehicle,
        contact=order.contact,
    )


def print_summary(order: Order, choice: Choice | None) -> None:
    """Print the order before it is sent."""
    on = error_console()
    price = "shown after booking"
    if choice is not None:
        trip, fare, places = choice
        rows = [
            (
                f"{way.depart_name} → {way.arrive_name}",
                moment(way.depart_at),
                time_of(way.arrive_at, way.depart_at),
                (tariff.type, place.name),
                money(tariff.amount, tariff.currency),
            )
            for way, tariff, place in zip(ways_of(trip), fare.tariffs, places, strict=True)
        ]
        heads = ("sailing", "leaves", "arrives", "tariff, place", "price")
        print_table(heads, rows, right=("price",), on=on)
        price = f"{money(fare.amount, fare.currency)} for the tariffs; a place may cost extra"
    contact, vehicle = order.contact, order.vehicle
    people = tuple(f"{one.first_name} {one.last_name}, {one.type}" for one in order.passengers)
    print_facts(
        [
            ("travellers", people),
            (
                "vehicle",
                vehicle
                and " ".join(filter(None, (vehicle.brand, vehicle.model, vehicle.identification))),
            ),
            ("contact", contact and f"{contact.name}, {contact.email}"),
            ("price", f"{price}. Payment is due at `ferry confirm`"),
        ],
        on=on,
    )
