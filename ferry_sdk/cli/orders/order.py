"""What is to be booked: sailings with tariff and place, travellers, contact."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from ferry_sdk.cli.terminal.formatting import leaves, money, time_of
from ferry_sdk.cli.terminal.output import aside, facts, table
from ferry_sdk.client import Ferry
from ferry_sdk.errors import InvalidInputError
from ferry_sdk.models.availability import Availability, Place, Tariff
from ferry_sdk.models.bookings import BookingCreated
from ferry_sdk.models.enums import TariffType
from ferry_sdk.models.inputs import Contact, Passenger, Selection, Vehicle


@dataclass(frozen=True, slots=True)
class Leg:
    """A sailing with what was chosen of it."""

    sailing: Availability
    tariff: Tariff
    place: Place


@dataclass(frozen=True, slots=True)
class Order:
    """What `bookings.create` takes.

    Attributes:
        legs: The sailings, where they are known; else `selections` says them by their ids.
    """

    passengers: Sequence[Passenger]
    legs: Sequence[Leg] = ()
    selections: Sequence[Selection] = ()
    reservation_type: str | None = None
    vehicle: Vehicle | None = None
    contact: Contact | None = None

    def send(self, ferry: Ferry) -> BookingCreated:
        """Make the booking.

        Raises:
            FerryError: It was not made, or may have been.
        """
        chosen = [leg.sailing.select(tariff=leg.tariff, place=leg.place) for leg in self.legs]
        return ferry.bookings.create(
            availabilities=chosen or self.selections,
            passengers=self.passengers,
            reservation_type=self.reservation_type,
            vehicle=self.vehicle,
            contact=self.contact,
        )


def fitting(sailing: Availability, *, is_round: bool, type_: str | None = None) -> list[Tariff]:
    """The tariffs that can be had: tickets before what only reserves, the cheapest first.

    Args:
        sailing: A sailing.
        is_round: Whether there is a way back, which some tariffs are locked to.
        type_: Only tariffs of this type: a booking has one.
    """
    tariffs = [
        one
        for one in sailing.tariffs
        if (is_round or not one.roundtrip_locked) and type_ in {None, str(one.type)}
    ]
    return sorted(tariffs, key=lambda one: (one.type != TariffType.TICKET, one.amount))


def reservation_of(legs: Sequence[Leg]) -> str:
    """What the tariffs reserve.

    Raises:
        InvalidInputError: Different things.
    """
    types = {str(leg.tariff.type).upper() for leg in legs}
    if len(types) > 1:
        raise InvalidInputError(f"a booking has one type, not {sorted(types)}", field="choices")
    return types.pop()


def summary(order: Order) -> None:
    """Print what is about to be booked."""
    on = aside()
    rows = [
        (
            f"{leg.sailing.depart_name} → {leg.sailing.arrive_name}",
            leaves(leg.sailing.depart_at),
            time_of(leg.sailing.arrive_at, leg.sailing.depart_at),
            f"{leg.tariff.type}\n{leg.place.name}",
            money(leg.tariff.amount, leg.tariff.currency),
        )
        for leg in order.legs
    ]
    if rows:
        table(
            ("sailing", "leaves", "arrives", "tariff, place", "price"),
            rows,
            right=("price",),
            on=on,
        )
    contact, vehicle = order.contact, order.vehicle
    facts(
        [
            ("travellers", "\n".join(f"{_name(one)}, {one.type}" for one in order.passengers)),
            ("vehicle", vehicle and " ".join(filter(None, (vehicle.brand, vehicle.model)))),
            ("contact", contact and f"{contact.name}, {contact.email}"),
            ("price", _price(order.legs)),
        ],
        on=on,
    )


def _name(passenger: Passenger) -> str:
    return f"{passenger.first_name} {passenger.last_name}"


def _price(legs: Sequence[Leg]) -> str:
    if not legs:
        return "the booking will say it; nothing is paid before `ferry confirm`"
    total = sum((leg.tariff.amount for leg in legs), Decimal(0))
    shown = money(total, legs[0].tariff.currency)
    return f"{shown} by the tariffs; a place may cost more. Nothing is paid before `ferry confirm`"
