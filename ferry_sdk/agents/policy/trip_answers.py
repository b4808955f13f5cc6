"""Find places and trips for an agent, and turn an offer that was shown into a selection.

A search of trips passes these steps:

1. `with_travellers` puts the travellers in place of their handles, if the toolkit uses handles.
2. `find` finds the vehicle by its name ("Fiat 500"), and searches the trips or connections in what
   is left of `SECONDS`. It shows them as offers, which `KnownIds.remember_trips` remembers.
3. To book the offer ``kqbs1`` with the place ``B``, `selected` puts the ids of the sailing, the
   tariff and the place in place of both.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Any, Final, cast

from ferry_sdk._runtime.clock import monotonic
from ferry_sdk.agents.policy.answers import TEXTS, Answer, RefusedError, code_of, done_answer
from ferry_sdk.agents.policy.audit import Invoke
from ferry_sdk.agents.policy.known_ids import KnownIds, require
from ferry_sdk.agents.tools.sanitize import clean_text
from ferry_sdk.agents.tools.table import FIND_TRIPS
from ferry_sdk.agents.tools.trip_tools import (
    OFFERS,
    PLACES,
    TripsTable,
    places_view,
    unreadable_member,
)
from ferry_sdk.errors import ConfigurationError, FerryError, InvalidInputError
from ferry_sdk.models.inputs import Traveller, VehicleQuery
from ferry_sdk.planning.connections import ConnectionSearch, Itinerary
from ferry_sdk.planning.names import PlaceMatch
from ferry_sdk.planning.results import (
    Matches,
    SearchReport,
    UnreadableAnswer,
    describe_unreadable,
)
from ferry_sdk.planning.trips import Trip, TripSearch
from ferry_sdk.planning.vehicles import VehicleMatch
from ferry_sdk.resources.bodies import passengers_on

SECONDS: Final = 40.0
"""The time for a search of trips. What has answered by then is shown; hosts wait about a minute."""
_PATIENCE: Final = 20.0
"""The time for the answer of one company."""
_LEAST_SECONDS: Final = 0.1
_HALF_A_DAY: Final = 12 * 3600.0
_MAX_LENGTH: Final = 60
_MAX_NOTE: Final = 300
_WHOLE_NAME: Final = 1.0
"""The score of a vehicle whose whole name, or code, is the text."""
_PART_OF_A_NAME: Final = 0.9
"""The score of a vehicle whose name has the text as some of its words."""

DAYS: Final = ("on", "back", "out_at", "ret_at")
"""The arguments that are days of travel."""

Handles = Mapping[str, Traveller] | Callable[[], Mapping[str, Traveller]]
"""Travellers by the labels that the program chose, or a function that returns them."""

Reads = Generator[Invoke, Any, Answer]


def check_days(values: Mapping[str, Any], now: float) -> None:
    """Refuse a day that is over in every time zone.

    Args:
        values: The arguments of a call.
        now: Seconds since the epoch.

    Raises:
        InvalidInputError: A day is past; `field` names it.
    """
    first = datetime.fromtimestamp(now - _HALF_A_DAY, UTC).date()
    for name in DAYS:
        if name in values and values[name] < first:
            raise InvalidInputError("this day is past", field=name)


def read_handles(source: object) -> Mapping[str, Traveller]:
    """Return the travellers by their labels.

    Args:
        source: The mapping, or a function that returns it.

    Raises:
        ConfigurationError: It is not a mapping of labels to travellers.
    """
    handles: Any = (source() or {}) if callable(source) else source
    if isinstance(handles, Mapping):
        members = cast("Mapping[object, object]", handles).items()
        if all(isinstance(label, str) and isinstance(who, Traveller) for label, who in members):
            return cast("Mapping[str, Traveller]", handles)
    raise ConfigurationError("travellers: expected a Traveller for each label")


def with_travellers(
    values: Mapping[str, Any], travellers: Mapping[str, Traveller]
) -> dict[str, Any]:
    """Return the arguments of a call with the travellers that its handles name.

    In a search they have their age and type on the day out.

    Raises:
        InvalidInputError: There is no such handle, or it is given twice.
    """
    arguments = dict(values)
    handles: list[str] = arguments.pop("travellers")
    for index, handle in enumerate(handles):
        problem = None
        if handle not in travellers:
            problem = "no such handle"
        elif handle in handles[:index]:
            problem = "given twice"
        if problem is not None:
            raise InvalidInputError(
                f"{problem}; travellers_list shows the handles", field=f"travellers.{index}"
            )

    party = [travellers[handle] for handle in handles]
    day = arguments.get("on", arguments.get("out_at"))
    arguments["passengers"] = party if day is None else passengers_on(day, party)
    return arguments


def find(
    operation: str, values: Mapping[str, Any], known_ids: KnownIds, today: Callable[[], date]
) -> Reads:
    """Answer a call of a tool that makes several calls; `today` is called after them."""
    if operation == FIND_TRIPS.operation:
        return (yield from _find_trips(values, known_ids, today))

    arguments = {"limit": PLACES, **values}
    matches: Matches[PlaceMatch] = yield Invoke("places.find", arguments, SECONDS)
    notes = _unreadable_notes(matches.unreadable, "unreadable_ports")
    return done_answer(places_view(matches), notes)


def _find_trips(values: Mapping[str, Any], known_ids: KnownIds, today: Callable[[], date]) -> Reads:
    arguments = dict(values)
    limit: int = arguments.pop("limit", OFFERS)
    vehicle: VehicleMatch | None = None
    began = monotonic()
    if "vehicle" in arguments:
        vehicle = yield from _find_vehicle(arguments["vehicle"])
        code = arguments["vehicle"] if vehicle is None else vehicle.query.code
        arguments["vehicle"] = VehicleQuery(code=code)
    remaining = max(SECONDS - (monotonic() - began), _LEAST_SECONDS)

    search = "trips.search"
    if arguments.pop("changes", 0):
        search = "trips.connections"
        for name in ("back", "flexible"):
            if arguments.pop(name, None):
                raise InvalidInputError("not together with changes", field=name)
    arguments["patience"] = _PATIENCE
    trips: TripSearch | ConnectionSearch = yield Invoke(search, arguments, remaining)

    table = TripsTable()
    if isinstance(trips, ConnectionSearch):
        _show_connections(trips[:limit], arguments, known_ids, table)
    else:
        known_ids.remember_trips(trips, arguments, table, limit=limit)

    view = table.view
    if vehicle is not None:
        view["vehicle"] = {"code": clean_text(vehicle.booking().code, _MAX_LENGTH)}
    if len(trips) > limit:
        view["more"] = len(trips) - limit
    view |= unreadable_member(trips.report.unreadable)
    view["today"] = today().isoformat()
    return done_answer(view, _notes(trips))


def _show_connections(
    itineraries: Sequence[Itinerary],
    arguments: Mapping[str, Any],
    known_ids: KnownIds,
    table: TripsTable,
) -> None:
    """Show connections, and each of their legs once, as an offer of its own."""
    legs: dict[str, Trip] = {}
    for itinerary in itineraries:
        for leg in itinerary.legs:
            legs[leg.outward.id] = leg

    offers = known_ids.remember_trips([*legs.values()], arguments, table, limit=len(legs))
    offer_of_leg = dict(zip(legs, offers, strict=True))
    for itinerary in itineraries:
        table.connect(itinerary, [offer_of_leg[leg.outward.id] for leg in itinerary.legs])


def _find_vehicle(text: str) -> Generator[Invoke, Any, VehicleMatch | None]:
    """Return the vehicle that a text means, never by a guess.

    A code is also accepted if the vehicles cannot be read; then the result is None.
    """
    matches: Matches[VehicleMatch]
    try:
        matches = yield Invoke("vehicles.find", {"text": text, "limit": 20}, SECONDS)
    except FerryError:
        if "__" in text:
            return None
        raise

    best = [match for match in matches if match.score >= _WHOLE_NAME]
    if len(best) != 1:  # perhaps only one has the text as a part of its name
        best = [match for match in matches if match.score >= _PART_OF_A_NAME]
    if len(best) == 1:
        return best[0]

    candidates = [_candidate(match) for match in matches]
    if best:
        raise RefusedError("several_vehicles", field="vehicle", candidates=candidates)
    if matches.unreadable:
        raise RefusedError(
            "unreadable_vehicle",
            describe_unreadable(matches.unreadable),
            field="vehicle",
            candidates=candidates,
        )
    raise RefusedError("unknown_vehicle", field="vehicle", candidates=candidates)


def _candidate(match: VehicleMatch) -> dict[str, str]:
    name = f"{match.model.brand} {match.model.model}"
    return {
        "code": clean_text(match.model.code or "", _MAX_LENGTH),
        "name": clean_text(name, _MAX_LENGTH),
    }


def _notes(trips: TripSearch | ConnectionSearch) -> Iterator[str]:
    """Return what a model has to know about the offers, or about their absence."""
    report = trips.report
    if trips.left_out:
        yield TEXTS["left_out"].format(trips.left_out)

    missing = {failed.company: f"failed ({code_of(failed.error)})" for failed in report.failed}
    for skipped in report.not_asked:
        missing.setdefault(skipped.company, "not asked (no time, or too many searches)")
    if missing:
        line = ", ".join(f"{company} {reason}" for company, reason in missing.items())
        yield clean_text(f"Not all offers: {line}.", _MAX_NOTE)

    yield from _unreadable_notes(report.unreadable, "unreadable")
    if trips and isinstance(trips, ConnectionSearch):
        yield TEXTS["separate_tickets"]
    if not trips and not trips.left_out:
        yield _nothing_note(report)


def _nothing_note(report: SearchReport) -> str:
    """Return what a model has to know if a search has found nothing."""
    if report.has_route is None:
        return TEXTS["route_not_known"]
    if not report.asked and not report.not_asked:
        return TEXTS["no_company"]
    if report.unreadable:
        return TEXTS["nothing_readable"]
    return TEXTS["nothing_found"]


def _unreadable_notes(answers: Sequence[UnreadableAnswer], text: str) -> Iterator[str]:
    """Return what a model has to know about records that could not be read, by one of `TEXTS`."""
    if answers:
        yield TEXTS[text].format(describe_unreadable(answers))


def selected(values: Mapping[str, Any], known_ids: KnownIds) -> dict[str, Any]:
    """Return the arguments of a booking with selections in place of an offer.

    Raises:
        RefusedError: No search has shown the offer.
        InvalidInputError: There is neither an offer nor a selection, or a place is not one of the
            offer's.
    """
    arguments = dict(values)
    offer = arguments.pop("offer", None)
    letters = arguments.pop("places", None)
    if (offer is None) == ("availabilities" not in arguments):
        raise InvalidInputError("expected either an offer or availabilities", field="offer")
    if offer is None:
        if letters is not None:
            raise InvalidInputError("places are those of an offer", field="places")
        return arguments

    shown = require(known_ids.trips.get(offer), "this offer", "offer")
    if letters is None:
        return {**arguments, "availabilities": shown.trip.select()}

    if len(letters) != len(shown.places):
        raise InvalidInputError(f"expected {len(shown.places)}, one for each way", field="places")
    chosen: list[str] = []
    for index, (letter, places) in enumerate(zip(letters, shown.places, strict=True)):
        if letter not in places:
            problem = f"this offer has the places {', '.join(places)}"
            raise InvalidInputError(problem, field=f"places.{index}")
        chosen.append(places[letter])
    return {**arguments, "availabilities": shown.trip.select(places=chosen)}
