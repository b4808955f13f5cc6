"""A booking request: travellers, vehicle and contact, and the trip with fare and places for them.

Users call it an order: `ferry book --from order.json`. It is no `ferry_sdk.orders.Order`, which is
several bookings that were made.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from pydantic import Field

from ferry_sdk._runtime.money import money
from ferry_sdk.cli.terminal.output import (
    error_console,
    moment,
    print_details,
    print_table,
    time_of,
    words,
)
from ferry_sdk.cli.trips.connections import SEPARATE_TICKETS
from ferry_sdk.cli.trips.searches import Search
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


class BookingRequest(Input):
    """What to book, as an order file has it: with `availabilities`, or a search with choices."""

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
        return {"passengers": self.passengers, "vehicle": self.vehicle, "contact": self.contact}


class Choice(NamedTuple):
    """A trip with the chosen fare, and a place for each way."""

    trip: Trip
    fare: Fare
    places: Sequence[Place]


def selections_of(request: BookingRequest, choices: Sequence[Choice]) -> list[Sequence[Selection]]:
    """Return the selections of each booking: what is chosen, or else the availabilities."""
    if choices:
        return [choice.trip.select(choice.fare, choice.places) for choice in choices]
    return [request.availabilities or ()]


def print_summary(
    request: BookingRequest,
    choices: Sequence[Choice],
    payment: str = "Payment is due at `ferry confirm`",
) -> None:
    """Print the request before it is sent, with a sentence that says when it is paid."""
    console = error_console()
    price = "shown after booking"
    if choices:
        rows: list[tuple[object, ...]] = []
        for choice in choices:
            rows += _rows(choice)
        heads = ("sailing", "leaves", "arrives", "tariff, place", "price")
        print_table(heads, rows, right=("price",), on=console)

        totals = sums((choice.fare.currency, choice.fare.amount) for choice in choices)
        amounts = " and ".join(money(amount, currency) for currency, amount in totals.items())
        price = f"{amounts} for the tariffs; a place may cost extra"

    people = tuple(f"{who.first_name} {who.last_name}, {who.type}" for who in request.passengers)
    vehicle = request.vehicle
    contact = request.contact
    remark = SEPARATE_TICKETS if len(choices) > 1 else None
    print_details(
        ("travellers", people),
        ("vehicle", vehicle and words(vehicle.brand, vehicle.model, vehicle.identification)),
        ("contact", contact and f"{contact.name}, {contact.email}"),
        ("price", f"{price}. {payment}"),
        ("two bookings", remark),
        on=console,
    )


def _rows(choice: Choice) -> Iterator[tuple[object, ...]]:
    """Yield a row for each way."""
    ways = zip(ways_of(choice.trip), choice.fare.tariffs, choice.places, strict=True)
    for way, tariff, place in ways:
        day = f"{way.depart_at:%a %d %b %Y}"
        yield (
            f"{way.depart_name} → {way.arrive_name}",
            (day, moment(way.depart_at).removeprefix(f"{day} ")),
            time_of(way.arrive_at, way.depart_at),
            (tariff.type, place.name),
            money(tariff.amount, tariff.currency),
        )
