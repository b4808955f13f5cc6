"""An order: sailings with tariff and place, travellers, vehicle and contact."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from ferry_sdk.cli.terminal.output import error_console, print_facts, print_table, time_of
from ferry_sdk.client import Ferry
from ferry_sdk.errors import InvalidInputError
from ferry_sdk.models.availability import Availability, Place, Tariff
from ferry_sdk.models.bookings import BookingCreated
from ferry_sdk.models.display.money import money
from ferry_sdk.models.enums import TariffType
from ferry_sdk.models.inputs import Contact, Passenger, Selection, Vehicle


@dataclass(frozen=True, slots=True)
class Leg:
    """A sailing with the chosen tariff and place."""

    sailing: Availability
    tariff: Tariff
    place: Place


@dataclass(frozen=True, slots=True)
class Order:
    """The arguments of `bookings.create`.

    Attributes:
        legs: The chosen sailings; empty if the order gives `selections` by id.
    """

    passengers: Sequence[Passenger]
    legs: Sequence[Leg] = ()
    selections: Sequence[Selection] = ()
    reservation_type: str | None = None
    vehicle: Vehicle | None = None
    contact: Contact | None = None

    def send(self, ferry: Ferry) -> BookingCreated:
        """Create the booking."""
        chosen = [leg.sailing.select(tariff=leg.tariff, place=leg.place) for leg in self.legs]
        return ferry.bookings.create(
            availabilities=chosen or self.selections,
            passengers=self.passengers,
            reservation_type=self.reservation_type,
            vehicle=self.vehicle,
            contact=self.contact,
        )


def tariffs_of(sailing: Availability, *, is_round: bool, type_: str | None = None) -> list[Tariff]:
    """Return the tariffs that can be booked: tickets first, then the cheapest first.

    Some tariffs require a round trip. All tariffs of a booking have one type, such as `type_`.
    """
    tariffs = [
        one
        for one in sailing.tariffs
        if (is_round or not one.roundtrip_locked) and type_ in {None, str(one.type)}
    ]
    return sorted(tariffs, key=lambda one: (one.type != TariffType.TICKET, one.amount))


def reservation_type_of(legs: Sequence[Leg]) -> str:
    """Return the reservation type that all tariffs share; raise InvalidInputError if none is."""
    types = {str(leg.tariff.type).upper() for leg in legs}
    if len(types) > 1:
        raise InvalidInputError(
            f"expected tariffs of one type, got {sorted(types)}", field="choices"
        )
    return types.pop()


def print_summary(order: Order) -> None:
    """Print the order before it is sent."""
    on = error_console()
    rows = [
        (
            f"{leg.sailing.depart_name} → {leg.sailing.arrive_name}",
            f"{leg.sailing.depart_at:%a %d %b %H:%M}",
            time_of(leg.sailing.arrive_at, leg.sailing.depart_at),
            f"{leg.tariff.type}\n{leg.place.name}",
            money(leg.tariff.amount, leg.tariff.currency),
        )
        for leg in order.legs
    ]
    if rows:
        print_table(
            ("sailing", "leaves", "arrives", "tariff, place", "price"),
            rows,
            right=("price",),
            on=on,
        )
    contact, vehicle = order.contact, order.vehicle
    print_facts(
        [
            (
                "travellers",
                "\n".join(
                    f"{one.first_name} {one.last_name}, {one.type}" for one in order.passengers
                ),
            ),
            ("vehicle", vehicle and " ".join(filter(None, (vehicle.brand, vehicle.model)))),
            ("contact", contact and f"{contact.name}, {contact.email}"),
            ("price", _price(order.legs)),
        ],
        on=on,
    )


def _price(legs: Sequence[Leg]) -> str:
    if not legs:
        return "shown after booking; payment is due at `ferry confirm`"
    total = sum((leg.tariff.amount for leg in legs), Decimal(0))
    text = money(total, legs[0].tariff.currency)
    return f"{text} for the tariffs; a place may cost extra. Payment is due at `ferry confirm`"
