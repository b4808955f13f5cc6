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
from ferry_sdk.sandbox.network.network import (
    Network,
    both_ways,
    by_code,
    load_records,
    make_company,
)

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
    return dataclasses.replace(
        network,
        ports=by_code([*network.ports.values(), *(each.depart for each in journeys)]),
        companies=by_code([*network.companies.values(), company]),
        journeys=MappingProxyType({**network.journeys, **{each.id: each for each in journeys}}),
    )


def _trial_route(row: dict[str, Any]) -> TrialRoute:
    end = _port(row.pop("code"), row.pop("name"))
    happens, faults = row.pop("happens"), tuple(row.pop("faults", ()))
    usual: dict[str, Any] = {"minutes": 200, "miles": 80, "season": "all-year", "vehicles": True}
    route = Route(_start(), end, (COMPANY,), **{**usual, **row})
    return TrialRoute(both_ways(route), happens, faults)


@functools.cache
def _start() -> Port:
    return _port(**load_records("trial_routes.json")["starts"][0])


@functools.cache
def _country() -> Country:
    return Country(**load_records("trial_routes.json")["countries"][0])


def _port(code: str, name: str) -> Port:
    return Port(code, name, name, _country(), 0.0, 0.0, "UTC", {})
