"""The searches of a scan: every company's routes, on every day, for every party."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from math import ceil
from typing import Any, NamedTuple

from ferry_sdk.models.inputs import (
    SearchPassenger,
    SearchPassengerDict,
    Traveller,
    VehicleQuery,
    VehicleQueryDict,
    elements_of,
)
from ferry_sdk.models.travellers import Travellers
from ferry_sdk.planning.request import ANY_TIME
from ferry_sdk.resources import arguments
from ferry_sdk.resources.bodies import party_on


@dataclass(frozen=True, slots=True)
class Party:
    """Travellers whose fares are wanted.

    Attributes:
        name: A name of your choice. It is in the files, so do not use a traveller's.
        passengers: The travellers, with their true ages.
        vehicle: The vehicle, as ``BRAND__MODEL``; None: none.

    Raises:
        InvalidInputError: An argument is invalid; `field` names it.
    """

    name: str
    passengers: Sequence[SearchPassenger | SearchPassengerDict | Traveller]
    vehicle: VehicleQuery | VehicleQueryDict | None = None

    def __post_init__(self) -> None:
        """Validate the arguments, and copy them."""
        arguments.text(self.name, "name")
        passengers = self.passengers
        if not isinstance(passengers, Travellers):
            elements: Any = elements_of(passengers, "passengers")
            passengers = tuple(elements)

        # The days of the scan are not known here, and `ScanRequest` checks the ages on them. On the
        # day when the youngest was born, all travellers have an age.
        travellers = [who for who in passengers if isinstance(who, Traveller)]
        births = [traveller.birth_date or date.min for traveller in travellers]
        body: Any = party_on(passengers, self.vehicle, max(births, default=date.min))
        if not travellers:  # then the body is the same on each day
            bodies: list[Any] = body["passengers"]
            passengers = tuple(SearchPassenger.model_validate(member) for member in bodies)

        object.__setattr__(self, "passengers", passengers)
        if self.vehicle is not None:
            object.__setattr__(self, "vehicle", VehicleQuery.model_validate(body["vehicle"]))

    def asked(self, first: date, last: date) -> dict[str, Any]:
        """Return the party as a manifest has it: without names, at the ages of a scan's days."""
        on_first = party_on(self.passengers, self.vehicle, first)
        on_last = party_on(self.passengers, self.vehicle, last)
        members = {
            "name": self.name,
            "passengers": on_first.get("passengers"),
            "vehicle": on_first.get("vehicle"),
        }
        if on_first != on_last:
            members["passengers_on_last_day"] = on_last["passengers"]
        return members


class CompanyRoute(NamedTuple):
    """A journey of one company."""

    depart_code: str
    arrive_code: str
    journey_id: str
    company: str


@dataclass(frozen=True, slots=True)
class Search:
    """One search: one company, one journey, one day, one party."""

    route: CompanyRoute
    day: date
    party: Party = field(repr=False)

    @property
    def key(self) -> str:
        """The name of the search, which no other search of the scan has: a list as JSON."""
        return json.dumps([*self.route, str(self.day), self.party.name], ensure_ascii=False)

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments of `availability.search`."""
        return {
            "company": self.route.company,
            "depart_code": self.route.depart_code,
            "arrive_code": self.route.arrive_code,
            "out_journey_id": self.route.journey_id,
            "out_at": self.day,
            "out_time": ANY_TIME,
            "passengers": self.party.passengers,
            "vehicle": self.party.vehicle,
        }


@dataclass(frozen=True, slots=True)
class SearchList:
    """The searches of a scan by number; each is made when it is needed.

    All searches of a day come before those of the next one, so that the searches of one company are
    spread over the scan. For two days, two routes and two parties, the numbers are:

        0  first day, first route, first party      4  second day, first route, first party
        1  first day, first route, second party     5  second day, first route, second party
        2  first day, second route, first party     6  …
        3  first day, second route, second party    7
    """

    days: Sequence[date]
    routes: Sequence[CompanyRoute]
    parties: Sequence[Party]
    part_size: int

    def __len__(self) -> int:
        return len(self.days) * len(self.routes) * len(self.parties)

    @property
    def part_count(self) -> int:
        """The number of parts."""
        return ceil(len(self) / self.part_size)

    def part(self, number: int) -> list[Search]:
        """Return the searches of a part."""
        first = number * self.part_size
        end = min(first + self.part_size, len(self))
        searches: list[Search] = []
        for index in range(first, end):
            route_number, party = divmod(index, len(self.parties))
            day, route = divmod(route_number, len(self.routes))
            searches.append(Search(self.routes[route], self.days[day], self.parties[party]))
        return searches
