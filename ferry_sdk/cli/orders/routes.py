"""Look up ports, journeys, companies and vehicles by the names that users type."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import cast

from ferry_sdk.client import Ferry
from ferry_sdk.errors import InvalidInputError
from ferry_sdk.models.catalogue import Port, ScheduledDeparture, VehicleModel
from ferry_sdk.models.inputs import Vehicle

_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Route:
    """A journey between two ports, and the companies that sail it: codes and the journey's id."""

    depart: str
    arrive: str
    journey: str
    companies: tuple[str, ...]


def route_of(
    ferry: Ferry, depart: str, arrive: str, *, company: str | None, journey: str | None
) -> Route:
    """Return the route. If both company and journey are given, nothing is looked up.

    A port is given by its code or an unambiguous part of its name. Without `company`, all that sail
    the route are selected; without `journey`, the only one between the ports.

    Raises:
        InvalidInputError: A name is unknown or ambiguous; the message lists the choices.
    """
    if company and journey:
        return Route(depart, arrive, journey, (company,))
    ports = ferry.catalogue.ports()
    start, end = port_of(ports, depart, "FROM"), port_of(ports, arrive, "TO")
    scheduled = [
        one
        for one in ferry.mcp.departures()
        if (one.depart_code, one.arrive_code) == (start.code, end.code)
    ]
    found = journey or _journey(ferry, scheduled, start, end)
    companies = (company,) if company else _companies(scheduled, found)
    if not companies and journey:
        raise InvalidInputError(
            f"the timetable has no such journey from {start.name} to {end.name}; if it exists, "
            "pass --company",
            field="--journey",
        )
    if not companies:
        raise InvalidInputError(
            f"the timetable lists no company from {start.name} to {end.name}; pass one",
            field="--company",
        )
    return Route(start.code, end.code, found, companies)


def port_of(ports: Sequence[Port], value: str, field: str) -> Port:
    """Return the port with this code, name, or unambiguous part of a name."""
    wanted = value.strip().casefold()
    if not wanted:
        raise InvalidInputError("expected a port", field=field)
    for found in (
        [port for port in ports if wanted == port.code.casefold()],
        [port for port in ports if wanted == port.name.casefold()],
        [port for port in ports if wanted in port.name.casefold()],
    ):
        if len(found) == 1:
            return found[0]
        if found:
            names = ", ".join(f"{port.code} {port.name}" for port in found[:_SHOWN])
            raise InvalidInputError(f"{value!r} is ambiguous: {names}; use the code", field=field)
    raise InvalidInputError(
        f"no port is called {value!r}; {suggestion(ports, value)}`ferry ports` lists them",
        field=field,
    )


def suggestion(ports: Sequence[Port], value: str) -> str:
    """Return a hint with the ports whose code or name is spelled similarly, or an empty text."""
    names = {
        name: port
        for port in ports
        for name in (port.code.casefold(), port.name.casefold(), *port.name.casefold().split())
    }
    close = {names[name].code: names[name] for name in get_close_matches(value.casefold(), names)}
    if not close:
        return ""
    return f"did you mean {' or '.join(f'{port.code} {port.name}' for port in close.values())}? "


def _journey(ferry: Ferry, scheduled: Sequence[ScheduledDeparture], start: Port, end: Port) -> str:
    """Return the journey between two ports, from the timetable or else from the route names."""
    ids = sorted({one.journey_id for one in scheduled if one.journey_id})
    if not ids:
        ids = [
            one.journey_id
            for one in ferry.catalogue.journeys()
            if one.route.startswith(start.name) and one.route.endswith(end.name)
        ]
    if len(ids) == 1:
        return ids[0]
    if not ids:
        raise InvalidInputError(
            f"no journey goes from {start.name} to {end.name}", field="FROM, TO"
        )
    raise InvalidInputError(f"several match: {', '.join(ids[:_SHOWN])}", field="--journey")


def _companies(scheduled: Sequence[ScheduledDeparture], journey: str) -> tuple[str, ...]:
    codes = {_code(one.company) for one in scheduled if one.journey_id == journey}
    return tuple(sorted(code for code in codes if code))


def _code(company: object) -> str | None:
    """Return a company's code, which the timetable gives as a text or within an object."""
    if isinstance(company, dict):
        known = cast("dict[str, object]", company)
        company = known.get("code") or known.get("id")
    return company if isinstance(company, str) else None


def vehicle_of(ferry: Ferry, code: str) -> VehicleModel:
    """Return the vehicle of the catalogue with this code; the error suggests similar ones."""
    known = {one.code: one for one in ferry.mcp.vehicle_data() if one.code}
    found = known.get(code.upper())
    if found is None:
        near = (
            ", ".join(get_close_matches(code.upper(), known, cutoff=0.4))
            or "a code such as FIAT__500"
        )
        raise InvalidInputError(f"no vehicle has the code {code!r}; try {near}", field="--vehicle")
    return found


def booking_vehicle(vehicle: VehicleModel, plate: str | None) -> Vehicle:
    """Return the vehicle as a booking expects it: by its type, with the plate."""
    return Vehicle(
        code=vehicle.type or vehicle.code or "",
        vehicule_code=vehicle.code,
        brand=vehicle.brand,
        model=vehicle.model,
        identification=plate,
    )
