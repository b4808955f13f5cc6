"""The network: companies, ports, routes, ships and vehicles."""

from __future__ import annotations

import functools
import json
import uuid
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ferry_sdk.sandbox.network.geography import Company, Country, Journey, Port, Route, Ship

if TYPE_CHECKING:
    from collections.abc import Mapping


_NAMESPACE = uuid.uuid5(uuid.NAMESPACE_DNS, "ferry-sdk.example")


class MismatchError(LookupError):
    """A search names something unknown, or things that do not belong together.

    Attributes:
        field: The path of the invalid field in the request (`request.company`).
        reason: What is wrong, as a code:
            `unknown_company`, `unknown_journey`, `unknown_port`, `ports_mismatch`,
            `journey_not_sailed`, `unknown_vehicle`, `no_vehicles`, `vehicle_too_high` or
            `vehicle_is_freight`.
    """

    def __init__(self, field: str, reason: str, value: str) -> None:
        super().__init__(f"{field}: {reason} ({value})")
        self.field = field
        self.reason = reason
        self.value = value


@dataclass(frozen=True, slots=True)
class Network:
    """Everything that does not depend on the day."""

    countries: Mapping[str, Country]
    ports: Mapping[str, Port]
    companies: Mapping[str, Company]
    routes: tuple[Route, ...]
    journeys: Mapping[str, Journey]
    vehicle_types: Mapping[str, VehicleType]
    vehicle_brands: Mapping[str, VehicleBrand]
    vehicle_models: Mapping[str, VehicleModel]

    @staticmethod
    @functools.cache
    def load() -> Network:
        """Return the network of the package, which is read once."""
        return _load()

    def port_name(self, code: str, language: str) -> str:
        """Return the name of a port in a language (two letters), or the usual name."""
        return self.ports[code].name_in(language)

    def company(self, key: str, field: str = "request.company") -> Company:
        """Return the company with a code or an id, in either case of letters.

        Raises:
            MismatchError: There is none.
        """
        found = self.companies.get(key.upper())
        if found is None:
            wanted = key.lower()
            found = next((each for each in self.companies.values() if each.id == wanted), None)
        if found is None:
            raise MismatchError(field, "unknown_company", key)
        return found

    def journey(self, journey_id: str, field: str = "request.out_journey_id") -> Journey:
        """Return the journey with an id, in either case of letters.

        Raises:
            MismatchError: There is none.
        """
        found = self.journeys.get(journey_id.lower())
        if found is None:
            raise MismatchError(field, "unknown_journey", journey_id)
        return found

    def journeys_of(self, company: Company) -> tuple[Journey, ...]:
        """Return the journeys that a company sails."""
        return tuple(
            each for each in self.journeys.values() if company.code in each.route.companies
        )

    def vehicle(self, code: str, field: str = "vehicle.code") -> VehicleModel:
        """Return the vehicle of a code: `BRAND__MODEL`, or `GENERIC__` and a type's code.

        Raises:
            MismatchError: There is none.
        """
        wanted = code.upper()
        found = self.vehicle_models.get(wanted)
        if found is not None:
            return found
        kind = self.vehicle_types.get(wanted.removeprefix(GENERIC))
        if kind is None or not wanted.startswith(GENERIC):
            raise MismatchError(field, "unknown_vehicle", code)
        return generic_vehicle(kind)


def journey_id(depart_code: str, arrive_code: str) -> str:
    """Return the id of the journey between two ports; it never changes."""
    return str(uuid.uuid5(_NAMESPACE, f"journey:{depart_code}-{arrive_code}"))


def name_id(kind: str, name: str) -> str:
    """Return the id of something with a name; it never changes."""
    return str(uuid.uuid5(_NAMESPACE, f"{kind}:{name}"))


def load_records(name: str) -> dict[str, list[dict[str, Any]]]:
    """Return the records of a data file of the package."""
    path = Path(__file__).with_name("data") / name
    records: dict[str, list[dict[str, Any]]] = json.loads(path.read_text(encoding="utf-8"))
    return records


def _load() -> Network:
    countries = {row["code"]: Country(**row) for row in load_records("countries.json")["countries"]}
    ports = {
        row["code"]: Port(country=countries[row.pop("country")], **row)
        for row in load_records("ports.json")["ports"]
    }
    companies = {
        row["code"]: _company(row, countries) for row in load_records("companies.json")["companies"]
    }
    routes = tuple(_route(row, ports) for row in load_records("routes.json")["routes"])
    both_ways = [
        Journey(journey_id(start.code, end.code), start, end, route)
        for route in routes
        for start, end in ((route.depart, route.arrive), (route.arrive, route.depart))
    ]
    vehicles = load_records("vehicles.json")
    types = {row["code"]: VehicleType(**row) for row in vehicles["types"]}
    brands = {row["code"]: VehicleBrand(**row) for row in vehicles["brands"]}
    models = {
        row["code"]: VehicleModel(
            brand=brands[row["code"].partition("__")[0]].name,
            type=types[row.pop("type")],
            **row,
        )
        for row in vehicles["models"]
    }
    return Network(
        countries=MappingProxyType(countries),
        ports=MappingProxyType(ports),
        companies=MappingProxyType(companies),
        routes=routes,
        journeys=MappingProxyType({each.id: each for each in both_ways}),
        vehicle_types=MappingProxyType(types),
        vehicle_brands=MappingProxyType(brands),
        vehicle_models=MappingProxyType(models),
    )


def _company(row: Mapping[str, Any], countries: Mapping[str, Country]) -> Company:
    fast = row.get("fast_ships", ())
    names = row["ships"] or [f"{row['name']} 1"]
    return Company(
        id=name_id("operator", row["code"]),
        code=row["code"],
        name=row["name"],
        country=countries[row["country"]],
        website=row["website"],
        group=row.get("group", row["name"]),
        ships=tuple(Ship(name, name in fast) for name in names),
        infant_below=row["infant_below"],
        child_below=row["child_below"],
        low_vehicle=row["low_vehicle"],
        round_trip_fares=row["round_trip_fares"],
        mails_vouchers=row.get("mails_vouchers", False),
    )


def _route(row: Mapping[str, Any], ports: Mapping[str, Port]) -> Route:
    return Route(
        depart=ports[row["depart"]],
        arrive=ports[row["arrive"]],
        companies=tuple(row["companies"]),
        minutes=row["minutes"],
        minutes_by_company=row.get("minutes_by_company", {}),
        miles=row["miles"],
        season=row["season"],
        vehicles=row.get("vehicles", False),
        overnight=row.get("overnight", False),
        fast=row.get("fast", False),
        round_the_clock=row.get("round_the_clock", False),
        stops=tuple(row.get("stops", ())),
        stops_sometimes=row.get("stops_sometimes", False),
    )


GENERIC = "GENERIC__"


@dataclass(frozen=True, slots=True)
class VehicleBrand:
    """A maker of vehicles."""

    code: str
    name: str


@dataclass(frozen=True, slots=True)
class VehicleType:
    """A class of vehicle with its maximum size in metres."""

    code: str
    name: str
    max_length: float
    max_height: float
    freight: bool = False


@dataclass(frozen=True, slots=True)
class VehicleModel:
    """A vehicle that a search can name, with its size in metres."""

    code: str
    brand: str
    model: str
    type: VehicleType
    length: float
    height: float


def generic_vehicle(kind: VehicleType) -> VehicleModel:
    """Return a vehicle known by its type only, of the maximum size."""
    return VehicleModel(
        code=GENERIC + kind.code,
        brand="Generic",
        model=kind.name,
        type=kind,
        length=kind.max_length,
        height=kind.max_height,
    )
