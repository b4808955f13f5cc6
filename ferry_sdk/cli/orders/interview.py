"""An order, asked for on a terminal: where, when, who, which sailing, tariff and place."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

from rich.text import Text

from ferry_sdk.cli.orders.order import Leg, Order, fitting, reservation_of
from ferry_sdk.cli.orders.query import Query, query_of, sailings_of, traveller
from ferry_sdk.cli.orders.routes import booked, port_of, vehicle_of
from ferry_sdk.cli.orders.sailings import by_way, show_sailings
from ferry_sdk.cli.terminal.formatting import moment, money
from ferry_sdk.cli.terminal.options import parse_day
from ferry_sdk.cli.terminal.output import aside, plain, table, working
from ferry_sdk.cli.terminal.prompts import answer, number, text
from ferry_sdk.client import Ferry
from ferry_sdk.errors import AvailabilityError
from ferry_sdk.models.availability import Availability, Tariff
from ferry_sdk.models.enums import PassengerType
from ferry_sdk.models.inputs import Contact, Passenger, SearchPassenger


@dataclass(frozen=True, slots=True)
class Said:
    """What the command line says already; None is asked for, where it has to be."""

    depart: str | None
    arrive: str | None
    out_at: date | None
    out_time: str
    ret_at: date | None
    passengers: Sequence[SearchPassenger]
    vehicle: str | None
    company: str | None
    journey: str | None


def order_asked(ferry: Ferry, said: Said) -> Order:
    """The order, from what was said and what is asked for."""
    query = _query(ferry, said)
    query, sailings = _sailings(ferry, query)
    legs: list[Leg] = []
    for there in by_way(sailings):
        legs.append(_leg(there, query, legs[0] if legs else None))
    passengers = [_passenger(one, place) for place, one in enumerate(query.passengers, 1)]
    vehicle = None
    if query.vehicle:
        plate = answer("Registration plate (Enter: none)", str) or None
        vehicle = booked(vehicle_of(ferry, query.vehicle), plate)
    return Order(
        passengers,
        legs,
        reservation_type=reservation_of(legs),
        vehicle=vehicle,
        contact=_contact(passengers[0]),
    )


def _query(ferry: Ferry, said: Said) -> Query:
    with working("Asking for the ports"):
        ports = ferry.catalogue.ports()
    depart = said.depart or answer(
        "From (a port's name or code)", lambda one: port_of(ports, one, "from").code
    )
    arrive = said.arrive or answer(
        "To (a port's name or code)", lambda one: port_of(ports, one, "to").code
    )
    out_at = said.out_at or answer(
        "Day of departure (2027-03-01, or +30 for days ahead)", parse_day
    )
    passengers = list(said.passengers) or _party()
    vehicle = said.vehicle
    if not said.passengers and vehicle is None:
        vehicle = answer("Vehicle, as FIAT__500 (Enter: none)", lambda one: _vehicle(ferry, one))
    with working("Looking up the route"):
        return query_of(
            ferry,
            depart,
            arrive,
            out_at=out_at,
            out_time=said.out_time,
            ret_at=said.ret_at,
            passengers=passengers,
            vehicle=vehicle,
            company=said.company,
            journey=said.journey,
        )


def _party() -> list[SearchPassenger]:
    def several(kind: PassengerType) -> Callable[[str], list[SearchPassenger]]:
        return lambda said: [traveller(one, kind) for one in re.split(r"[\s,]+", said) if one]

    def adults(said: str) -> list[SearchPassenger]:
        if found := several(PassengerType.ADULT)(said):
            return found
        raise ValueError("an age and F or M are expected for each, such as 34F 40M")

    party = answer("Adults, as 34F 40M", adults)
    party += answer("Children, as 9M (Enter: none)", several(PassengerType.CHILD))
    return party + answer("Infants, as 1F (Enter: none)", several(PassengerType.INFANT))


def _vehicle(ferry: Ferry, said: str) -> str | None:
    return vehicle_of(ferry, said).code if said else None


def _sailings(ferry: Ferry, query: Query) -> tuple[Query, list[Availability]]:
    """The sailings; where there are none, out or back, another day is asked for."""
    while True:
        try:
            with working("Searching"):
                found = sailings_of(ferry, query)
        except AvailabilityError as error:
            aside().print(Text(f"  {plain(error.message)}", style="yellow"))
            query = replace(query, out_at=answer("Another day of departure", parse_day))
            continue
        if query.back is None or len(by_way(found)) > 1:
            return query, found
        aside().print(Text("  Nothing sails back on that day.", style="yellow"))
        query = replace(query, ret_at=answer("Another day for the way back", parse_day))


def _leg(sailings: Sequence[Availability], query: Query, first: Leg | None) -> Leg:
    """The sailing one way, with a tariff that goes with the way out, and a place."""
    on = aside()
    is_round = query.back is not None
    if first and first.tariff.roundtrip_locked:
        mine = first.sailing.company.id
        sailings = [one for one in sailings if one.company.id == mine] or sailings
    show_sailings(sailings, is_round=is_round, on=on)
    sailing = sailings[number(f"Which sailing {'back' if first else 'out'}", len(sailings))]
    tariffs = fitting(sailing, is_round=is_round, type_=str(first.tariff.type) if first else None)
    rows = [
        (place, _named(one), money(one.amount, one.currency), moment(one.expiration_date))
        for place, one in enumerate(tariffs, 1)
    ]
    table(("#", "tariff", "price", "holds until"), rows, right=("#", "price"), on=on)
    tariff = tariffs[number("Which tariff", len(tariffs))]
    places = [
        (index, one.name, one.type, one.capacity) for index, one in enumerate(sailing.places, 1)
    ]
    table(("#", "place", "type", "for"), places, right=("#", "for"), on=on)
    return Leg(sailing, tariff, sailing.places[number("Which place", len(sailing.places))])


def _named(tariff: Tariff) -> str:
    return f"{tariff.type}{', with the way back by the same company' * tariff.roundtrip_locked}"


def _passenger(found: SearchPassenger, place: int) -> Passenger:
    on = aside()
    on.print(Text(f"\nTraveller {place}: {found.type}, {found.age}, {found.gender}"))
    said: dict[str, Any] = {
        "first_name": text("  First name, as on the document"),
        "last_name": text("  Last name"),
        "birth_date": answer("  Born on, as 1990-05-17 (Enter: not said)", _optional_day),
        "nationality": answer("  Nationality, as FR (Enter: not said)", _optional_country),
        "doc_number": answer("  Number of the passport (Enter: none)", str) or None,
    }
    if said["doc_number"]:
        said["doc_type"] = "Passport"
        said["doc_expiration"] = answer("  Passport valid until (Enter: not said)", _optional_day)
    return Passenger(type=found.type, gender=found.gender, age=found.age, **said)


def _optional_day(said: str) -> date | None:
    try:
        return date.fromisoformat(said) if said else None
    except ValueError:
        raise ValueError("a day is expected, as 1990-05-17") from None


def _optional_country(said: str) -> str | None:
    if said and not re.fullmatch(r"[A-Za-z]{2}", said):
        raise ValueError("the two letters of a country are expected, as FR")
    return said.upper() or None


def _contact(first: Passenger) -> Contact | None:
    aside().print(Text("\nWhom the carrier reaches"))
    email = answer("  E-mail (Enter: no contact)", _optional_email)
    if not email:
        return None
    name = f"{first.first_name} {first.last_name}"
    return Contact(
        email=email,
        name=answer("  Name", str, default=name),
        prefix=answer("  Dialling prefix, as +33 (Enter: none)", str) or None,
        phone=answer("  Phone, without the prefix (Enter: none)", str) or None,
    )


def _optional_email(said: str) -> str:
    if said and not re.fullmatch(r"[^@\s]+@[^@\s]+", said):
        raise ValueError("an address with an @ is expected")
    return said
