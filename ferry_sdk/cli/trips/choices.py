"""Search the trips of a booking request, and choose the cheapest that fits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date
from typing import Any, NamedTuple, TypeVar

from ferry_sdk.cli.terminal.errors import CommandError, Exit
from ferry_sdk.cli.terminal.output import show_progress
from ferry_sdk.cli.trips.booking_request import BookingRequest, Choice, WayChoice
from ferry_sdk.cli.trips.connections import find_connections
from ferry_sdk.cli.trips.searches import (
    Search,
    describe_nothing,
    find_trips,
    vehicle_of,
    warn_of_missing,
)
from ferry_sdk.client import Ferry
from ferry_sdk.errors import InvalidInputError
from ferry_sdk.models.availability import Place
from ferry_sdk.models.inputs import Passenger
from ferry_sdk.models.travellers import Travellers
from ferry_sdk.planning.results import SearchResult
from ferry_sdk.planning.trips import Fare, Trip, ways_of
from ferry_sdk.resources.bodies import passengers_on

T = TypeVar("T")
R = TypeVar("R", bound=SearchResult[Any])


def request_cheapest(
    search: Search, travellers: Travellers, ferry: Ferry, *, choices: Sequence[WayChoice] = ()
) -> tuple[BookingRequest, list[Choice]]:
    """Return a request of the cheapest trip, or of the cheapest two sailings that meet.

    Fares are the cheapest, and places the first, among those that fit `choices`.

    Raises:
        InvalidInputError: A traveller lacks something that a booking requires, or nothing fits.
        CommandError: Nothing sails.
    """
    passengers = _bookable(travellers, search.on)
    request = BookingRequest(passengers=passengers, choices=[*choices])
    if search.changes:
        chosen = _cheapest_connection(ferry, request, search)
    else:
        chosen = [choose(ferry, request, search)]

    # A flexible search may find another day, on which a traveller may be older.
    passengers = _bookable(travellers, chosen[0].trip.depart_at.date())
    request = request.model_copy(update={"passengers": passengers})
    return with_vehicle(ferry, request, search), chosen


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


def _cheapest_connection(ferry: Ferry, request: BookingRequest, search: Search) -> list[Choice]:
    """Return the choice of each leg."""
    itineraries = _search(
        find_connections,
        ferry=ferry,
        request=request,
        search=search,
        nothing="no two sailings meet",
    )
    return [Choice(leg, leg.fares[0], leg.outward.places[:1]) for leg in itineraries[0].legs]


def with_vehicle(ferry: Ferry, request: BookingRequest, search: Search) -> BookingRequest:
    """Return the request with the vehicle of its search, if it names none itself."""
    if not search.vehicle or request.vehicle is not None:
        return request
    vehicle = vehicle_of(ferry, search.vehicle).booking()
    return request.model_copy(update={"vehicle": vehicle})


def _search(
    find: Callable[[Ferry, Search], R],
    *,
    ferry: Ferry,
    request: BookingRequest,
    search: Search,
    nothing: str,
) -> R:
    """Return the results for the travellers of the search, or else those of its request.

    Raises:
        CommandError: There are none; `nothing` says so.
    """
    party = search.passengers or passengers_on(search.on, request.passengers)
    search = search.model_copy(update={"passengers": party})

    with show_progress("Searching"):
        results = find(ferry, search)
    warn_of_missing(results.report)

    if not results:
        where = f"from {search.origin} to {search.destination} on {search.on:%a %d %b %Y}"
        reason = describe_nothing(results.report, nothing)
        raise CommandError(Exit.REJECTED, f"{reason} {where}")
    return results


class _Offer(NamedTuple):
    """A trip with one of its fares."""

    trip: Trip
    fare: Fare


def choose(ferry: Ferry, request: BookingRequest, search: Search) -> Choice:
    """Return the cheapest trip and fare that fit the choices, with their places.

    Raises:
        InvalidInputError: Nothing fits a choice; the message says what there is.
        CommandError: Nothing sails.
    """
    names_tariff = any(choice.tariff is not None for choice in request.choices)
    if names_tariff and "reservation_type" not in search.model_fields_set:
        search = search.model_copy(update={"reservation_type": None})
    trips = _search(
        find_trips, ferry=ferry, request=request, search=search, nothing="nothing sails"
    )

    ways = len(ways_of(trips[0]))
    choices = request.choices or [WayChoice()] * ways
    if len(choices) != ways:
        raise InvalidInputError(f"expected {ways}, one for each direction", field="choices")

    offers: list[_Offer] = []
    for trip in trips:
        offers += [_Offer(trip, fare) for fare in trip.fares]
    for index, choice in enumerate(choices):
        offers = _fitting_offers(offers, index, choice)
    cheapest = min(offers, key=lambda offer: offer.fare.amount)
    return Choice(cheapest.trip, cheapest.fare, _places(cheapest.trip, choices))


def _fitting_offers(offers: list[_Offer], index: int, choice: WayChoice) -> list[_Offer]:
    """Return the offers whose way number `index` fits a choice."""
    times = [(f"{ways_of(offer.trip)[index].depart_at:%H:%M}",) for offer in offers]
    offers = _fitting(offers, times, wanted=choice.leaves, field=f"choices[{index}].leaves")

    tariffs = [offer.fare.tariffs[index] for offer in offers]
    names = [(str(tariff.type), tariff.id) for tariff in tariffs]
    return _fitting(offers, names, wanted=choice.tariff, field=f"choices[{index}].tariff")


def _places(trip: Trip, choices: Sequence[WayChoice]) -> list[Place]:
    """Return the first place of each way that fits its choice."""
    places: list[Place] = []
    for index, (way, choice) in enumerate(zip(ways_of(trip), choices, strict=True)):
        names = [(place.name, place.id, str(place.type)) for place in way.places]
        field = f"choices[{index}].place"
        places += _fitting(way.places, names, wanted=choice.place, field=field)[:1]
    return places


def _fitting(
    options: Sequence[T], names: Sequence[tuple[str, ...]], *, wanted: str | None, field: str
) -> list[T]:
    """Return the options that have a wanted name; all if none is wanted.

    Args:
        options: What there is.
        names: The names of each option, the one for people first.
        wanted: A name; None: any.
        field: The field of the choice, for the error.

    Raises:
        InvalidInputError: No option has this name.
    """
    if wanted is None:
        fitting = [*options]
    else:
        pairs = zip(options, names, strict=True)
        fitting = [option for option, option_names in pairs if wanted in option_names]
    if not fitting:
        available = ", ".join(sorted({first for first, *_ in names}))
        raise InvalidInputError(f"{wanted!r} is not available; there are {available}", field=field)
    return fitting
