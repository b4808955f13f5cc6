"""What the tools of an MCP server give, in the interface's shapes, and calls that ask for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from ferry_sdk import Ferry

TICKET: dict[str, Any] = {
    "id": "t1",
    "status": "Issued",
    "ticket_number": "CTN697373812",
    "pdf_url": None,
    "direction": "OUTWARD",
    "vehicle": None,
    "passengers": [],
    "availability": {"outward": {"journey": None}},
}
BOOKING: dict[str, Any] = {
    "booking_id": "b1",
    "booking_reference": "632282K4",
    "stage": "payment_due",
    "possible_actions": {},
    "status": "Blocked",
    "total_price": 148.18,
    "currency": "EUR",
}
PASSENGERS: Any = [{"type": "Adult", "first_name": "Ada", "last_name": "Okonkwo", "age": 34}]
SELECTION: Any = [{"availability_id": "a1", "tariff_id": "a1.STANDARD", "place_id": "a1.SEAT"}]


def availability(name: str = "a1", ship_name: str = "Tanit") -> dict[str, Any]:
    """A sailing."""
    return {
        "id": name,
        "group_id": 1,
        "direction": "Outward",
        "journey_id": "j1",
        "sailing_id": f"sailing-{name}",
        "depart_name": "Marseille",
        "arrive_name": "Tunis (La Goulette)",
        "depart_code": "FRMRS",
        "arrive_code": "TNLGN",
        "is_open": False,
        "depart_at": "2026-12-21T19:35:00+01:00",
        "arrive_at": "2026-12-22T17:35:00+01:00",
        "company": {"id": "c1", "name": "CTN", "logo": ""},
        "provider": {"id": "p1", "name": "CTN"},
        "gateway": {"id": "g1", "code": "CTN", "provider": "CTN"},
        "tariffs": [],
        "places": [],
        "passenger_count": 1,
        "vehicle": [],
        "meals": [],
        "animals": None,
        "stops": [],
        "ship_name": ship_name,
        "duration": 22,
    }


def failure(code: str = "TICKET_NOT_FOUND", message: str = "No such ticket") -> dict[str, Any]:
    """The interface's error object."""
    return {"error": True, "code": code, "message": message}


def search(ferry: Ferry) -> Any:
    """A read that answers a list."""
    return ferry.mcp.search_availability(
        company="CTN",
        depart_code="FRMRS",
        arrive_code="TNLGN",
        out_journey_id="j1",
        out_at="2026-12-21",
        out_time="00:00",
        passengers=[{"type": "Adult", "gender": "Female", "age": 34}],
    )


def view(ferry: Ferry) -> Any:
    """A read that answers one record."""
    return ferry.mcp.view_ticket("t1")


def book(ferry: Ferry) -> Any:
    """A write that answers one record."""
    return ferry.mcp.create_booking(availabilities=SELECTION, passengers=PASSENGERS)


READS: list[Callable[[Ferry], Any]] = [search, view]
EVERY_CALL: list[Callable[[Ferry], Any]] = [*READS, book]
