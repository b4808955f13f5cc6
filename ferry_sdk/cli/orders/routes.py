"""The ports, journey, companies and vehicle that a person names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import cast

from ferry_sdk.client import Ferry
from ferry_sdk.errors import InvalidInputError
from ferry_sdk.models.catalogue import Port
from ferry_sdk.models.inputs import Vehicle
from ferry_sdk.models.mcp import ScheduledDeparture, VehicleModel

_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Route:
    """From port to port, and who sails there.

    Attributes:
        depart: Code of the port of departure.
        arrive: Code of the port of arrival.
        journey: The journey's id.
        companies: Codes of the companies to ask.
    """

    depart: str
    arrive: str
    journey: str
    companies: tuple[str, ...]


def route_of(
    ferry: Ferry, depart: str, arrive: str, *, company: str | None, journey: str | None
) -> Route:
    """The route that is meant; where company and journey are both given, nothing is looked up.

    Args:
        ferry: A client.
        depart: Code of a port, or a part of its name that no other has.
        arrive: The same.
        company: The company; None: all that sail there.
        journey: The journey's id; None: the only one between the ports.

    Raises:
        InvalidInputError: It is not known which is meant; the message says what there is.
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
            f"the timetable shows no such journey from {start.name} to {end.name}; if there is "
            "one, name its --company",
            field="--journey",
        )
    if not companies:
        raise InvalidInputError(
            f"the timetable does not say who sails from {start.name} to {end.name}; name one",
            field="--company",
        )
    return Route(start.code, end.code, found, companies)


def port_of(ports: Sequence[Port], said: str, field: str) -> Port:
    """The port that is meant by a code, a name, or a part of a name that no other has.

    Raises:
        InvalidInputError: It is none, or there are several.
    """
    wanted = said.strip().casefold()
    if not wanted:
        raise InvalidInputError("a port is expected", field=field)
    for found in (
        [port for port in ports if wanted == port.code.casefold()],
        [port for port in ports if wanted == port.name.casefold()],
        [port for port in ports if wanted in port.name.casefold()],
    ):
        if len(found) == 1:
            return found[0]
        if found:
            names = ", ".join(f"{port.code} {port.name}" for port in found[:_SHOWN])
            raise InvalidInputError(f"{said!r} may be {names}; say the code", field=field)
    raise InvalidInputError(
        f"no port is called {said!r}; {similar(ports, said)}`ferry ports` lists them", field=field
    )


def similar(ports: Sequence[Port], said: str) -> str:
    """The ports of a code or name that is written nearly so, as the start of a hint."""
    names = {
        name: port
        for port in ports
        for name in (port.code.casefold(), port.name.casefold(), *port.name.casefold().split())
    }
    close = {names[name].code: names[name] for name in get_close_matches(said.casefold(), names)}
    if not close:
        return ""
    return f"did you mean {' or '.join(f'{port.code} {port.name}' for port in close.values())}? "


def _journey(ferry: Ferry, scheduled: Sequence[ScheduledDeparture], start: Port, end: Port) -> str:
    """The journey between two ports: by the timetable, else by the text of its route."""
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
    raise InvalidInputError(f"there are several: {', '.join(ids[:_SHOWN])}", field="--journey")


def _companies(scheduled: Sequence[ScheduledDeparture], journey: str) -> tuple[str, ...]:
    codes = {_code(one.company) for one in scheduled if one.journey_id == journey}
    return tuple(sorted(code for code in codes if code))


def _code(company: object) -> str | None:
    """A company's code, in whichever of its shapes the timetable names it."""
    if isinstance(company, dict):
        known = cast("dict[str, object]", company)
        company = known.get("code") or known.get("id")
    return company if isinstance(company, str) else None


def vehicle_of(ferry: Ferry, code: str) -> VehicleModel:
    """The vehicle of the catalogue with this code.

    Raises:
        InvalidInputError: There is none; the message names those that are nearly called so.
    """
    known = {one.code: one for one in ferry.mcp.vehicle_data() if one.code}
    found = known.get(code.upper())
    if found is None:
        near = (
            ", ".join(get_close_matches(code.upper(), known, cutoff=0.4)) or "a code as FIAT__500"
        )
        raise InvalidInputError(f"no vehicle is {code!r}; there is {near}", field="--vehicle")
    return found


def booked(vehicle: VehicleModel, plate: str | None) -> Vehicle:
    """The vehicle as a booking says it: by its class, with the plate."""
    return Vehicle(
        code=vehicle.type or vehicle.code or "",
        vehicule_code=vehicle.code,
        brand=vehicle.brand,
        model=vehicle.model,
        identification=plate,
    )
