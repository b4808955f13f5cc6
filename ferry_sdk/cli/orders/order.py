"""An order: travellers, vehicle and contact, and the trip with fare and places for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from pydantic import Field

from ferry_sdk._runtime.money import money
from ferry_sdk.cli.orders.connections import SEPARATE_TICKETS
from ferry_sdk.cli.orders.trips import Search
from ferry_sdk.cli.terminal.output import (
    error_console,
    moment,
    print_facts,
    print_table,
    time_of,
    words,
)
from ferry_sdk.models.availability import Place
from ferry_sdk.models.inputs import Contact, Input, Passenger, Selection, Vehicle
from ferry_sdk.orders.order import sums
from ferry_sdk.planning.trips import Fare, Trip, ways_of


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

    @property
    def party(self) -> dict[str, Any]:
        """The arguments of a booking besides what is booked."""
        names = ("passengers", "vehicle", "contact")
        return {name: getattr(self, name) for name in names}


class Choice(NamedTuple):
    """A trip with the chosen fare, and a place for each way."""

    trip: Trip
    fare: Fare
    places: Sequence[Place]


def selections_of(order: Order, choices: Sequence[Choice]) -> list[Sequence[Selection]]:
    """Return the selections of each booking: what is chosen, or else the availabilities."""
    chosen = [trip.select(fare, places) for trip, fare, places in choices]
    return [*chosen] or [order.availabilities or ()]


def print_summary(order: Order, choices: Sequence[Choice]) -> None:
    """Print the order before it is sent."""
    on = error_console()
    price = "shown after booking"
    if choices:
        rows: list[tuple[object, ...]] = []
        for trip, fare, places in choices:
            for way, tariff, place in zip(ways_of(trip), fare.tariffs, places, strict=True):
                sailing = f"{way.depart_name} → {way.arrive_name}"
                arrives = time_of(way.arrive_at, way.depart_at)
                kind, cost = (tariff.type, place.name), money(tariff.amount, tariff.currency)
                rows.append((sailing, moment(way.depart_at), arrives, kind, cost))
        heads = ("sailing", "leaves", "arrives", "tariff, place", "price")
        print_table(heads, rows, right=("price",), on=on)
        totals = sums((choice.fare.currency, choice.fare.amount) for choice in choices)
        shown = " and ".join(money(amount, currency) for currency, amount in totals.items())
        price = f"{shown} for the tariffs; a place may cost extra"
    contact, vehicle = order.contact, order.vehicle
    people = tuple(f"{who.first_name} {who.last_name}, {who.type}" for who in order.passengers)
    print_facts(
        ("travellers", people),
        ("vehicle", vehicle and words(vehicle.brand, vehicle.model, vehicle.identification)),
        ("contact", contact and f"{contact.name}, {contact.email}"),
        ("price", f"{price}. Payment is due at `ferry confirm`"),
        ("two bookings", SEPARATE_TICKETS if len(choices) > 1 else None),
        on=on,
    )
