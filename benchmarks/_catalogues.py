"""The catalogues of a service with 500 routes, and its answers to a search of one of them.

Their members are those of the local service, without what it adds to the interface.
"""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Final

from ._payload import availability, mcp_result

ROUTES: Final = 500
COMPANIES: Final = 60
PORTS: Final = 200

START: Final = date(2050, 7, 1)
DAYS: Final = 31
SAILED_BY: Final = 2
"""Companies of the route from the first port to the second."""
SAILINGS: Final = 2
"""Sailings of a company on a day."""


def ends(number: int) -> tuple[int, int]:
    """Return the numbers of the two ports of a route; no two routes have the same."""
    depart = number % PORTS
    hops = number // PORTS
    return depart, (depart + 1 + hops) % PORTS


def code_of(port: int) -> str:
    """Return the code of a port."""
    return f"ZZ{port:03}"


def name_of(port: int) -> str:
    """Return the name of a port."""
    return f"Port {port:03}"


def route_of(number: int) -> str:
    """Return the text of a route, with the names of its two ports."""
    depart, arrive = ends(number)
    return f"{name_of(depart)} → {name_of(arrive)}"


def company_id(company: int) -> str:
    """Return the id of a company."""
    return f"company-{company:02}"


def catalogue_answers() -> dict[bytes, dict[bytes, bytes]]:
    """Return the bodies of the replies by path, and by a word of the request."""
    companies = [
        {"id": company_id(number), "code": f"C{number:02}", "name": f"Company {number:02}"}
        for number in range(COMPANIES)
    ]
    ports = [
        {"code": code_of(number), "name": name_of(number), "country": "Nowhere"}
        for number in range(PORTS)
    ]
    journeys = [
        {
            "journey_id": f"journey-{number:03}",
            "route": route_of(number),
            "duration_minutes": 600,
        }
        for number in range(ROUTES)
    ]
    departures: dict[str, list[object]] = {company["id"]: [] for company in companies}
    for number in range(ROUTES):
        departure = {"journey_id": f"journey-{number:03}", "departure_times": ["20:00"]}
        for company in sailing_companies(number):
            departures[company_id(company)].append(departure)

    days = [START + timedelta(days) for days in range(DAYS)]
    resource = {"mimeType": "application/json", "text": json.dumps(companies)}
    return {
        b"/api/port": {b"": _json({"ports": ports})},
        b"/api/journey": {b"": _json({"journeys": journeys})},
        b"/api/departure": {
            company.encode(): _json({"departures": of_company})
            for company, of_company in departures.items()
        },
        b"/api/availability": {str(day).encode(): _json(sailings_on(day)) for day in days},
        b"/mcp": mcp_result(b'"resources/read"', {"contents": [resource]}),
    }


def sailing_companies(route: int) -> tuple[int, ...]:
    """Return the numbers of the companies that sail a route."""
    return tuple((route + number) % COMPANIES for number in range(SAILED_BY))


def sailings_on(day: date) -> list[dict[str, Any]]:
    """Return the sailings of the first route on a day."""
    return [sailing(day, number) for number in range(SAILINGS)]


def sailing(day: date, number: int) -> dict[str, Any]:
    """Return a sailing of the first route on a day."""
    depart = datetime.combine(day, time(8 + 6 * number), UTC)
    return {
        **availability(number),
        "journey_id": "journey-000",
        "depart_code": code_of(0),
        "arrive_code": code_of(1),
        "depart_at": depart.isoformat(),
        "arrive_at": (depart + timedelta(hours=10)).isoformat(),
    }


def _json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()
