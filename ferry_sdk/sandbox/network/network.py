"""The network: companies, ports, routes, ships and vehicles."""

from __future__ import annotations

import functools
import uuid
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, TypeVar

from ferry_sdk._runtime.data import data_beside
from ferry_sdk.sandbox.network.geography import (
    Company,
    Country,
    Journey,
    Port,
    Route,
    VehicleModel,
    VehicleType,
)
from ferry_sdk.sandbox.requests.errors import invalid

_Row = dict[str, Any]
ElementT = TypeVar("ElementT", Country, Port, Company, VehicleType, VehicleModel)

_FILES = ("countries.json", "ports.json", "companies.json", "routes.json", "vehicles.json")
_NAMESPACE = uuid.uuid5(uuid.NAMESPACE_DNS, "ferry-sdk.example")


@dataclass(frozen=True, slots=True, eq=False)
class Network:
    """Everything that does not depend on the day."""

    countries: Mapping[str, Country]
    ports: Mapping[str, Port]
    companies: Mapping[str, Company]
    routes: tuple[Route, ...]
    journeys: Mapping[str, Journey]
    vehicle_types: Mapping[str, VehicleType]
    vehicle_brands: Mapping[str, str]
    vehicle_models: Mapping[str, VehicleModel]

    @staticmethod
    @functools.cache
    def load(*, with_trials: bool = False) -> Network:
        """Return the network of the package, which is read once.

        Args:
            with_trials: Whether it has the trial routes too. They are in no catalogue, so that
                they disturb nobody who searches all companies or routes; a search finds them by
                their codes and ids only.
        """
        files = [*_FILES]
        if with_trials:
            files.append("trial_routes.json")
        rows: defaultdict[str, list[_Row]] = defaultdict(list)
        for file in files:
            for name, records in load_records(file).items():
                rows[name] += records

        # Rows name countries, ports and types by their codes; the elements have the objects.
        countries = by_code(Country(**row) for row in rows["countries"])
        ports = by_code(_port(row, countries) for row in rows["ports"])
        companies = by_code(_company(row, countries) for row in rows["companies"])
        routes = tuple(_route(row, ports) for row in rows["routes"])
        types = by_code(VehicleType(**row) for row in rows["types"])
        brands: dict[str, str] = {row["code"]: row["name"] for row in rows["brands"]}
        models = by_code(_model(row, brands, types) for row in rows["models"])
        journeys: dict[str, Journey] = {}
        for route in routes:
            journeys |= {journey.id: journey for journey in _both_ways(route)}

        return Network(
            countries=countries,
            ports=ports,
            companies=companies,
            routes=routes,
            journeys=MappingProxyType(journeys),
            vehicle_types=types,
            vehicle_brands=brands,
            vehicle_models=models,
        )

    def company(self, key: str, field: str = "request.company") -> Company:
        """Return the company with a code or an id, in either case of letters.

        Raises:
            RefusedError: There is none.
        """
        for company in self.companies.values():
            if company.code == key.upper() or company.id == key.lower():
                return company
        raise invalid(field, "unknown_company", value=key)

    def journey(self, journey_id: str, field: str = "request.out_journey_id") -> Journey:
        """Return the journey with an id, in either case of letters.

        Raises:
            RefusedError: There is none.
        """
        if (journey := self.journeys.get(journey_id.lower())) is None:
            raise invalid(field, "unknown_journey", value=journey_id)
        return journey

    def journeys_of(self, company: Company) -> tuple[Journey, ...]:
        """Return the journeys that a company sails."""
        return tuple(
            each for each in self.journeys.values() if company.code in each.route.companies
        )

    def vehicle(self, code: str) -> VehicleModel:
        """Return the vehicle of a code: `BRAND__MODEL`, or `GENERIC__` and a type's code.

        Raises:
            RefusedError: There is none.
        """
        brand, _, model = code.upper().partition("__")
        if vehicle := self.vehicle_models.get(f"{brand}__{model}"):
            return vehicle

        kind = self.vehicle_types.get(model)
        if kind is None or brand != "GENERIC":
            raise invalid("vehicle.code", "unknown_vehicle", value=code)

        return VehicleModel(
            code=f"GENERIC__{kind.code}",
            brand="Generic",
            model=kind.name,
            type=kind,
            length=kind.max_length,
            height=kind.max_height,
        )


def _port(row: _Row, countries: Mapping[str, Country]) -> Port:
    fields: _Row = {**row, "country": countries[row["country"]]}
    return Port(**fields)


def _company(row: _Row, countries: Mapping[str, Country]) -> Company:
    fields: _Row = {**row, "country": countries[row["country"]]}
    return Company(id=name_id("operator", row["code"]), **fields)


def _route(row: _Row, ports: Mapping[str, Port]) -> Route:
    fields: _Row = {**row, "depart": ports[row["depart"]], "arrive": ports[row["arrive"]]}
    return Route(**fields)


def _model(row: _Row, brands: Mapping[str, str], types: Mapping[str, VehicleType]) -> VehicleModel:
    brand_code = row["code"].partition("__")[0]
    fields: _Row = {**row, "type": types[row["type"]]}
    return VehicleModel(brand=brands[brand_code], **fields)


def _both_ways(route: Route) -> Iterator[Journey]:
    for depart, arrive in ((route.depart, route.arrive), (route.arrive, route.depart)):
        yield Journey(
            id=journey_id(depart.code, arrive.code), depart=depart, arrive=arrive, route=route
        )


def journey_id(depart_code: str, arrive_code: str) -> str:
    """Return the id of the journey between two ports; it never changes."""
    return name_id("journey", f"{depart_code}-{arrive_code}")


def name_id(kind: str, name: str) -> str:
    """Return the id of something with a name; it never changes."""
    return str(uuid.uuid5(_NAMESPACE, f"{kind}:{name}"))


def by_code(elements: Iterable[ElementT]) -> Mapping[str, ElementT]:
    """Return elements by their codes."""
    return MappingProxyType({each.code: each for each in elements})


def load_records(name: str) -> dict[str, list[dict[str, Any]]]:
    """Return the records of a data file of the package."""
    records: dict[str, list[dict[str, Any]]] = data_beside(__file__, f"data/{name}")
    return records
