"""The searches that wishes need: one company, journey, day, party and vehicle.

Wishes that need the same search share it: its id is a hash of these five. For example, two wishes
of one adult for the same days, with other rules, need one search for each company and day.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import timedelta
from hashlib import blake2b
from typing import Any, Final, NamedTuple

from pydantic import TypeAdapter

from ferry_sdk._engine.operation import Operation
from ferry_sdk._runtime.clock import Date
from ferry_sdk.models.availability import Availability
from ferry_sdk.models.inputs import VehicleQuery
from ferry_sdk.models.records import Records
from ferry_sdk.planning.request import ANY_TIME, Query, TripRequest
from ferry_sdk.planning.results import AskedSearch
from ferry_sdk.planning.routes import Route
from ferry_sdk.resources.availability import AvailabilityGroup
from ferry_sdk.resources.bodies import passengers_on
from ferry_sdk.types import SearchRecord

logger: logging.Logger = logging.getLogger("ferry_sdk")


class Person(NamedTuple):
    """A traveller of a search. The tuple sorts, so that equal parties have the same order.

    Attributes:
        type: Adult, Child or Infant.
        gender: Male or Female.
        age: The age in years.
    """

    type: str
    gender: str
    age: int


@dataclass(frozen=True, slots=True)
class WishSearch:
    """One search.

    Attributes:
        company: The company, as the search takes it.
        journey_id: The journey.
        day: The day of departure.
        party: The travellers, sorted.
        vehicle: The vehicle, as ``BRAND__MODEL``; None: none.
        depart_code: The code of the port of departure.
        arrive_code: The code of the port of arrival.
        depart_name: The name of the port of departure.
        arrive_name: The name of the port of arrival.
    """

    company: str
    journey_id: str
    day: Date
    party: tuple[Person, ...]
    vehicle: str | None
    depart_code: str
    arrive_code: str
    depart_name: str
    arrive_name: str

    @classmethod
    def of(cls, query: Query, request: TripRequest) -> WishSearch:
        """Return the search of a query, which was made of a request."""
        passengers = passengers_on(query.day, request.passengers)
        party = [Person(who.type.value, who.gender.value, who.age) for who in passengers]
        vehicle = request.vehicle  # a vehicle that was named has been looked up
        return cls(
            company=query.company,
            journey_id=query.route.journey_id,
            day=query.day,
            party=tuple(sorted(party)),
            vehicle=vehicle.code if isinstance(vehicle, VehicleQuery) else None,
            depart_code=query.route.depart_code,
            arrive_code=query.route.arrive_code,
            depart_name=query.route.depart_name,
            arrive_name=query.route.arrive_name,
        )

    @property
    def id(self) -> str:
        """The hash of what makes two searches the same one."""
        key = (self.company, self.journey_id, self.day, self.party, self.vehicle)
        return blake2b(_key.dump_json(key), digest_size=16).hexdigest()

    @property
    def asked(self) -> AskedSearch:
        """The search, for a report."""
        return AskedSearch(
            company=self.company,
            depart_code=self.depart_code,
            arrive_code=self.arrive_code,
            day=self.day,
        )

    def sailings_of(self, answer: Records[Availability]) -> list[Availability]:
        """Return the sailings of an answer that leave from the port of the search."""
        sailings = [self._query.with_ports(sailing) for sailing in answer]
        return [sailing for sailing in sailings if sailing.depart_code == self.depart_code]

    @property
    def _query(self) -> Query:
        """The search as planning has it."""
        route = Route(
            journey_id=self.journey_id,
            depart_code=self.depart_code,
            arrive_code=self.arrive_code,
            depart_name=self.depart_name,
            arrive_name=self.arrive_name,
            companies=(self.company,),
            duration=timedelta(),
        )
        return Query(route, self.company, self.day)

    def operation(self) -> Operation[Records[Availability]]:
        """Return the call that makes the search."""
        passengers: list[Any] = [person._asdict() for person in self.party]
        return AvailabilityGroup.search(
            None,
            company=self.company,
            depart_code=self.depart_code,
            arrive_code=self.arrive_code,
            out_journey_id=self.journey_id,
            out_at=self.day,
            out_time=ANY_TIME,
            passengers=passengers,
            vehicle=None if self.vehicle is None else {"code": self.vehicle},
        )

    def to_record(self) -> SearchRecord:
        """Return the search as a journal stores it."""
        return SearchRecord(self.id, _stored.dump_json(self).decode(), self.day)


_key: Final = TypeAdapter(tuple[str, str, Date, tuple[Person, ...], str | None])
_stored: Final = TypeAdapter(WishSearch)


def parse_search(record: SearchRecord) -> WishSearch | None:
    """Return the search of a record; None, with a warning in the log, if it is damaged."""
    try:
        return _stored.validate_json(record.content)
    except ValueError:
        logger.warning("search %s is damaged: it is left out", record.id)
        return None
