"""The function that performs each operation, and what it needs.

The rows are made for each service, because the functions are methods of its parts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from ferry_sdk.sandbox.bookings.sales import Sales
from ferry_sdk.sandbox.network.catalogue import Catalogue
from ferry_sdk.sandbox.offers.offers import Offers
from ferry_sdk.sandbox.requests.access import CallContext
from ferry_sdk.sandbox.requests.body import Nothing


class Handler(NamedTuple):
    """What performs an operation.

    Attributes:
        perform: Takes the validated arguments and the context; returns JSON or raises.
        uses_bookings: Whether it reads or changes bookings, which only one call at a time may do.
    """

    perform: Callable[[Any, CallContext], object]
    uses_bookings: bool = False


def handlers(sales: Sales, offers: Offers, catalogue: Catalogue) -> Mapping[str, Handler]:
    """Return the handlers of a service by the names of the operations."""
    return {
        "availability.search": Handler(offers.availabilities),
        "bookings.create": Handler(sales.create, uses_bookings=True),
        "bookings.confirm": Handler(sales.confirm, uses_bookings=True),
        "bookings.cancel": Handler(sales.cancel_booking, uses_bookings=True),
        "bookings.cancel_fee": Handler(sales.cancellation_fee, uses_bookings=True),
        "bookings.get": Handler(sales.booking, uses_bookings=True),
        "tickets.cancel": Handler(sales.cancel_ticket, uses_bookings=True),
        "tickets.get": Handler(sales.ticket, uses_bookings=True),
        "tickets.pdf": Handler(sales.voucher_address, uses_bookings=True),
        "tickets.mark_paid": Handler(sales.mark_paid, uses_bookings=True),
        "catalogue.departures": Handler(catalogue.departures),
        "catalogue.journeys": Handler(in_language(catalogue.journeys)),
        "catalogue.ports": Handler(in_language(catalogue.ports)),
        "catalogue.vehicle_brands": Handler(in_language(catalogue.vehicle_brands)),
        "catalogue.vehicle_types": Handler(in_language(catalogue.vehicle_types)),
        "mcp.search_availability": Handler(offers.availabilities),
        "mcp.create_booking": Handler(sales.create_by_tool, uses_bookings=True),
        "mcp.confirm_booking": Handler(sales.confirm, uses_bookings=True),
        "mcp.view_ticket": Handler(sales.ticket_by_tool, uses_bookings=True),
        "mcp.cancel_ticket": Handler(sales.cancel_ticket, uses_bookings=True),
        "mcp.ports": Handler(in_language(catalogue.ports_with_places)),
        "mcp.companies": Handler(in_language(catalogue.companies)),
        "mcp.countries": Handler(in_language(catalogue.countries)),
        "mcp.vehicle_brands": Handler(in_language(catalogue.vehicle_brands)),
        "mcp.vehicle_data": Handler(in_language(catalogue.vehicles)),
        "mcp.departures": Handler(in_language(catalogue.scheduled_departures)),
    }


def in_language(records: Callable[[str], object]) -> Callable[[Nothing, CallContext], object]:
    """Return what performs an operation without arguments: its answer depends on the language."""

    def perform(_: Nothing, context: CallContext) -> object:
        return records(context.caller.language)

    return perform
