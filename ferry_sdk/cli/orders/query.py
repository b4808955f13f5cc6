"""A search as the command line says it, and the sailings it finds."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final

import typer

from ferry_sdk.cli.orders.routes import Route, route_of
from ferry_sdk.client import Ferry
from ferry_sdk.errors import AvailabilityError
from ferry_sdk.models.availability import Availability
from ferry_sdk.models.enums import PassengerType
from ferry_sdk.models.inputs import SearchPassenger

_TRAVELLER: Final = re.compile(r"(\d{1,3})([FMfm])", re.ASCII)


@dataclass(frozen=True, slots=True)
class Query:
    """What is searched.

    Attributes:
        route: The way out.
        back: The way back; None: there is none.
        out_at: Day of departure.
        out_time: From which time of the day.
        ret_at: Day of the way back.
        passengers: Who travels.
        vehicle: The vehicle's code ``BRAND__MODEL``.
    """

    route: Route
    out_at: date
    out_time: str
    passengers: tuple[SearchPassenger, ...]
    back: Route | None = None
    ret_at: date | None = None
    vehicle: str | None = None

    def members(self) -> dict[str, object]:
        """The search as a JSON document shows it."""
        return {
            "depart_code": self.route.depart,
            "arrive_code": self.route.arrive,
            "companies": [*self.route.companies],
            "out_journey_id": self.route.journey,
            "out_at": self.out_at.isoformat(),
            "out_time": self.out_time,
            "ret_journey_id": self.back and self.back.journey,
            "ret_at": self.ret_at and self.ret_at.isoformat(),
            "passengers": [
                one.model_dump(mode="json", exclude_none=True) for one in self.passengers
            ],
            "vehicle": self.vehicle,
        }


def query_of(
    ferry: Ferry,
    depart: str,
    arrive: str,
    *,
    out_at: date,
    passengers: Sequence[SearchPassenger],
    out_time: str = "00:00",
    ret_at: date | None = None,
    vehicle: str | None = None,
    company: str | None = None,
    journey: str | None = None,
) -> Query:
    """The search, with what the catalogues know of its route.

    Raises:
        InvalidInputError: It is not known which ports, journey or companies are meant.
    """
    route = route_of(ferry, depart, arrive, company=company, journey=journey)
    back = None
    if ret_at is not None:
        back = route_of(ferry, arrive, depart, company=company, journey=None)
    return Query(route, out_at, out_time, tuple(passengers), back, ret_at, vehicle)


def sailings_of(ferry: Ferry, query: Query) -> list[Availability]:
    """The sailings of every company on the route: the ways out first, each by its departure.

    Raises:
        AvailabilityError: No company has any.
    """
    found: list[Availability] = []
    nothing: AvailabilityError | None = None
    for company in query.route.companies:
        try:
            found += ferry.availability.search(
                company=company,
                depart_code=query.route.depart,
                arrive_code=query.route.arrive,
                out_journey_id=query.route.journey,
                out_at=query.out_at,
                out_time=query.out_time,
                passengers=query.passengers,
                ret_journey_id=query.back.journey if query.back else None,
                ret_at=query.ret_at,
                ret_time="00:00" if query.back else None,
                vehicle={"code": query.vehicle} if query.vehicle else None,
            )
        except AvailabilityError as error:
            nothing = error
    if not found and nothing is not None:
        raise nothing
    return sorted(found, key=lambda one: (str(one.direction), one.depart_at))


def traveller(said: str, kind: PassengerType = PassengerType.ADULT) -> SearchPassenger:
    """A traveller: an age and F or M, such as 34F.

    Raises:
        ValueError: It is not.
    """
    parts = _TRAVELLER.fullmatch(said.strip())
    if parts is None:
        raise ValueError("an age and F or M are expected, such as 34F")
    return SearchPassenger.model_validate({"type": kind, "age": parts[1], "gender": parts[2]})


def party_option(
    adults: Sequence[str], children: Sequence[str], infants: Sequence[str]
) -> list[SearchPassenger]:
    """The travellers that the options say, adults first.

    Raises:
        BadParameter: One of them makes no sense.
    """
    party: list[SearchPassenger] = []
    for kind, option, said in (
        (PassengerType.ADULT, "--adult", adults),
        (PassengerType.CHILD, "--child", children),
        (PassengerType.INFANT, "--infant", infants),
    ):
        for one in said:
            try:
                party.append(traveller(one, kind))
            except ValueError:
                problem = f"{one!r}: an age and F or M are expected, such as 34F"
                raise typer.BadParameter(problem, param_hint=f"'{option}'") from None
    return party
