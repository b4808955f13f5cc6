"""Orders in a JSON file: the arguments of `bookings.create`, or a search with choices."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from pydantic import Field, ValidationError

from ferry_sdk.cli.orders.order import Leg, Order, reservation_type_of, tariffs_of
from ferry_sdk.cli.orders.query import Search, by_direction, query_of, sailings_of
from ferry_sdk.cli.orders.routes import booking_vehicle, vehicle_of
from ferry_sdk.client import Ferry
from ferry_sdk.errors import InvalidInputError
from ferry_sdk.models.availability import Availability
from ferry_sdk.models.base import path_of
from ferry_sdk.models.inputs import Contact, Input, Passenger, SearchPassenger, Selection, Vehicle


class Choice(Input):
    """The sailing, tariff and place to choose in one direction.

    Attributes:
        leaves: Time of departure as HH:MM; None selects the first sailing.
        tariff: An id, or a type, of which the cheapest is chosen.
        place: An id, type or name, of which the first is chosen; None selects the first place.
    """

    leaves: str | None = None
    tariff: str = "Ticket"
    place: str | None = None


class OrderFile(Input):
    """The content of an order file."""

    passengers: list[Passenger] = Field(min_length=1)
    availabilities: list[Selection] | None = Field(default=None, min_length=1)
    search: Search | None = None
    choices: list[Choice] = Field(default_factory=list[Choice])
    reservation_type: str | None = None
    vehicle: Vehicle | None = None
    contact: Contact | None = None


def read_order(file: Path, ferry: Ferry) -> Order:
    """Read an order from a file, or standard input if it is ``-``. Perform its search.

    Raises:
        InvalidInputError: The file is not a valid order; the message names the field.
        AvailabilityError: There is no sailing.
    """
    order_file = _read(file)
    selections, legs = order_file.availabilities, list[Leg]()
    vehicle, kind = order_file.vehicle, order_file.reservation_type
    if (selections is None) == (order_file.search is None):
        raise InvalidInputError("expected either availabilities or search", field=str(file))
    if order_file.search is not None:
        legs = _choose_legs(ferry, order_file, order_file.search)
        kind = reservation_type_of(legs)
        if order_file.search.vehicle and vehicle is None:
            vehicle = booking_vehicle(vehicle_of(ferry, order_file.search.vehicle), None)
    return Order(order_file.passengers, legs, selections or (), kind, vehicle, order_file.contact)


def _read(file: Path) -> OrderFile:
    try:
        # JSON is UTF-8, whatever the terminal's encoding is.
        content_bytes = sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
        content = json.loads(content_bytes.decode("utf-8-sig"), object_pairs_hook=_unique_members)
        return OrderFile.model_validate(content)
    except ValidationError as error:
        field, problem = path_of(error)
        raise InvalidInputError(problem, field=f"{file}: {field}" if field else str(file)) from None
    except InvalidInputError as error:
        raise InvalidInputError("duplicate name", field=f"{file}: {error.field}") from None
    except OSError as error:
        raise InvalidInputError(error.strerror or "cannot be read", field=str(file)) from None
    except (ValueError, RecursionError):
        raise InvalidInputError("not valid JSON", field=str(file)) from None


def _unique_members(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Return the members of an object, and reject duplicate names as ambiguous."""
    members: dict[str, object] = {}
    for name, value in pairs:
        if name in members:
            raise InvalidInputError("duplicate name", field=name)
        members[name] = value
    return members


def _choose_legs(ferry: Ferry, order_file: OrderFile, search: Search) -> list[Leg]:
    passengers = search.passengers or _party(order_file.passengers)
    ways = by_direction(sailings_of(ferry, query_of(ferry, search, passengers)))
    choices = order_file.choices or [Choice() for _ in ways]
    if len(choices) != len(ways):
        raise InvalidInputError(f"expected {len(ways)}, one for each direction", field="choices")
    return [
        _choose_leg(choice, way, f"choices[{index}]", is_round=search.ret_at is not None)
        for index, (way, choice) in enumerate(zip(ways, choices, strict=True))
    ]


def _party(passengers: list[Passenger]) -> list[SearchPassenger]:
    for index, one in enumerate(passengers):
        if one.age is None or one.gender is None:
            raise InvalidInputError(
                "the search requires age and gender", field=f"passengers[{index}]"
            )
    return [
        SearchPassenger.model_validate({"type": one.type, "gender": one.gender, "age": one.age})
        for one in passengers
    ]


def _choose_leg(choice: Choice, sailings: list[Availability], field: str, *, is_round: bool) -> Leg:
    matching = [one for one in sailings if choice.leaves in {None, f"{one.depart_at:%H:%M}"}]
    if not matching:
        times = ", ".join(f"{one.depart_at:%H:%M}" for one in sailings)
        raise InvalidInputError(
            f"no sailing leaves then; departures are at {times}", field=f"{field}.leaves"
        )
    sailing = matching[0]
    tariffs = tariffs_of(sailing, is_round=is_round)
    tariff = next((one for one in tariffs if choice.tariff in {one.id, str(one.type)}), None)
    if tariff is None:
        types = ", ".join(sorted({str(one.type) for one in tariffs}))
        raise InvalidInputError(f"not available; there are {types}", field=f"{field}.tariff")
    place = next(
        (one for one in sailing.places if choice.place in {None, one.id, one.name, str(one.type)}),
        None,
    )
    if place is None:
        names = ", ".join(one.name for one in sailing.places)
        raise InvalidInputError(f"not available; there are {names}", field=f"{field}.place")
    return Leg(sailing, tariff, place)
