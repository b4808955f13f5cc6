"""What the tools of an MCP server give, in the interface's shapes, and calls that ask for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.support import samples

if TYPE_CHECKING:
    from collections.abc import Callable

    from ferry_sdk import Ferry

TICKET: dict[str, Any] = samples.TICKET | {"id": "t1"}
BOOKING: dict[str, Any] = samples.BOOKING_CREATED | {"booking_id": "b1"}
PASSENGERS: Any = [{"type": "Adult", "first_name": "Ada", "last_name": "Okonkwo", "age": 34}]
SELECTION: Any = [{"availability_id": "a1", "tariff_id": "a1.STANDARD", "place_id": "a1.SEAT"}]


def availability(name: str = "a1", ship_name: str = "Tanit") -> dict[str, Any]:
    """A sailing."""
    return samples.AVAILABILITY | {"id": name, "ship_name": ship_name}


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
