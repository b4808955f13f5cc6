"""The search for offers.

Offers are computed from a few inputs, without stored state. Only these inputs are remembered, so
that a booking can compute the same offer again with the prices of its search.
"""

from __future__ import annotations

import dataclasses
import threading
from collections import OrderedDict
from collections.abc import Iterator
from datetime import datetime, time
from typing import TYPE_CHECKING, NamedTuple

from ferry_sdk.sandbox.clock import Clock
from ferry_sdk.sandbox.network.catalogue import Catalogue
from ferry_sdk.sandbox.network.geography import Company, Journey, Route, VehicleModel
from ferry_sdk.sandbox.network.network import Network
from ferry_sdk.sandbox.network.seeded_random import SeededRandom
from ferry_sdk.sandbox.network.timetable import Sailing, Timetable
from ferry_sdk.sandbox.offers.accommodation import (
    Party,
    Place,
    Traveller,
    places_for,
)
from ferry_sdk.sandbox.offers.fares import Fares, Tariff, euros, levels, round_to_cents
from ferry_sdk.sandbox.offers.inventory import Inventory
from ferry_sdk.sandbox.offers.offer import Direction, Offer, OfferInputs
from ferry_sdk.sandbox.profile import Profile
from ferry_sdk.sandbox.requests.access import CallContext
from ferry_sdk.sandbox.requests.errors import Problem, RefusedError, invalid, not_found
from ferry_sdk.sandbox.requests.searches import Search, SearchRequest

if TYPE_CHECKING:
    from ferry_sdk.sandbox.responses.fields import JsonObject

_CACHE_SIZE = 50_000
"""How many offers of earlier searches can be booked."""
_OPEN_DAYS = 7
"""The days that a search of open tickets covers."""
_FAST_HEIGHT = 2.8
"""The height in metres up to which a fast ship carries a vehicle."""


class _Way(NamedTuple):
    """One direction of a search.

    Attributes:
        prefix: The prefix of its fields in the request.
        ports: The codes of the ports of departure and arrival.
        earliest: The earliest departure, by the port's clock.
        is_open: Whether an open ticket is wanted: the search covers a week.
    """

    direction: Direction
    prefix: str
    journey_id: str
    ports: tuple[str, str]
    earliest: datetime
    is_open: bool


class Offers:
    """Searches and remembers offers; the same seed, search and time give the same offers."""

    def __init__(
        self,
        clock: Clock,
        seed: int,
        inventory: Inventory | None = None,
        profile: Profile | None = None,
    ) -> None:
        random = SeededRandom(seed)
        self._seed = seed
        self.profile: Profile = profile or Profile()
        self.network: Network = Network.load(with_trials=True)
        self.inventory: Inventory = inventory or Inventory()
        self.timetable: Timetable = Timetable.of_seed(seed)
        self.catalogue: Catalogue = Catalogue(self.timetable, clock, self.profile)
        self._clock = clock
        self._random = random
        self._fares = Fares(random)
        self._cache: OrderedDict[str, OfferInputs] = OrderedDict()
        self._lock = threading.Lock()

    def apart(self) -> Offers:
        """Return the same offers for another account: of the same ships, without its searches."""
        return Offers(self._clock, self._seed, inventory=self.inventory, profile=self.profile)

    def availabilities(self, request: Search, context: CallContext) -> list[JsonObject]:
        """Return the availabilities that match a search.

        Raises:
            RefusedError: A date is past, a name is unknown or does not fit the others, or no
                outward sailing matches.
        """
        problems = [
            Problem("date_past", f"request.{way.prefix}_at")
            for way in _ways(request.request)
            if self._is_past(way, context.now)
        ]
        if problems:
            raise RefusedError(422, *problems)

        offers = self.search(request)
        if not any(offer.direction == "Outward" for offer in offers):
            raise not_found("no_sailings")
        return [offer.to_wire(context.caller.language) for offer in offers]

    def search(self, search: Search) -> tuple[Offer, ...]:
        """Return the offers that match, outward then return, earliest departure first.

        Empty if nothing sails or everything is sold out.

        Raises:
            RefusedError: The company, a journey or the ports are unknown or do not fit
                together, or the vehicle cannot be carried.
        """
        now = self._clock.now()
        vehicle = self.network.vehicle(search.vehicle.code) if search.vehicle else None
        company = self.network.company(search.request.company)

        ways = list(_ways(search.request))
        sailings = [self._sailings(company, way, vehicle, now) for way in ways]
        if sailings[0] and len(ways) > 1:
            # Timestamps, because datetimes of one time zone compare by their local time.
            arrival = min(each.arrive_at.timestamp() for each in sailings[0])
            sailings[1] = [each for each in sailings[1] if each.depart_at.timestamp() >= arrival]

        search_id = self._random.token(search, now)
        passengers = sorted(search.passengers, key=lambda passenger: passenger.order)
        travellers = tuple(Traveller(each.type, each.age, each.gender) for each in passengers)
        has_open_way = any(way.is_open for way in ways)
        inputs: list[OfferInputs] = []
        for way, sailings_of_way in zip(ways, sailings, strict=True):
            inputs += [
                OfferInputs(
                    id=self._random.token(search_id, way.direction, sailing.id),
                    direction=way.direction,
                    sailing=sailing,
                    is_open=way.is_open,
                    round_trip=len(ways) > 1 and not has_open_way,
                    party=Party(company, travellers),
                    vehicle=vehicle,
                    issued_at=now,
                )
                for sailing in sailings_of_way
            ]

        offers = self._keep_available(inputs)
        directions = {offer.direction for offer in offers}
        if len(directions) < len(ways):
            # One direction is sold out, so the other has no fares for round trips.
            one_way = [dataclasses.replace(each, round_trip=False) for each in inputs]
            offers = self._keep_available(one_way)
        return offers

    def find(self, availability_id: str) -> Offer | None:
        """Return the offer with this id and its original prices; None if it is unknown."""
        inputs = self._cache.get(availability_id)
        return None if inputs is None else self._offer(inputs)

    def is_free(self, sailing: Sailing, place: Place, now: datetime) -> bool:
        """Tell whether a place is left after all reservations."""
        kind = place.kind
        taken = self.inventory.taken(sailing.id, kind.code, now)
        if not taken:
            return True  # an offer keeps its place until its end, unless somebody else takes it

        left = self._fares.places_left(sailing, kind.code, kind.units, now) - taken
        return left >= place.units

    def for_travellers(self, offer: Offer, travellers: tuple[Traveller, ...]) -> Offer:
        """Return the same offer for travellers of other ages."""
        party = Party(offer.party.company, travellers)
        return self._offer(dataclasses.replace(offer, party=party))

    def _is_past(self, way: _Way, now: datetime) -> bool:
        """Tell whether the day of departure has passed at the port; False for an unknown port."""
        port = self.network.ports.get(way.ports[0])
        if port is None:
            return False
        today = now.astimezone(port.zone).date()
        return way.earliest.date() < today

    def _sailings(
        self, company: Company, way: _Way, vehicle: VehicleModel | None, now: datetime
    ) -> list[Sailing]:
        journey = self._journey(company, way)
        if vehicle is not None:
            _check_vehicle(vehicle, journey.route)

        days = _OPEN_DAYS if way.is_open else 1
        first_day = way.earliest.date()
        earliest = way.earliest
        if self.profile.out_time == "ignored":
            earliest = datetime.combine(first_day, time.min)
        return [
            sailing
            for sailing in self.timetable.sailings_from(company, journey, first_day, days)
            if sailing.depart_at > now and sailing.depart_at.replace(tzinfo=None) >= earliest
        ]

    def _journey(self, company: Company, way: _Way) -> Journey:
        for code, name in zip(way.ports, ("depart_code", "arrive_code"), strict=True):
            if code not in self.network.ports:
                raise invalid(f"request.{name}", "unknown_port", value=code)

        field = f"request.{way.prefix}_journey_id"
        journey = self.network.journey(way.journey_id, field)
        if (journey.depart.code, journey.arrive.code) != way.ports:
            raise invalid(field, "ports_mismatch")
        if company.code not in journey.route.companies:
            raise invalid("request.company", "journey_not_sailed", value=company.code)
        return journey

    def _offer(self, inputs: OfferInputs, *, reserved: bool = False) -> Offer:
        """Return the offer of a search; with `reserved`, without the places taken since."""
        sailing = inputs.sailing
        now = inputs.issued_at
        inventory = self.inventory if reserved else Inventory()
        places = places_for(inputs, self._fares, inventory)

        vehicle_fare = 0
        if inputs.vehicle is not None:
            vehicle_fare = self._fares.vehicle(sailing, inputs.vehicle, now)
        ages = [traveller.age for traveller in inputs.party.travellers]
        passenger_fares = [self._fares.passenger(sailing, age, now) for age in ages]
        fare = euros(vehicle_fare + sum(passenger_fares))

        cheapest = min((place.supplement for place in places), default=euros(0))
        if self.profile.place_price == "included":
            places = tuple(dataclasses.replace(place, supplement=cheapest) for place in places)
        tariffs = [
            Tariff(
                id=f"{inputs.id}.{level.code}",
                level=level,
                amount=round_to_cents((fare + cheapest) * level.rate),
                expires_at=level.expires_at(inputs.ends_at, now),
            )
            for level in levels(inputs)
        ]
        return Offer(
            id=inputs.id,
            direction=inputs.direction,
            sailing=sailing,
            is_open=inputs.is_open,
            round_trip=inputs.round_trip,
            party=inputs.party,
            vehicle=inputs.vehicle,
            issued_at=now,
            fare=fare,
            vehicle_fare=euros(vehicle_fare),
            tariffs=tuple(tariffs),
            places=places,
        )

    def _keep_available(self, inputs: list[OfferInputs]) -> tuple[Offer, ...]:
        """Remember and return the offers with a place left."""
        available: list[Offer] = []
        remembered: list[OfferInputs] = []
        for each in inputs:
            offer = self._offer(each, reserved=True)
            if offer.places:
                available.append(offer)
                remembered.append(each)

        with self._lock:
            for each in remembered:
                self._cache[each.id] = each
                self._cache.move_to_end(each.id)
            while len(self._cache) > _CACHE_SIZE:
                self._cache.popitem(last=False)
        return tuple(available)


def _ways(request: SearchRequest) -> Iterator[_Way]:
    yield _Way(
        direction="Outward",
        prefix="out",
        journey_id=request.out_journey_id,
        ports=(request.depart_code, request.arrive_code),
        earliest=datetime.combine(request.out_at, request.out_time),
        is_open=bool(request.out_is_open),
    )

    if request.ret_journey_id and request.ret_at and request.ret_time is not None:
        yield _Way(
            direction="Return",
            prefix="ret",
            journey_id=request.ret_journey_id,
            ports=(request.arrive_code, request.depart_code),
            earliest=datetime.combine(request.ret_at, request.ret_time),
            is_open=bool(request.ret_is_open),
        )


def _check_vehicle(vehicle: VehicleModel, route: Route) -> None:
    if vehicle.type.freight:
        raise invalid("vehicle.code", "vehicle_is_freight")
    if not route.vehicles:
        raise invalid("vehicle.code", "no_vehicles")
    if route.fast and vehicle.height > _FAST_HEIGHT:
        raise invalid("vehicle.code", "vehicle_too_high")
