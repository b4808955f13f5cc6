"""An order in a JSON file: what `bookings.create` takes, or a search and what to choose of it."""

from __future__ import annotations

import json
import sys
from datetime import date
from pathlib import Path
from typing import Annotated

from pydantic import BeforeValidator, Field, ValidationError

from ferry_sdk.cli.orders.order import Leg, Order, fitting, reservation_of
from ferry_sdk.cli.orders.query import query_of, sailings_of
from ferry_sdk.cli.orders.routes import booked, vehicle_of
from ferry_sdk.cli.terminal.options import parse_day
from ferry_sdk.client import Ferry
from ferry_sdk.errors import InvalidInputError
from ferry_sdk.models.availability import Availability, Place
from ferry_sdk.models.base import path_of
from ferry_sdk.models.inputs import Contact, Input, Passenger, SearchPassenger, Selection, Vehicle


def _day(value: object) -> object:
    return parse_day(value) if isinstance(value, str) else value


_Day = Annotated[date, BeforeValidator(_day)]


class Search(Input):
    """What to search; company and journey may be left out where the catalogues know them."""

    depart_code: str
    arrive_code: str
    out_at: _Day
    out_time: str = "00:00"
    ret_at: _Day | None = None
    company: str | None = None
    out_journey_id: str | None = None
    passengers: list[SearchPassenger] | None = None
    vehicle: str | None = None


class Choice(Input):
    """Which of the sailings one way, which tariff, which place.

    Attributes:
        leaves: The time of departure, HH:MM; None: the first.
        tariff: A type, of which the cheapest is taken, or an id.
        place: A type or a name, of which the first is taken, or an id; None: the first.
    """

    leaves: str | None = None
    tariff: str = "Ticket"
    place: str | None = None


class OrderFile(Input):
    """The whole file."""

    passengers: list[Passenger] = Field(min_length=1)
    availabilities: list[Selection] | None = Field(default=None, min_length=1)
    search: Search | None = None
    choices: list[Choice] = Field(default_factory=list[Choice])
    reservation_type: str | None = None
    vehicle: Vehicle | None = None
    contact: Contact | None = None


def order_in(file: Path, ferry: Ferry) -> Order:
    """The order that a file holds; what it searches is searched.

    Args:
        file: The file; ``-`` is the standard input.
        ferry: A client.

    Raises:
        InvalidInputError: It cannot be read as one; the message names the field.
        AvailabilityError: Nothing sails.
    """
    written = _read(file)
    selections, legs = written.availabilities, list[Leg]()
    vehicle, kind = written.vehicle, written.reservation_type
    if (selections is None) == (written.search is None):
        raise InvalidInputError("either availabilities or search is expected", field=str(file))
    if written.search is not None:
        legs = _legs(ferry, written, written.search)
        kind = reservation_of(legs)
        if written.search.vehicle and vehicle is None:
            vehicle = booked(vehicle_of(ferry, written.search.vehicle), None)
    return Order(written.passengers, legs, selections or (), kind, vehicle, written.contact)


def _read(file: Path) -> OrderFile:
    try:
        # Not the terminal's encoding: JSON is UTF-8 wherever it comes from.
        given = sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
        content = json.loads(given.decode("utf-8-sig"), object_pairs_hook=_members)
        return OrderFile.model_validate(content)
    except ValidationError as error:
        field, problem = path_of(error)
        raise InvalidInputError(problem, field=f"{file}: {field}" if field else str(file)) from None
    except InvalidInputError as error:
        raise InvalidInputError("said twice", field=f"{file}: {error.field}") from None
    except OSError as error:
        raise InvalidInputError(error.strerror or "cannot be read", field=str(file)) from None
    except (ValueError, RecursionError):
        raise InvalidInputError("no JSON", field=str(file)) from None


def _members(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """The members of an object; of two of one name, nobody knows which is meant."""
    members: dict[str, object] = {}
    for name, value in pairs:
        if name in members:
            raise InvalidInputError("said twice", field=name)
        members[name] = value
    return members


def _legs(ferry: Ferry, written: OrderFile, search: Search) -> list[Leg]:
    found = sailings_of(
        ferry,
        query_of(
            ferry,
            search.depart_code,
            search.arrive_code,
            out_at=search.out_at,
            out_time=search.out_time,
            ret_at=search.ret_at,
            passengers=search.passengers or _party(written.passengers),
            vehicle=search.vehicle,
            company=search.company,
            journey=search.out_journey_id,
        ),
    )
    ways = list(dict.fromkeys(one.direction for one in found))
    choices = written.choices or [Choice() for _ in ways]
    if len(choices) != len(ways):
        raise InvalidInputError(f"{len(ways)} are expected, one each way", field="choices")
    return [
        _chosen(
            choice,
            [one for one in found if one.direction == way],
            f"choices[{index}]",
            is_round=search.ret_at is not None,
        )
        for index, (way, choice) in enumerate(zip(ways, choices, strict=True))
    ]


def _party(passengers: list[Passenger]) -> list[SearchPassenger]:
    for index, one in enumerate(passengers):
        if one.age is None or one.gender is None:
            raise InvalidInputError(
                "age and gender are expected, for the search", field=f"passengers[{index}]"
            )
    return [
        SearchPassenger.model_validate({"type": one.type, "gender": one.gender, "age": one.age})
        for one in passengers
    ]


def _chosen(choice: Choice, sailings: list[Availability], field: str, *, is_round: bool) -> Leg:
    left = [one for one in sailings if choice.leaves in {None, f"{one.depart_at:%H:%M}"}]
    if not left:
        times = ", ".join(f"{one.depart_at:%H:%M}" for one in sailings)
        raise InvalidInputError(f"sailings leave at {times}", field=f"{field}.leaves")
    sailing = left[0]
    tariffs = fitting(sailing, is_round=is_round)
    tariff = next((one for one in tariffs if choice.tariff in {one.id, str(one.type)}), None)
    if tariff is None:
        types = ", ".join(sorted({str(one.type) for one in tariffs}))
        raise InvalidInputError(f"there are {types}", field=f"{field}.tariff")
    place = next((one for one in sailing.places if _is_meant(choice.place, one)), None)
    if place is None:
        names = ", ".join(one.name for one in sailing.places)
        raise InvalidInputError(f"there are {names}", field=f"{field}.place")
    return Leg(sailing, tariff, place)


def _is_meant(said: str | None, place: Place) -> bool:
    return said is None or said in {place.id, place.name, str(place.type)}
