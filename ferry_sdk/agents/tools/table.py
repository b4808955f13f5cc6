"""The table of tools: one row for each, and the methods that are no tools.

Every method of `GROUPS` is a tool, unless `EXCLUDED` says why it is none. A method without a row is
described by its own signature and docstring: ``catalogue.ports`` becomes the tool
``catalogue_ports``. A method has a row if it belongs to the journey, cannot be undone, or needs
other words for a model. A tool that is no method has a row too, such as ``trips.find``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from ferry_sdk._engine.safety import SAFETY
from ferry_sdk.agents.tools import trip_tools
from ferry_sdk.agents.tools.schemas import Schema
from ferry_sdk.resources import base
from ferry_sdk.resources.availability import AvailabilityGroup
from ferry_sdk.resources.bookings import BookingsGroup
from ferry_sdk.resources.catalogue import CatalogueGroup
from ferry_sdk.resources.mcp import McpGroup
from ferry_sdk.resources.tickets import TicketsGroup

Method = Callable[..., Any]
"""A method of a group, as its class has it: the description of a call."""

GROUPS: Final[tuple[type[base.Resource], ...]] = (
    AvailabilityGroup,
    BookingsGroup,
    CatalogueGroup,
    McpGroup,
    TicketsGroup,
)


def operation_of(method: Method) -> str:
    """Return the public name of a method, such as ``bookings.get`` of ``BookingsGroup.get``."""
    group, name = method.__qualname__.split(".")
    return f"{group.removesuffix('Group').lower()}.{name}"


def tool_name(operation: str | Method) -> str:
    """Return the name of an operation's tool, such as ``bookings_get``."""
    name = operation if isinstance(operation, str) else operation_of(operation)
    return name.replace(".", "_", 1)


@dataclass(frozen=True, eq=False, kw_only=True)
class ToolRow:
    """What is special about a tool.

    Attributes:
        method: The method of the client; None if the tool is no method.
        operation: The tool's name with a dot; the method's, if there is one.
        arguments: The signature and the docstring that describe it.
        result: The schema of the result; None: that of the record that the method returns.
        text: What it does, when to call it, what it costs and what comes next, for a model; None:
            the docstring of `arguments` says it.
        is_read: Whether it changes nothing.
        is_destructive: Whether its change cannot be undone.
        is_planned: Whether it makes several reads, and has a view of its own.
        may_wait: Whether it has the argument `wait`.
        needs_journal: Whether the client has to have a journal.
    """

    method: Method | None = None
    operation: str
    arguments: Callable[..., Any]
    result: Schema | None = None
    text: str | None = None
    is_read: bool
    is_destructive: bool = False
    is_planned: bool = False
    may_wait: bool = False
    needs_journal: bool = False


def _tool_of_method(
    method: Method,
    text: str | None = None,
    *,
    arguments: Callable[..., Any] | None = None,
    is_destructive: bool = False,
    may_wait: bool = False,
) -> ToolRow:
    operation = operation_of(method)
    return ToolRow(
        method=method,
        operation=operation,
        arguments=arguments or method,
        text=text,
        is_read=SAFETY[operation].is_read,
        is_destructive=is_destructive,
        may_wait=may_wait,
    )


def _planned_tool(operation: str, arguments: type[Any], result: Schema) -> ToolRow:
    return ToolRow(
        operation=operation,
        arguments=arguments,
        result=result,
        is_read=True,
        is_planned=True,
    )


LIST_TRAVELLERS: Final = _planned_tool(
    "travellers.list", trip_tools.ListTravellers, trip_tools.TRAVELLERS_SCHEMA
)
"""The tool that is offered where travellers are named by handles."""
FIND_TRIPS: Final = _planned_tool("trips.find", trip_tools.FindTrips, trip_tools.TRIPS_SCHEMA)
FIND_PLACES: Final = _planned_tool("places.find", trip_tools.FindPlaces, trip_tools.PLACES_SCHEMA)
CHANGE_BOOKING: Final = ToolRow(
    operation="bookings.change",
    arguments=trip_tools.ChangeBooking,
    result=trip_tools.CHANGE_SCHEMA,
    is_read=False,
    is_destructive=True,
    needs_journal=True,
)

JOURNEY_ROWS: Final = (
    FIND_TRIPS,
    FIND_PLACES,
    _tool_of_method(BookingsGroup.create, arguments=trip_tools.CreateBooking),
    _tool_of_method(
        BookingsGroup.confirm,
        "Confirm a booking, which pays it and issues its tickets. Call it when the user has agreed "
        "to total_price, which it costs. Next, give the user the vouchers with `tickets_pdf`.",
        is_destructive=True,
    ),
    _tool_of_method(
        BookingsGroup.get,
        "Read a booking: its stage, price and tickets. Call it for a booking that the user names. "
        "`next_actions` names the tools that come next.",
        may_wait=True,
    ),
    _tool_of_method(
        BookingsGroup.cancel_fee,
        "Return what cancelling a booking or a ticket now would cost.",
    ),
    _tool_of_method(
        BookingsGroup.cancel,
        "Cancel a booking with all its tickets, which cannot be undone. It costs the fee that "
        "`bookings_cancel_fee` shows. Call it when the user has agreed to the fee.",
        is_destructive=True,
    ),
    CHANGE_BOOKING,
    _tool_of_method(
        TicketsGroup.get,
        "Read one ticket of a booking: its status, times and boarding time.",
    ),
    _tool_of_method(
        TicketsGroup.pdf,
        "Return the address of the boarding voucher of a ticket, for the user.",
    ),
)
"""The tools that are enough for most conversations; they are listed first."""

_MORE_ROWS: Final = (
    _tool_of_method(
        AvailabilityGroup.search,
        "Search sailings of one company on one route and date. Then book with `availabilities` of "
        "`bookings_create`.",
    ),
    _tool_of_method(
        CatalogueGroup.vehicle_types,
        "List all types of vehicles with their codes, such as CAR; lengths and heights in metres.",
    ),
    _tool_of_method(McpGroup.companies, "List ferry companies with their codes."),
    _tool_of_method(
        TicketsGroup.cancel,
        "Cancel one ticket before its departure, which cannot be undone; the others of its booking "
        "stay. It costs the fee that `bookings_cancel_fee` shows for the ticket. Call it when the "
        "user has agreed to the fee.",
        is_destructive=True,
    ),
)

EXCLUDED: Final[Mapping[Method, str]] = {
    BookingsGroup.wait: "bookings.get has the argument wait",
    TicketsGroup.wait_pdf: "an agent polls by calling again; it does not block",
    TicketsGroup.cancel_fee: "bookings.cancel_fee takes a ticket too",
    TicketsGroup.save_pdf: "an agent writes no files",
    TicketsGroup.read_pdf: "a model reads the address of a voucher, not its bytes",
    TicketsGroup.mark_paid: "it carries the organisation's token; an agent has seen no payment",
    McpGroup.search_availability: "availability.search over another protocol",
    McpGroup.create_booking: "bookings.create over another protocol",
    McpGroup.confirm_booking: "bookings.confirm over another protocol",
    McpGroup.view_ticket: "tickets.get over another protocol",
    McpGroup.cancel_ticket: "tickets.cancel over another protocol",
    McpGroup.ports: "catalogue.ports over another protocol",
    McpGroup.countries: "no other tool accepts what it lists",
    McpGroup.vehicle_brands: "catalogue.vehicle_brands over another protocol",
    McpGroup.vehicle_data: "catalogue.vehicle_types over another protocol",
    McpGroup.departures: "it lists the sailings of all companies, too many for a conversation",
    McpGroup.read_resource: "it can read anything on the server",
    McpGroup.list_tools: "its tools are not tools here",
    McpGroup.list_resources: "no tool reads its resources",
    McpGroup.call_tool: "it can do anything on the server",
}
"""The methods that are not tools, each with the reason."""


def all_rows() -> tuple[ToolRow, ...]:
    """Return the rows of all tools except `LIST_TRAVELLERS`, the journey's first."""
    rows = {row.operation: row for row in JOURNEY_ROWS}
    more_rows = {row.operation: row for row in _MORE_ROWS}
    for method in every_method():
        operation = operation_of(method)
        # A new method that has no row in the safety table yet is not offered.
        if operation not in rows and method not in EXCLUDED and operation in SAFETY:
            rows[operation] = more_rows.get(operation) or _tool_of_method(method)
    return tuple(rows.values())


def every_method() -> Iterator[Method]:
    """Return the methods of all groups."""
    for group in GROUPS:
        for member in vars(group).values():
            if isinstance(member, base.method):
                yield member.describe
