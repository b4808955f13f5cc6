"""The validated arguments of a scan, and the routes that they mean."""

from __future__ import annotations

import json
import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Literal

from ferry_sdk.errors import InvalidInputError
from ferry_sdk.models.catalogue import Port
from ferry_sdk.models.inputs import elements_of
from ferry_sdk.models.travellers import parse_day
from ferry_sdk.planning.request import check_days, days_between
from ferry_sdk.planning.routes import Route
from ferry_sdk.resources import arguments
from ferry_sdk.scan.searches import CompanyRoute, Party, SearchList

logger: logging.Logger = logging.getLogger("ferry_sdk")

Ends = tuple[Port | str, Port | str]
AnyRoutes = Sequence[Ends | Route] | Literal["all"]


@dataclass(slots=True)
class ScanRequest:
    """The validated arguments of a scan.

    Attributes:
        routes: Pairs of places, routes, or "all".
        dates: The first and the last day.
        parties: The parties.
        companies: Only these, on the routes that they sail if all routes are asked; None: all
            that sail.
        part_size: The searches of a part.
        days: Every day.
    """

    routes: AnyRoutes
    dates: tuple[date | str, date | str]
    parties: Sequence[Party]
    companies: Sequence[str] | None
    part_size: int
    days: list[date] = field(init=False)

    def __post_init__(self) -> None:
        """Validate the arguments.

        Raises:
            InvalidInputError: An argument is invalid; `field` names it.
        """
        for name in ("routes", "dates", "parties"):
            if not isinstance(getattr(self, name), Sequence):
                raise InvalidInputError("expected a list", field=name)

        ends = [parse_day(day, "dates") for day in self.dates]
        self.days = []
        if len(ends) == 2:  # noqa: PLR2004 -- a pair
            check_days((ends[1] - ends[0]).days, "dates")
            self.days = days_between(ends[0], ends[1])

        is_all = self.routes == "all"
        if not is_all and not (self.routes and all(_is_route(route) for route in self.routes)):
            raise InvalidInputError('expected pairs of places, routes, or "all"', field="routes")
        if not self.days:
            raise InvalidInputError("expected the first and the last day", field="dates")

        names = {party.name for party in self.parties if type(party) is Party}
        if not names or len(names) != len(self.parties):
            raise InvalidInputError("expected parties with different names", field="parties")

        if self.companies is not None:
            companies = elements_of(self.companies, "companies")
            self.companies = arguments.identifiers(companies, "companies")
        if type(self.part_size) is not int or self.part_size not in range(20, 101):
            raise InvalidInputError("expected a whole number from 20 to 100", field="part_size")

        self._check_members()

    def _check_members(self) -> None:
        """Check that a manifest can hold the request.

        Raises:
            InvalidInputError: A text, such as half a surrogate pair, cannot be encoded.
        """
        for name, value in self.members.items():
            try:
                json.dumps(value, ensure_ascii=False).encode()
            except (TypeError, ValueError):
                problem = "expected texts that can be written to a file"
                raise InvalidInputError(problem, field=name) from None

    @property
    def members(self) -> dict[str, Any]:
        """The request as a manifest has it."""
        routes: object = self.routes
        if not isinstance(self.routes, str):
            routes = [_members_of(route) for route in self.routes]
        return {
            "routes": routes,
            "dates": [str(self.days[0]), str(self.days[-1])],
            "parties": [party.asked(self.days[0], self.days[-1]) for party in self.parties],
            "companies": self.companies,
            "part_size": self.part_size,
        }

    def searches(self, routes: Sequence[CompanyRoute]) -> SearchList:
        """Return the searches on the routes of companies."""
        return SearchList(
            days=self.days,
            routes=routes,
            parties=self.parties,
            part_size=self.part_size,
        )

    def company_routes(self, routes: Sequence[Route]) -> list[CompanyRoute]:
        """Return the routes of each company, once and in an order that is always the same.

        Raises:
            InvalidInputError: No company is known for one of them; for "all", for none of them.
        """
        known: set[str] = set()
        for route in routes:
            known.update(route.companies)

        sailed: set[CompanyRoute] = set()
        for route in routes:
            if not self.companies and not route.companies:
                if self.routes != "all":
                    raise InvalidInputError(
                        f"the service does not say who sails {route.journey_id}; "
                        "pass the companies",
                        field="companies",
                    )
                logger.warning("%s is not asked: no company is known", route.journey_id)
            for company in self._companies_on(route, known):
                sailed.add(
                    CompanyRoute(
                        depart_code=route.depart_code,
                        arrive_code=route.arrive_code,
                        journey_id=route.journey_id,
                        company=company,
                    )
                )

        if not sailed:
            raise InvalidInputError("no company is known; pass the companies", field="companies")
        return sorted(sailed)

    def _companies_on(self, route: Route, known: Collection[str]) -> Sequence[str]:
        """Return the companies to ask on a route, given those that are known to sail any route.

        Of all routes, a company that the caller names is asked on those that it sails. It is asked
        on every route if it is not known to sail any, or if the route has no known company.
        """
        if not self.companies:
            return route.companies
        if self.routes != "all" or not route.companies:
            return self.companies
        return [one for one in self.companies if one in route.companies or one not in known]


def _is_route(value: object) -> bool:
    """Return whether it is a route, or a pair of places."""
    if isinstance(value, Route):
        return True
    pair: Any = value
    return isinstance(value, list | tuple) and len(pair) == 2  # noqa: PLR2004 -- a pair


def _members_of(route: Ends | Route) -> list[str]:
    """Return a route, or a pair of places, as a manifest has it."""
    if isinstance(route, Route):
        return [route.depart_code, route.arrive_code, route.journey_id, *route.companies]
    return [end.code if isinstance(end, Port) else end for end in route]
