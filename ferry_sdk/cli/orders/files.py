"""Orders: of named travellers and a search, or of a JSON file.

A file has the arguments of `bookings.create`, or a search with choices.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from ferry_sdk.cli.orders.connections import find_connections
from ferry_sdk.cli.orders.order import Choice, Order, WayChoice
from ferry_sdk.cli.orders.trips import (
    Search,
    describe_nothing,
    find_trips,
    vehicle_of,
    warn_of_missing,
)
from ferry_sdk.cli.terminal.errors import CommandError, Exit
from ferry_sdk.cli.terminal.options import problem_of, read_input
from ferry_sdk.cli.terminal.output import show_progress
from ferry_sdk.client import Ferry
from ferry_sdk.errors import InvalidInputError
from ferry_sdk.models.availability import Place
from ferry_sdk.models.base import path_of
from ferry_sdk.models.inputs import Passenger
from ferry_sdk.models.travellers import Travellers
from ferry_sdk.planning.results import SearchResult
from ferry_sdk.planning.trips import ways_of
from ferry_sdk.resources.bodies import passengers_on

T = TypeVar("T")
R = TypeVar("R", bound=SearchResult[Any])


def read_order(file: Path, ferry: Ferry) -> tuple[Order, list[Choice]]:
    """Read an order from a file, or standard input if it is ``-``. Perform its search.

    Raises:
        InvalidInputError: The file is not a valid order; the message names the field.
        CommandError: Nothing sails.
    """
    order = _read(file)
    search = order.search
    if (order.availabilities is None) == (search is None):
        raise InvalidInputError("expected either availabilities or search", field=str(file))
    if search is None:
        return order, []
    if search.changes:
        problem = "a file is one booking: book each sailing with a file of its own"
        raise InvalidInputError(problem, field=f"{file}: search.changes")
    choice = _choose(ferry, order, search)
    return _with_vehicle(ferry, order, search), [choice]


def find_order(search: Search, travellers: Travellers, ferry: Ferry) -> tuple[Order, list[Choice]]:
    """Return an order of the cheapest trip, or of the cheapest two sailings that meet.

    Fares are the cheapest, and places the first.

    Raises:
        InvalidInputError: A traveller lacks something that a booking requires.
        CommandError: Nothing sails.
    """
    order = Order(passengers=_bookable(travellers, search.on))
    if search.changes:
        found = _search(find_connections, ferry, order, search, "no two sailings meet")
        choices = [Choice(leg, leg.fares[0], leg.outward.places[:1]) for leg in found[0].legs]
    else:
        choices = [_choose(ferry, order, search)]
    passengers = _bookable(travellers, choices[0].trip.depart_at.date())
    order = order.model_copy(update={"passengers": passengers})
    return _with_vehicle(ferry, order, search), choices


def _with_vehicle(ferry: Ferry, order: Order, search: Search) -> Order:
    """Return the order with the vehicle of its search, if it names none itself."""
    if not search.vehicle or order.vehicle is not None:
        return order
    return order.model_copy(update={"vehicle": vehicle_of(ferry, search.vehicle).booking()})


def read_travellers(file: Path) -> Travellers:
    """Read travellers from a file: a list in JSON, or CSV with the names of the fields as its head.

    Raises:
        InvalidInputError: The file is no list of travellers; `field` names the file and the field.
    """
    content = read_input(file)
    rows: Any
    try:
        if content.lstrip()[:1] in {"[", "{"}:
            rows = json.loads(content, object_pairs_hook=_unique_members)
        else:
            cells = csv.DictReader(io.StringIO(content, newline=""), None, "extra", strict=True)
            rows = [{name: value for name, value in row.items() if value} for row in cells]
        party = Travellers(rows)
    except InvalidInputError as error:
        raise InvalidInputError(problem_of(error), field=f"{file}: {error.field}") from None
    except (ValueError, RecursionError, csv.Error):
        raise InvalidInputError("neither valid JSON nor CSV", field=str(file)) from None
    if not party:
        raise InvalidInputError("expected at least one traveller", field=str(file))
    return party


def _bookable(party: Travellers, day: date) -> list[Passenger]:
    """Return the passengers of a booking, with their age and type on a day.

    Raises:
        InvalidInputError: A traveller lacks something that is required, or contradicts itself.
    """
    for problem in party.problems(on=day):
        field = f"passengers[{problem.traveller}].{problem.field}"
        raise InvalidInputError(problem.problem, field=field)
    return [
        Passenger.model_validate({**vars(who), "type": aged.type, "age": aged.age})
        for who, aged in zip(party, passengers_on(day, party), strict=True)
    ]


def _read(file: Path) -> Order:
    content = read_input(file)
    try:
        return Order.model_validate(json.loads(content, object_pairs_hook=_unique_members))
    except ValidationError as error:
        field, problem = path_of(error)
        raise InvalidInputError(problem, field=f"{file}: {field}" if field else str(file)) from None
    except InvalidInputError as error:
        raise InvalidInputError("duplicate name", field=f"{file}: {error.field}") from None
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


def _search(
    find: Callable[[Ferry, Search], R], ferry: Ferry, order: Order, search: Search, nothing: str
) -> R:
    """Return what is found for the travellers of the search, or else those of its order.

    Raises:
        CommandError: There is nothing.
    """
    party = search.passengers or passengers_on(search.on, order.passengers)
    search = search.model_copy(update={"passengers": party})
    with show_progress("Searching"):
        results = find(ferry, search)
    warn_of_missing(results.report)
    if not results:
        where = f"from {search.origin} to {search.destination} on {search.on:%a %d %b %Y}"
        reason = describe_nothing(results.report, nothing)
        raise CommandError(Exit.REJECTED, f"{reason} {where}")
    return results


def _choose(ferry: Ferry, order: Order, search: Search) -> Choice:
    """Return the cheapest trip and fare that fit the choices, with their places."""
    names_tariff = any(choice.tariff is not None for choice in order.choices)
    if names_tariff and "reservation_type" not in search.model_fields_set:
        search = search.model_copy(update={"reservation_type": None})
    trips = _search(find_trips, ferry, order, search, "nothing sails")
    ways = len(ways_of(trips[0]))
    choices = order.choices or [WayChoice()] * ways
    if len(choices) != ways:
        raise InvalidInputError(f"expected {ways}, one for each direction", field="choices")
    fares = [(trip, fare) for trip in trips for fare in trip.fares]
    for index, choice in enumerate(choices):
        times = [(f"{ways_of(trip)[index].depart_at:%H:%M}",) for trip, _ in fares]
        fares = _fitting(fares, times, choice.leaves, f"choices[{index}].leaves")
        tariffs = [fare.tariffs[index] for _, fare in fares]
        types = [(str(tariff.type), tariff.id) for tariff in tariffs]
        fares = _fitting(fares, types, choice.tariff, f"choices[{index}].tariff")
    trip, fare = min(fares, key=lambda pair: pair[1].amount)
    places: list[Place] = []
    for index, (way, choice) in enumerate(zip(ways_of(trip), choices, strict=True)):
        names = [(place.name, place.id, str(place.type)) for place in way.places]
        places += _fitting(way.places, names, choice.place, f"choices[{index}].place")[:1]
    return Choice(trip, fare, places)


def _fitting(
    options: Sequence[T], names: Sequence[tuple[str, ...]], wanted: str | None, field: str
) -> list[T]:
    """Return the options one of whose names is wanted; raise InvalidInputError if none is."""
    pairs = zip(options, names, strict=True)
    fitting = [each for each, own in pairs if wanted is None or wanted in own]
    if not fitting:
        available = ", ".join(sorted({own[0] for own in names}))
        raise InvalidInputError(f"{wanted!r} is not available; there are {available}", field=field)
    return fitting
