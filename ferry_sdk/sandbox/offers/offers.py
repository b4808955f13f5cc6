"""Offers, and the search that finds them.

Offers are computed from a few inputs, without stored state. Only these inputs are remembered, so
that a booking can compute the same offer again with the prices of its search.
"""

from __future__ import annotations

import dataclasses
import threading
from collections import OrderedDict
from dataclasses import dataclass
from datetime import date, datetime, time
from typing import TYPE_CHECKING

from ferry_sdk.sandbox.network.catalogue import Catalogue
from ferry_sdk.sandbox.network.network import MismatchError, Network
from ferry_sdk.sandbox.network.seeded_random import SeededRandom
from ferry_sdk.sandbox.network.timetable import Timetable
from ferry_sdk.sandbox.offers.accommodation import Accommodation, Place
from ferry_sdk.sandbox.offers.fares import Demand, Fares, euros
from ferry_sdk.sandbox.offers.offer import OPEN_FOR, Direction, Offer, price_of
from ferry_sdk.sandbox.offers.party import Party, Traveller
from ferry_sdk.sandbox.offers.tariffs import Tariff, levels
from ferry_sdk.sandbox.requests.errors import Problem, RefusedError, not_found

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ferry_sdk.sandbox.clock import Clock
    from ferry_sdk.sandbox.network.geography import Company, Journey
    from ferry_sdk.sandbox.network.network import VehicleModel
    from ferry_sdk.sandbox.network.timetable import Sailing
    from ferry_sdk.sandbox.requests.access import CallContext
    from ferry_sdk.sandbox.requests.requests import Search, SearchRequest


__all__ = ["Leg", "Offer", "Offers", "Place", "SearchQuery", "Tariff", "Traveller"]

_CACHE_SIZE = 50_000
_OPEN_DAYS = 7
_FAST_HEIGHT = 2.8
_PREFIX: dict[Direction, str] = {"Outward": "out", "Return": "ret"}


@dataclass(frozen=True, slots=True)
class Leg:
    """One direction of a search.

    Attributes:
        date: The day of departure, in the port's time zone.
        time: The earliest time of departure, in the port's time zone.
        is_open: Whether an open ticket is wanted: the search covers a week from `date`.
    """

    journey_id: str
    depart_code: str
    arrive_code: str
    date: date
    time: time
    is_open: bool = False


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """A search."""

    company: str
    outward: Leg
    return_: Leg | None
    passengers: tuple[Traveller, ...]
    vehicle: VehicleModel | None


@dataclass(frozen=True, slots=True)
class _OfferInputs:
    """The inputs from which an offer is computed."""

    id: str
    direction: Direction
    sailing: Sailing
    is_open: bool
    round_trip: bool
    party: Party
    vehicle: VehicleModel | None
    at: datetime


class Offers:
    """Searches and remembers offers; the same seed, query and time give the same offers."""

    def __init__(self, network: Network, clock: Clock, seed: int) -> None:
        random = SeededRandom(seed)
        self.network = network
        self.timetable: Timetable = Timetable(random)
        self.catalogue: Catalogue = Catalogue(network, self.timetable, clock)
        self._clock = clock
        self._random = random
        self._fares = Fares(random)
        self._accommodation = Accommodation(Demand(random))
        self._cache: OrderedDict[str, _OfferInputs] = OrderedDict()
        self._lock = threading.Lock()

    def search(self, query: SearchQuery) -> tuple[Offer, ...]:
        """Return the offers that match, outward then return, earliest departure first.

        Empty if nothing sails or everything is sold out.

        Raises:
            MismatchError: The company, a journey or the ports are unknown or do not fit
                together, or the vehicle cannot be carried.
        """
        now = self._clock.now()
        company = self.network.company(query.company)
        legs: dict[Direction, Leg] = {"Outward": query.outward}
        if query.return_ is not None:
            legs["Return"] = query.return_
        journeys = {
            direction: self._journey(company, leg, f"request.{_PREFIX[direction]}_journey_id")
            for direction, leg in legs.items()
        }
        if query.vehicle is not None:
            _check_vehicle(query.vehicle, journeys.values())
        sailings = {
            direction: self._sailings(company, leg, journeys[direction], now)
            for direction, leg in legs.items()
        }
        if sailings["Outward"] and "Return" in sailings:
            # Timestamps, because datetimes of one time zone compare by their local time.
            there = min(each.arrive_at.timestamp() for each in sailings["Outward"])
            sailings["Return"] = [
                each for each in sailings["Return"] if each.depart_at.timestamp() >= there
            ]
        search_id = self._random.token(query, now)
        found = [
            _OfferInputs(
                id=self._random.token(search_id, direction, each.id),
                direction=direction,
                sailing=each,
                is_open=leg.is_open,
                round_trip=len(legs) > 1 and not any(each.is_open for each in legs.values()),
                party=Party(company, query.passengers),
                vehicle=query.vehicle,
                at=now,
            )
            for direction, leg in legs.items()
            for each in sailings[direction]
        ]
        offers = self._keep_available(found)
        if len({each.direction for each in offers}) < len(legs):
            offers = self._keep_available(
                [dataclasses.replace(each, round_trip=False) for each in found]
            )
        return offers

    def find(self, availability_id: str) -> Offer | None:
        """Return the offer with this id and its original prices; None if it is unknown."""
        with self._lock:
            found = self._cache.get(availability_id)
            if found is not None:
                self._cache.move_to_end(availability_id)
        return None if found is None else self._offer(found)

    def for_travellers(self, offer: Offer, travellers: tuple[Traveller, ...]) -> Offer:
        """Return the same offer for travellers of other ages.

        Raises:
            KeyError: The offer is no longer remembered.
        """
        with self._lock:
            found = self._cache[offer.id]
        party = Party(found.party.company, travellers)
        return self._offer(dataclasses.replace(found, party=party))

    def _sailings(
        self, company: Company, leg: Leg, journey: Journey, now: datetime
    ) -> list[Sailing]:
        earliest = datetime.combine(leg.date, leg.time)
        days = _OPEN_DAYS if leg.is_open else 1
        return [
            each
            for each in self.timetable.sailings_from(company, journey, leg.date, days)
            if each.depart_at > now and each.depart_at.replace(tzinfo=None) >= earliest
        ]

    def _journey(self, company: Company, leg: Leg, field: str) -> Journey:
        for code, name in ((leg.depart_code, "depart_code"), (leg.arrive_code, "arrive_code")):
            if code not in self.network.ports:
                raise MismatchError(f"request.{name}", "unknown_port", code)
        journey = self.network.journey(leg.journey_id, field)
        if (journey.depart.code, journey.arrive.code) != (leg.depart_code, leg.arrive_code):
            raise MismatchError(field, "ports_mismatch", f"{leg.depart_code}-{leg.arrive_code}")
        if company.code not in journey.route.companies:
            raise MismatchError("request.company", "journey_not_sailed", company.code)
        return journey

    def _offer(self, found: _OfferInputs) -> Offer:
        sailing, now = found.sailing, found.at
        adult = self._fares.adult(sailing, now)
        places = self._accommodation.places(found.id, sailing, found.party, adult, now)
        vehicle = euros(
            self._fares.vehicle(sailing, found.vehicle, now) if found.vehicle is not None else 0
        )
        people = sum(
            self._fares.passenger(sailing, each.age, now) for each in found.party.travellers
        )
        fare = euros(people) + vehicle
        ends_at = now + OPEN_FOR if found.is_open else sailing.depart_at
        cheapest = min((each.supplement for each in places), default=euros(0))
        tariffs = tuple(
            Tariff(
                id=f"{found.id}.{level.code}",
                level=level,
                amount=price_of(fare, cheapest, level.rate),
                issued_at=now,
                expires_at=level.expires_at(ends_at, now),
            )
            for level in levels(sailing, now, is_open=found.is_open, round_trip=found.round_trip)
        )
        return Offer(
            id=found.id,
            direction=found.direction,
            sailing=sailing,
            is_open=found.is_open,
            party=found.party,
            vehicle=found.vehicle,
            fare=fare,
            vehicle_fare=vehicle,
            tariffs=tariffs,
            places=places,
            issued_at=now,
        )

    def _keep_available(self, found: list[_OfferInputs]) -> tuple[Offer, ...]:
        """Remember and return the offers with a place left."""
        pairs = [(each, offer) for each in found for offer in [self._offer(each)] if offer.places]
        with self._lock:
            for each, _ in pairs:
                self._cache[each.id] = each
                self._cache.move_to_end(each.id)
            while len(self._cache) > _CACHE_SIZE:
                self._cache.popitem(last=False)
        return tuple(offer for _, offer in pairs)


def _check_vehicle(vehicle: VehicleModel, journeys: Iterable[Journey]) -> None:
    field = "vehicle.code"
    if vehicle.type.freight:
        raise MismatchError(field, "vehicle_is_freight", vehicle.code)
    for journey in journeys:
        if not journey.route.vehicles:
            raise MismatchError(field, "no_vehicles", vehicle.code)
        if journey.route.fast and vehicle.height > _FAST_HEIGHT:
            raise MismatchError(field, "vehicle_too_high", vehicle.code)


def search(request: Search, offers: Offers, context: CallContext) -> list[dict[str, object]]:
    """Return the availabilities that match a search.

    Raises:
        RefusedError: A date is past, or no outward sailing matches.
        MismatchError: A name is unknown or does not fit the others.
    """
    past = tuple(_past_dates(request.request, offers, context))
    if past:
        raise RefusedError(422, *past)
    found = offers.search(_query(request, offers))
    if not any(offer.direction == "Outward" for offer in found):
        raise not_found("no_sailings")
    return [offer.to_wire(context.caller.language) for offer in found]


def _past_dates(request: SearchRequest, offers: Offers, context: CallContext) -> Iterator[Problem]:
    for name, day, code in (
        ("out_at", request.out_at, request.depart_code),
        ("ret_at", request.ret_at, request.arrive_code),
    ):
        port = offers.network.ports.get(code)
        if day and port and day < context.now.astimezone(port.zone).date():
            yield Problem("date_past", f"request.{name}")


def _query(request: Search, offers: Offers) -> SearchQuery:
    requested = request.request
    back = None
    if requested.ret_journey_id and requested.ret_at and requested.ret_time is not None:
        back = Leg(
            journey_id=requested.ret_journey_id,
            depart_code=requested.arrive_code,
            arrive_code=requested.depart_code,
            date=requested.ret_at,
            time=requested.ret_time,
            is_open=bool(requested.ret_is_open),
        )
    return SearchQuery(
        company=requested.company,
        outward=Leg(
            journey_id=requested.out_journey_id,
            depart_code=requested.depart_code,
            arrive_code=requested.arrive_code,
            date=requested.out_at,
            time=requested.out_time,
            is_open=bool(requested.out_is_open),
        ),
        return_=back,
        passengers=tuple(
            Traveller(one.type, one.age, one.gender)
            for one in sorted(request.passengers, key=lambda one: one.order)
        ),
        vehicle=offers.network.vehicle(request.vehicle.code) if request.vehicle else None,
    )
