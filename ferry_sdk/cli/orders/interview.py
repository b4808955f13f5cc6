"""Ask for an order on a terminal: route, days, travellers, sailing, tariff and place."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date
from functools import partial
from typing import Any

from rich.text import Text

from ferry_sdk.cli.orders.order import Leg, Order, reservation_type_of, tariffs_of
from ferry_sdk.cli.orders.query import (
    Query,
    Search,
    by_direction,
    parse_traveller,
    print_sailings,
    query_of,
    sailings_of,
)
from ferry_sdk.cli.orders.routes import booking_vehicle, port_of, vehicle_of
from ferry_sdk.cli.terminal.options import parse_day
from ferry_sdk.cli.terminal.output import (
    error_console,
    moment,
    print_table,
    printable,
    show_progress,
)
from ferry_sdk.cli.terminal.prompts import ask, ask_number, ask_text
from ferry_sdk.client import Ferry
from ferry_sdk.errors import AvailabilityError
from ferry_sdk.models.availability import Availability
from ferry_sdk.models.display.money import money
from ferry_sdk.models.enums import PassengerType
from ferry_sdk.models.inputs import Contact, Passenger, SearchPassenger


def ask_order(ferry: Ferry, given: dict[str, Any]) -> Order:
    """Return the order. Ask for everything that the members of a `Search` leave open."""
    query, sailings = _search_until_found(ferry, _ask_query(ferry, given))
    legs: list[Leg] = []
    for there in by_direction(sailings):
        legs.append(_ask_leg(there, query, legs[0] if legs else None))
    passengers = [_ask_passenger(one, place) for place, one in enumerate(query.passengers, 1)]
    vehicle = None
    if query.search.vehicle:
        plate = ask("Registration plate (Enter: none)", str) or None
        vehicle = booking_vehicle(vehicle_of(ferry, query.search.vehicle), plate)
    return Order(
        passengers,
        legs,
        reservation_type=reservation_type_of(legs),
        vehicle=vehicle,
        contact=_ask_contact(passengers[0]),
    )


def _ask_query(ferry: Ferry, given: dict[str, Any]) -> Query:
    with show_progress("Loading the ports"):
        ports = ferry.catalogue.ports()
    for name, question in (("depart_code", "From"), ("arrive_code", "To")):
        if name not in given:
            find = partial(port_of, ports, field=question.lower())
            given[name] = ask(f"{question} (a port's name or code)", find).code
    if "out_at" not in given:
        given["out_at"] = ask("Day of departure (2027-03-01, or +30 for days ahead)", parse_day)
    if "passengers" not in given:
        given["passengers"] = _ask_party()
        if "vehicle" not in given:
            given["vehicle"] = ask(
                "Vehicle, such as FIAT__500 (Enter: none)",
                lambda value: vehicle_of(ferry, value).code if value else None,
            )
    with show_progress("Looking up the route"):
        return query_of(ferry, Search(**given), given["passengers"])


def _ask_party() -> list[SearchPassenger]:
    party: list[SearchPassenger] = []
    for kind, question in (
        (PassengerType.ADULT, "Adults, such as 34F 40M"),
        (PassengerType.CHILD, "Children, such as 9M (Enter: none)"),
        (PassengerType.INFANT, "Infants, such as 1F (Enter: none)"),
    ):

        def parse(value: str, kind: PassengerType = kind) -> list[SearchPassenger]:
            words = value.replace(",", " ").split()
            if not words and kind is PassengerType.ADULT:
                raise ValueError("expected an age and F or M for each, such as 34F 40M")
            return [parse_traveller(one, kind) for one in words]

        party += ask(question, parse)
    return party


def _search_until_found(ferry: Ferry, query: Query) -> tuple[Query, list[Availability]]:
    """Search the sailings; if there are none out or back, ask for another day and repeat."""
    while True:
        try:
            with show_progress("Searching"):
                found = sailings_of(ferry, query)
        except AvailabilityError as error:
            error_console().print(Text(f"  {printable(error.message)}", style="yellow"))
            changes = {"out_at": ask("Another day of departure", parse_day)}
            query = replace(query, search=query.search.model_copy(update=changes))
            continue
        if query.back is None or len(by_direction(found)) > 1:
            return query, found
        error_console().print(Text("  There is no sailing back on that day.", style="yellow"))
        changes = {"ret_at": ask("Another day for the return", parse_day)}
        query = replace(query, search=query.search.model_copy(update=changes))


def _ask_leg(sailings: Sequence[Availability], query: Query, first: Leg | None) -> Leg:
    """Ask for a sailing, a tariff that can be combined with the first leg, and a place."""
    on = error_console()
    is_round = query.back is not None
    if first and first.tariff.roundtrip_locked:
        mine = first.sailing.company.id
        sailings = [one for one in sailings if one.company.id == mine] or sailings
    print_sailings(sailings, is_round=is_round, on=on)
    sailing = sailings[ask_number(f"Which sailing {'back' if first else 'out'}", len(sailings))]
    tariffs = tariffs_of(
        sailing, is_round=is_round, type_=str(first.tariff.type) if first else None
    )
    only_round = ", only with a return by the same company"
    rows = [
        (
            place,
            f"{one.type}{only_round * one.roundtrip_locked}",
            money(one.amount, one.currency),
            moment(one.expiration_date),
        )
        for place, one in enumerate(tariffs, 1)
    ]
    print_table(("#", "tariff", "price", "holds until"), rows, right=("#", "price"), on=on)
    tariff = tariffs[ask_number("Which tariff", len(tariffs))]
    places = [
        (index, one.name, one.type, one.capacity) for index, one in enumerate(sailing.places, 1)
    ]
    print_table(("#", "place", "type", "for"), places, right=("#", "for"), on=on)
    return Leg(sailing, tariff, sailing.places[ask_number("Which place", len(sailing.places))])


def _ask_passenger(found: SearchPassenger, place: int) -> Passenger:
    on = error_console()
    on.print(Text(f"\nTraveller {place}: {found.type}, {found.age}, {found.gender}"))
    fields: dict[str, Any] = {
        "first_name": ask_text("  First name, as on the document"),
        "last_name": ask_text("  Last name"),
        "birth_date": ask("  Date of birth, such as 1990-05-17 (Enter: none)", _parse_optional_day),
        "nationality": ask("  Nationality, such as FR (Enter: none)", _parse_country).upper()
        or None,
        "doc_number": ask("  Passport number (Enter: none)", str) or None,
    }
    if fields["doc_number"]:
        fields["doc_type"] = "Passport"
        fields["doc_expiration"] = ask("  Passport valid until (Enter: none)", _parse_optional_day)
    return Passenger(type=found.type, gender=found.gender, age=found.age, **fields)


def _parse_optional_day(value: str) -> date | None:
    try:
        return date.fromisoformat(value) if value else None
    except ValueError:
        raise ValueError("expected a day, such as 1990-05-17") from None


def _optional(pattern: str, expected: str) -> Callable[[str], str]:
    def read(value: str) -> str:
        if value and not re.fullmatch(pattern, value):
            raise ValueError(f"expected {expected}")
        return value

    return read


_parse_country = _optional(r"[A-Za-z]{2}", "a two-letter country code, such as FR")
_parse_email = _optional(r"[^@\s]+@[^@\s]+", "an address with an @")


def _ask_contact(first: Passenger) -> Contact | None:
    error_console().print(Text("\nContact for the ferry company"))
    email = ask("  E-mail (Enter: no contact)", _parse_email)
    if not email:
        return None
    name = f"{first.first_name} {first.last_name}"
    return Contact(
        email=email,
        name=ask("  Name", str, default=name),
        prefix=ask("  Dialling prefix, such as +33 (Enter: none)", str) or None,
        phone=ask("  Phone, without the prefix (Enter: none)", str) or None,
    )
