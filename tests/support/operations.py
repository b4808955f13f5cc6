"""Every operation of the library, each with arguments that make a good call."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ferry_sdk.resources.base import method
from ferry_sdk.resources.groups import Resources

from .trip import PASSENGERS, TRAVELLERS

if TYPE_CHECKING:
    from ferry_sdk import Ferry
    from ferry_sdk._engine.operation import Operation

_SEARCH = {
    "company": "CTN",
    "depart_code": "FRMRS",
    "arrive_code": "TNLGN",
    "out_journey_id": "j-1",
    "out_at": "2027-06-01",
    "out_time": "08:00",
    "passengers": TRAVELLERS,
}
_BOOKING = {
    "availabilities": [{"availability_id": "a-1", "tariff_id": "t-1", "place_id": "p-1"}],
    "passengers": PASSENGERS,
}
_ARGUMENTS: dict[str, dict[str, Any]] = {
    "availability.search": _SEARCH,
    "bookings.create": _BOOKING,
    "bookings.confirm": {"booking_id": "b-1"},
    "bookings.get": {"booking_id": "b-1"},
    "bookings.wait": {"booking_id": "b-1", "until": "ticketed", "deadline": 60},
    "bookings.cancel": {"booking_id": "b-1"},
    "bookings.cancel_fee": {"id": "b-1"},
    "tickets.get": {"ticket_id": "t-1"},
    "tickets.cancel": {"ticket_id": "t-1"},
    "tickets.cancel_fee": {"id": "t-1"},
    "tickets.pdf": {"ticket_id": "t-1"},
    "tickets.wait_pdf": {"ticket_id": "t-1", "deadline": 60},
    "tickets.save_pdf": {"ticket_id": "t-1"},
    "tickets.read_pdf": {"ticket_id": "t-1"},
    "tickets.mark_paid": {"ticket_id": "t-1", "external_payment_ref": "pay-1"},
    "catalogue.ports": {},
    "catalogue.journeys": {},
    "catalogue.departures": {"provider_id": "c-1"},
    "catalogue.vehicle_brands": {},
    "catalogue.vehicle_types": {},
    "mcp.search_availability": _SEARCH,
    "mcp.create_booking": _BOOKING,
    "mcp.confirm_booking": {"booking_id": "b-1"},
    "mcp.view_ticket": {"ticket_id": "t-1"},
    "mcp.cancel_ticket": {"ticket_id": "t-1"},
    "mcp.ports": {},
    "mcp.companies": {},
    "mcp.countries": {},
    "mcp.vehicle_brands": {},
    "mcp.vehicle_data": {},
    "mcp.departures": {},
    "mcp.call_tool": {"name": "paint_ship", "arguments": {"colour": "blue"}},
    "mcp.read_resource": {"uri": "resource://service/ports"},
    "mcp.list_tools": {},
    "mcp.list_resources": {},
}


def _groups() -> dict[str, type]:
    nobody: Any = Resources(None)
    return {
        name: type(getattr(nobody, name)).__base__
        for name, member in vars(Resources).items()
        if isinstance(member, cached_property)
    }


GROUPS = _groups()


def listed() -> tuple[str, ...]:
    """Every `@method` of the groups, by its public name."""
    return tuple(
        f"{group}.{name}"
        for group, kind in GROUPS.items()
        for name, member in vars(kind).items()
        if isinstance(member, method)
    )


OPERATIONS = listed()
"""Those that there are while the tests are collected."""

UNCOVERED = {*OPERATIONS} ^ _ARGUMENTS.keys()
"""Operations without arguments here, and arguments without an operation: there must be none."""


def arguments(name: str, folder: Path) -> dict[str, Any]:
    """Arguments that make a good call; a file it writes is in the folder."""
    given = _ARGUMENTS[name]
    return {**given, "path": folder / "voucher.pdf"} if name == "tickets.save_pdf" else given


def described(name: str, folder: Path = Path(), /, **changes: Any) -> Operation[Any]:
    """The call, described and not made, with some arguments of its own."""
    group, _, call = name.partition(".")
    describe = getattr(GROUPS[group], call)
    operation: Operation[Any] = describe(None, **arguments(name, folder) | changes)
    return operation


def make(ferry: Ferry, name: str, folder: Path) -> Any:
    """The call, made; a coroutine where the client is async."""
    group, _, call = name.partition(".")
    return getattr(getattr(ferry, group), call)(**arguments(name, folder))
