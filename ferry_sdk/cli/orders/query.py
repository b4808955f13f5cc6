"""A search from the command line, and the sailings it finds."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Annotated, Final

from pydantic import BeforeValidator
from rich.console import Console

from ferry_sdk.cli.orders.order import tariffs_of
from ferry_sdk.cli.orders.routes import Route, route_of
from ferry_sdk.cli.terminal.options import parse_day
from ferry_sdk.cli.terminal.output import print_table, time_of
from ferry_sdk.client import Ferry
from ferry_sdk.errors import AvailabilityError
from ferry_sdk.models.availability import Availability, Tariff
from ferry_sdk.models.display.money import format_amount, money
from ferry_sdk.models.enums import PassengerType
from ferry_sdk.models.inputs import Input, SearchPassenger

_TRAVELLER: Final = re.compile(r"(\d{1,3})([FMfm])", re.ASCII)


def _day(value: object) -> object:
    return parse_day(value) if isinstance(value, str) else value


Day = Annotated[date, BeforeValidator(_day)]


class Search(Input):
    """A search; without company or journey, they are looked up in the catalogues."""

    depart_code: str
    arrive_code: str
    out_at: Day
    out_time: str = "00:00"
    ret_at: Day | None = None
    company: str | None = None
    out_journey_id: str | None = None
    passengers: list[SearchPassenger] | None = None
    vehicle: str | None = None


@dataclass(frozen=True, slots=True)
class Query:
    """A search with the routes that were looked up for it; `back` is None for a one-way trip."""

    search: Search
    passengers: Sequence[SearchPassenger]
    route: Route
    back: Route | None

    def members(self) -> dict[str, object]:
        """Return the search as the members of a JSON object."""
        return {
            "depart_code": self.route.depart,
            "arrive_code": self.route.arrive,
            "companies": [*self.route.companies],
            "out_journey_id": self.route.journey,
            "out_at": self.search.out_at.isoformat(),
            "out_time": self.search.out_time,
            "ret_journey_id": self.back and self.back.journey,
            "ret_at": self.search.ret_at and self.search.ret_at.isoformat(),
            "passengers": [
                one.model_dump(mode="json", exclude_none=True) for one in self.passengers
            ],
            "vehicle": self.search.vehicle,
        }


def query_of(ferry: Ferry, search: Search, passengers: Sequence[SearchPassenger]) -> Query:
    """Return the query of a search, with journey and companies looked up in the catalogues."""
    depart, arrive, company = search.depart_code, search.arrive_code, search.company
    route = route_of(ferry, depart, arrive, company=company, journey=search.out_journey_id)
    back = None
    if search.ret_at is not None:
        back = route_of(ferry, arrive, depart, company=company, journey=None)
    return Query(search, passengers, route, back)


def sailings_of(ferry: Ferry, query: Query) -> list[Availability]:
    """Search every company on the route. Return outward sailings first, by departure.

    If no company has a sailing, raise the last AvailabilityError.
    """
    search = query.search
    found: list[Availability] = []
    last_error: AvailabilityError | None = None
    for company in query.route.companies:
        try:
            found += ferry.availability.search(
                company=company,
                depart_code=query.route.depart,
                arrive_code=query.route.arrive,
                out_journey_id=query.route.journey,
                out_at=search.out_at,
                out_time=search.out_time,
                passengers=query.passengers,
                ret_journey_id=query.back.journey if query.back else None,
                ret_at=search.ret_at,
                ret_time="00:00" if query.back else None,
                vehicle={"code": search.vehicle} if search.vehicle else None,
            )
        except AvailabilityError as error:
            last_error = error
    if not found and last_error is not None:
        raise last_error
    return sorted(found, key=lambda one: (str(one.direction), one.depart_at))


def parse_traveller(value: str, kind: PassengerType = PassengerType.ADULT) -> SearchPassenger:
    """Parse a traveller, an age and F or M such as 34F; raise ValueError otherwise."""
    parts = _TRAVELLER.fullmatch(value.strip())
    if parts is None:
        raise ValueError("expected an age and F or M, such as 34F")
    return SearchPassenger.model_validate({"type": kind, "age": parts[1], "gender": parts[2]})


def by_direction(sailings: Sequence[Availability]) -> list[list[Availability]]:
    """Group the sailings: outward first, then return if there are any."""
    ways = dict.fromkeys(one.direction for one in sailings)
    return [[one for one in sailings if one.direction == way] for way in ways]


def print_sailings(
    sailings: Sequence[Availability], *, is_round: bool, on: Console | None = None
) -> None:
    """Print the sailings of one direction, with the lowest price of each tariff type.

    A company or a currency that all sailings share is in the title, not in each row.
    """
    first, hour = sailings[0], timedelta(hours=1)
    companies = {one.company.name for one in sailings}
    prices = [
        {str(tariff.type): tariff for tariff in reversed(tariffs_of(one, is_round=is_round))}
        for one in sailings
    ]
    types = list(dict.fromkeys(type_ for lowest in prices for type_ in reversed(lowest)))
    currencies = {tariff.currency for lowest in prices for tariff in lowest.values()}
    rows = [
        (
            number,
            time_of(one.depart_at, first.depart_at),
            time_of(one.arrive_at, first.depart_at),
            f"{one.travel_time // hour}:{one.travel_time % hour // timedelta(minutes=1):02}",
            one.ship_name + (f"\n{one.company.name}" if len(companies) > 1 else ""),
            *(_price(lowest.get(type_), is_short=len(currencies) == 1) for type_ in types),
            "\n".join(dict.fromkeys(str(place.type) for place in one.places)),
        )
        for number, (one, lowest) in enumerate(zip(sailings, prices, strict=True), 1)
    ]
    title = f"{first.depart_name} → {first.arrive_name}, {first.depart_at:%A %d %B %Y}"
    for shared in (companies, currencies):
        title += f", {next(iter(shared))}" if len(shared) == 1 else ""
    heads = ["#", "leaves", "arrives", "takes", "ship", *types, "places"]
    print_table(heads, rows, right=("#", "takes", *types), title=title, on=on)


def _price(tariff: Tariff | None, *, is_short: bool) -> str:
    if tariff is None:
        return ""
    return format_amount(tariff.amount) if is_short else money(tariff.amount, tariff.currency)
