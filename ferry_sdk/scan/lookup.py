"""Look up the routes that a scan asks for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ferry_sdk._engine.effects import Item, Steps
from ferry_sdk._engine.settings import Settings
from ferry_sdk.errors import InvalidInputError
from ferry_sdk.planning.groups import RoutesGroup
from ferry_sdk.planning.results import UnreadableAnswer, describe_unreadable
from ferry_sdk.planning.routes import Route
from ferry_sdk.scan.request import ScanRequest
from ferry_sdk.scan.searches import CompanyRoute
from ferry_sdk.scan.steps import AnyClient, MakeClient, run_steps


class FoundRoutes(NamedTuple):
    """The routes of a request.

    Attributes:
        base_url: The address of the service.
        routes: The routes of each company.
        unreadable: How many records of each catalogue could not be read, so that routes may be
            missing. A catalogue that could not be read at all counts as one.
    """

    base_url: str
    routes: list[CompanyRoute]
    unreadable: Mapping[str, int]


def look_up(client_or_maker: AnyClient | MakeClient, request: ScanRequest | None) -> FoundRoutes:
    """Return the address of a client's service, and the routes of a request, if there is one.

    Raises:
        InvalidInputError: No company sails a route, or none is known; `field` names it.
        FerryError: The catalogues could not be read.
    """
    routes: list[Route] = []
    unreadable: list[UnreadableAnswer] = []
    wanted: Sequence[Any] = () if request is None else request.routes
    if wanted == "all":
        wanted = [(None, None)]

    def steps(settings: Settings) -> Steps[Sequence[Route]]:
        for ends_or_route in wanted:
            if isinstance(ends_or_route, Route):
                yield Item([ends_or_route])
                continue
            matches = yield from RoutesGroup.find(None, *ends_or_route).steps(settings)
            unreadable.extend(answer for answer in matches.unreadable if answer not in unreadable)
            if not matches:
                raise _no_route(ends_or_route, unreadable)
            yield Item(matches)

    base_url = run_steps(client_or_maker, steps, routes.extend)

    counts: Counter[str] = Counter()
    for answer in unreadable:
        counts[answer.operation] += len(answer.records) or 1
    company_routes = [] if request is None else request.company_routes(routes)
    return FoundRoutes(base_url, company_routes, dict(counts))


def _no_route(ends: Sequence[Any], unreadable: Sequence[UnreadableAnswer]) -> InvalidInputError:
    """Return the error of two places without a route."""
    places = " to ".join(str(end) for end in ends)
    problem = f"no company sails from {places}"
    if unreadable:
        problem = f"no company is known to sail from {places}: {describe_unreadable(unreadable)}"
    return InvalidInputError(problem, field="routes")
