"""A search from the command line, and the sailings it finds."""

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
    """The parameters of a search.

    Attributes:
        route: The outward route.
        back: The return route; None for a one-way trip.
        out_at: Day of departure.
        out_time: Earliest time of departure.
        ret_at: Day of the return.
        passengers: The travellers.
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
        """Return the search as the members of a JSON object."""
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
    """Return the search, with journey and companies looked up in the catalogues.

    Raises:
        InvalidInputError: A port, journey or company is unknown or ambiguous.
    """
    route = route_of(ferry, depart, arrive, company=company, journey=journey)
    back = None
    if ret_at is not None:
        back = route_of(ferry, arrive, depart, company=company, journey=None)
    return Query(route, out_at, out_time, tuple(passengers), back, ret_at, vehicle)


def sailings_of(ferry: Ferry, query: Query) -> list[Availability]:
    """Search every company on the route. Return outward sailings first, by departure.

    Raises:
        AvailabilityError: No company has a sailing.
    """
    found: list[Availability] = []
    last_error: AvailabilityError | None = None
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
            last_error = error
    if not found and last_error is not None:
        raise last_error
    return sorted(found, key=lambda one: (str(one.direction), one.depart_at))


def parse_traveller(value: str, kind: PassengerType = PassengerType.ADULT) -> SearchPassenger:
    """Parse a traveller: an age and F or M, such as 34F.

    Raises:
        ValueError: The text has another form.
    """
    parts = _TRAVELLER.fullmatch(value.strip())
    if parts is None:
        raise ValueError("expected an age and F or M, such as 34F")
    return SearchPassenger.model_validate({"type": kind, "age": parts[1], "gender": parts[2]})


def party_option(
    adults: Sequence[str], children: Sequence[str], infants: Sequence[str]
) -> list[SearchPassenger]:
    """Return the travellers of the options, adults first.

    Raises:
        BadParameter: An option is not a traveller.
    """
    party: list[SearchPassenger] = []
    for kind, option, value in (
        (PassengerType.ADULT, "--adult", adults),
        (PassengerType.CHILD, "--child", children),
        (PassengerType.INFANT, "--infant", infants),
    ):
        for one in value:
            try:
                party.append(parse_traveller(one, kind))
            except ValueError:
                problem = f"{one!r}: expected an age and F or M, such as 34F"
                raise typer.BadParameter(problem, param_hint=f"'{option}'") from None
    return party
