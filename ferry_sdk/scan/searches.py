"""The searches of a scan: every company's routes, on every day, for every party."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
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
        births = [who.birth_date or date.min for who in passengers if isinstance(who, Traveller)]
        # Nobody is born later. `ScanRequest` checks the ages on its days.
        body: Any = party_on(passengers, self.vehicle, max(births, default=date.min))
        if not births:
            passengers = tuple(map(SearchPassenger.model_validate, body["passengers"]))
        object.__setattr__(self, "passengers", passengers)
        if self.vehicle is not None:
            object.__setattr__(self, "vehicle", VehicleQuery.model_validate(body["vehicle"]))

    def asked(self, first: date, last: date) -> dict[str, Any]:
        """Return the party as a manifest has it: without names, at the ages of a scan's days."""
        bodies = [party_on(self.passengers, self.vehicle, day) for day in (first, last)]
        members = {name: bodies[0].get(name) for name in ("passengers", "vehicle")}
        if bodies[0] != bodies[1]:
            members["passengers_on_last_day"] = bodies[1]["passengers"]
        return {"name": self.name, **members}


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
            "out_time": "00:00",
            "passengers": self.party.passengers,
            "vehicle": self.party.vehicle,
        }


@dataclass(frozen=True, slots=True)
class SearchList:
    """The searches of a scan by number; each is made when it is needed.

    The days come first, so that the searches of one company are spread over the scan.
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
        return -(-len(self) // self.part_size)

    def part(self, number: int) -> list[Search]:
        """Return the searches of a part."""
        first = number * self.part_size
        searches: list[Search] = []
        for index in range(first, min(first + self.part_size, len(self))):
            rest, party = divmod(index, len(self.parties))
            day, route = divmod(rest, len(self.routes))
            searches.append(Search(self.routes[route], self.days[day], self.parties[party]))
        return searches
