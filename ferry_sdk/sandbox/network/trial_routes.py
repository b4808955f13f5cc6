"""The trial routes: one company whose routes each misbehave in one way.

They are in no catalogue, so that they disturb nobody who searches all companies or routes. A search
finds them by their codes and ids only.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from ferry_sdk.sandbox.network.geography import Country, Journey, Port, Route
from ferry_sdk.sandbox.network.network import Network, journey_id, load_records, make_company

COMPANY = "SANDBOX"


@dataclass(frozen=True, slots=True)
class TrialRoute:
    """A trial route.

    Attributes:
        journeys: The way out, and the way back.
        happens: What goes wrong, in English.
        faults: The requests for the faults that every booking on it meets.
    """

    journeys: tuple[Journey, Journey]
    happens: str
    faults: tuple[Mapping[str, object], ...]


@functools.cache
def trial_routes() -> tuple[TrialRoute, ...]:
    """Return the trial routes."""
    return tuple(_trial_route(row) for row in load_records("trial_routes.json")["routes"])


@functools.cache
def with_trial_routes(network: Network) -> Network:
    """Return a network that has the trial routes too."""
    company = make_company(load_records("trial_routes.json")["companies"][0], {"XX": _country()})
    journeys = [journey for each in trial_routes() for journey in each.journeys]
    ports = {each.depart.code: each.depart for each in journeys}
    return dataclasses.replace(
        network,
        ports=MappingProxyType({**network.ports, **ports}),
        companies=MappingProxyType({**network.companies, company.code: company}),
        journeys=MappingProxyType({**network.journeys, **{each.id: each for each in journeys}}),
    )


def _trial_route(row: dict[str, Any]) -> TrialRoute:
    start, end = _start(), _port(row["code"], row["name"])
    route = Route(
        depart=start,
        arrive=end,
        companies=(COMPANY,),
        minutes=200,
        miles=80,
        season=row.get("season", "all-year"),
        vehicles=True,
        sold_out=row.get("sold_out", False),
    )
    both_ways = (
        Journey(journey_id(start.code, end.code), start, end, route),
        Journey(journey_id(end.code, start.code), end, start, route),
    )
    return TrialRoute(both_ways, row["happens"], tuple(row.get("faults", ())))


@functools.cache
def _start() -> Port:
    return _port(**load_records("trial_routes.json")["starts"][0])


@functools.cache
def _country() -> Country:
    return Country(**load_records("trial_routes.json")["countries"][0])


def _port(code: str, name: str) -> Port:
    return Port(code, name, name, _country(), 0.0, 0.0, "UTC", {})
