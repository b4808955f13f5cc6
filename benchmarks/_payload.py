"""The service's answers, which are the same bytes each time.

A search finds one sailing many times, with other values. The members, their order and their types
are those of the local service.
"""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone
from hashlib import blake2b
from itertools import count as numbers
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

QUESTION: Final[dict[str, Any]] = {
    "company": "DFDS",
    "depart_code": "EEPLA",
    "arrive_code": "SEKPS",
    "out_journey_id": "5067cd51-981f-5e28-af95-b94e69168651",
    "out_at": "2026-07-14",
    "out_time": "00:00",
    "passengers": [
        {"type": "Adult", "gender": "Female", "age": 34},
        {"type": "Adult", "gender": "Male", "age": 36},
        {"type": "Child", "gender": "Male", "age": 7},
    ],
}
"""The arguments of a search."""

TOKEN: Final = "0f8fad5b-d9cb-469f-a165-70867728950e"  # noqa: S105 -- it opens nothing

HEADERS: Final = {"Authorization": f"Bearer {TOKEN}", "Accept": "application/json"}

MANY: Final = 1000
"""The most connections of a client whose own limit would slow it down."""

BOOKING_ID: Final = "7d3f0c9ad0a14f1f"

SELECTION: Final = {"availability_id": "av-1", "tariff_id": "tar-1", "place_id": "pl-1"}

PASSENGER: Final = {"type": "Adult", "first_name": "Ada", "last_name": "Reyes"}

FEE: Final = (
    b'{"penalty_amount":48.13,"refund_amount":100.05,"currency":"EUR","ticket_status":"Issued"}'
)

CREATED: Final = (
    b'{"booking_id":"7d3f0c9ad0a14f1f","booking_reference":"Q25XLLFM","stage":"payment_due",'
    b'"possible_actions":{"Pay":{"type":"mandatory"}},"status":"Blocked","total_price":148.18,'
    b'"currency":"EUR"}'
)

REFUSED: Final = b'{"error":true,"code":"BOOKING_CREATE_ERROR","message":"No cabins are left"}'

RATE_LIMITED: Final = b'{"error":true,"code":"RATE_LIMITED","message":"Too many requests"}'

_FIRST = datetime.fromisoformat("2026-07-14T00:20:00+03:00")
_SWEDEN = timezone(timedelta(hours=2))
_ISSUED = 1777636800
_HALF_AN_HOUR = 1800
_DAY = 86400
_COMPANY = "980ea752-49c8-510a-b3b8-45c3cc897fdb"
_SHIPS = ("Aura Seaways", "Delft Seaways", "Princess Seaways", "Côte d'Albâtre")
_TARIFFS = (
    ("STANDARD", "Ticket", 100, _HALF_AN_HOUR),
    ("FLEX", "Ticket", 120, _HALF_AN_HOUR),
    ("PRESALE", "Presale", 95, 3 * _DAY),
    ("OPTION", "Option", 105, _DAY),
)
_PLACES = (
    ("SEAT", "Seat", "Liegesessel für Reisende", 3),
    ("INSIDE_4", "Cabin", "Innenkabine mit 4 Kojen", 4),
    ("OUTSIDE_4", "Cabin", "Außenkabine mit 4 Kojen", 4),
)
_ON_BOARD = (
    {"order": 1, "type": "Adult", "age": 34},
    {"order": 2, "type": "Adult", "age": 36},
    {"order": 3, "type": "Child", "age": 7},
)


def bookings() -> Iterator[dict[str, Any]]:
    """Yield the arguments of creates, of another booking each time.

    The library would send equal creates that are under way at the same time only once.
    """
    return map(booking, numbers())


def booking(number: int) -> dict[str, Any]:
    """Return the arguments of a create. The number makes its sailing and its two travellers."""
    letters = "".join(chr(ord("a") + int(digit)) for digit in str(number))
    return {
        "availabilities": [
            {"availability_id": f"a-{number}", "tariff_id": "t-1", "place_id": "p-1"}
        ],
        "passengers": [
            {
                "type": "Adult",
                "first_name": f"{first_name}{letters}",
                "last_name": f"Reyes{letters}",
                "gender": gender,
                "birth_date": f"{1940 + number % 60}-03-02",
                "doc_number": f"XD{first_name[0]}{number}",
                "email": f"{gender}.reyes{letters}@mail.example",
            }
            for first_name, gender in (("Zoé", "Female"), ("Leo", "Male"))
        ],
    }


def search_answer(count: int) -> bytes:
    """Return the body of the reply to a search that finds so many availabilities."""
    return _compact([availability(number) for number in range(count)])


def mcp_answers(count: int) -> dict[bytes, bytes]:
    """Return the replies of `/mcp` by a word of the request: a handshake, and a search as text."""
    found = {"content": [{"type": "text", "text": search_answer(count).decode()}], "isError": False}
    return mcp_result(b'"tools/call"', found)


def mcp_created() -> dict[bytes, bytes]:
    """Return the replies of `/mcp` by a word of the request: a handshake, and a create as text."""
    created = {"content": [{"type": "text", "text": CREATED.decode()}], "isError": False}
    return mcp_result(b'"tools/call"', created)


def mcp_result(word: bytes, result: Mapping[str, object]) -> dict[bytes, bytes]:
    """Return the replies of `/mcp`: a handshake, and one result for requests that have a word."""
    agreed: dict[str, object] = {
        "protocolVersion": "2025-11-25",
        "capabilities": {"tools": {}, "resources": {}},
        "serverInfo": {"name": "benchmarks", "version": "1"},
    }
    return {
        b'"initialize"': _compact({"jsonrpc": "2.0", "id": "ferry-1", "result": agreed}),
        b'"notifications/': b"",
        word: _compact({"jsonrpc": "2.0", "id": "ferry-2", "result": result}),
    }


def availability(number: int) -> dict[str, object]:
    """Return a sailing. The number makes its id, its times, its prices and its places."""
    identifier = blake2b(number.to_bytes(4, "big"), digest_size=16).hexdigest()
    depart = _FIRST + timedelta(minutes=5 * number)
    arrive = (depart + timedelta(hours=10)).astimezone(_SWEDEN)
    sailing = f"DFDS-EEPLA-SEKPS-{depart:%Y%m%d-%H%M}"

    tariffs: list[object] = []
    for code, kind, rate, holds in _TARIFFS:
        price = round((4000 + number % 6007) * rate / 10000, 2)
        tariffs.append(
            {
                "id": f"{identifier}.{code}",
                "type": kind,
                "amount": price,
                "balance_amount": price,
                "currency": "Eur",
                "date": _ISSUED + number,
                "expiration_date": _ISSUED + number + holds,
                "roundtrip_locked": False,
            }
        )

    places: list[object] = []
    for index, (code, kind, name, berths) in enumerate(_PLACES[: 2 + number % 2], 1):
        places.append(
            {
                "id": f"{identifier}.{code}",
                "index": index,
                "code": code,
                "count": 1 + (number * 7 + index) % 199,
                "type": kind,
                "gender": "Any",
                "capacity": berths,
                "use": "Exclusive",
                "name": name,
                "in_board": {
                    "adults": 2,
                    "childs": 1,
                    "babies": 0,
                    "passengers": _ON_BOARD,
                    "has_shower": kind == "Cabin",
                    "has_toilet": kind == "Cabin",
                    "has_window": not code.startswith("INSIDE"),
                },
            }
        )

    return {
        "id": identifier,
        "group_id": 1,
        "direction": "Outward",
        "journey_id": QUESTION["out_journey_id"],
        "sailing_id": sailing,
        "depart_name": "Paldiski",
        "arrive_name": "Kapellskär",
        "depart_code": "EEPLA",
        "arrive_code": "SEKPS",
        "is_open": False,
        "depart_at": depart.isoformat(),
        "arrive_at": arrive.isoformat(),
        "company": {
            "id": _COMPANY,
            "name": "DFDS",
            "logo": "https://static.ferry.example/logos/dfds.svg",
        },
        "provider": {"id": _COMPANY, "name": "DFDS"},
        "gateway": {
            "id": "5fcff07a-abd6-525c-9a86-ff3af0482cf8",
            "code": "DFDS",
            "provider": "DFDS",
        },
        "tariffs": tariffs,
        "places": places,
        "passenger_count": 3,
        "vehicle": [],
        "meals": [
            {
                "id": f"{sailing}.DINNER",
                "code": "DINNER",
                "name": "Abendessen",
                "price": 22.0,
                "currency": "Eur",
            }
        ],
        "animals": {"allowed": True, "kennel": False, "cabin": False},
        "stops": [],
        "ship_name": _SHIPS[number % len(_SHIPS)],
        "duration": 10,
    }


def _compact(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
