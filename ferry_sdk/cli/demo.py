"""Run a complete booking against a local service, and print every step."""

# ruff: noqa: T201 -- it prints what it does

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ferry_sdk import Ferry, Travellers
from ferry_sdk._runtime.money import money
from ferry_sdk.cli.orders.trips import print_trips
from ferry_sdk.cli.terminal.output import next_of
from ferry_sdk.sandbox import Sandbox

if TYPE_CHECKING:
    from ferry_sdk import Trip
    from ferry_sdk.models import TravellerDict

_PARTY: list[TravellerDict] = [
    {"type": "Adult", "first_name": "Leïla", "last_name": "Haddad", "gender": "Female", "age": 41},
    {"type": "Child", "first_name": "Noé", "last_name": "Haddad", "gender": "Male", "age": 9},
]
_TRAVELLERS = Travellers(_PARTY)


def run(folder: Path) -> None:
    """Search, book, confirm, read, save the voucher to a folder and cancel: over REST, then MCP."""
    folder.mkdir(parents=True, exist_ok=True)
    with Sandbox() as sandbox, Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
        print(f"The local service listens at {sandbox.base_url}; nothing leaves this machine.\n")
        trips = ferry.trips.search(
            "Tarifa",
            "Tanger-Ville",
            on=date.today() + timedelta(days=30),  # noqa: DTZ011 -- any day will do
            flexible=7,
            passengers=_TRAVELLERS,
            companies=["BALEARIA"],  # it issues tickets at once
        )
        print_trips(trips)
        print(f"\nThe cheapest tariff costs {money(trips[0].price, trips[0].currency)}.")
        rest = (ferry.bookings.create, ferry.bookings.confirm, ferry.tickets.get)
        print("\nREST\n====\n")
        _buy_and_cancel(ferry, trips[0], folder, *rest, ferry.tickets.cancel)
        mcp = (ferry.mcp.create_booking, ferry.mcp.confirm_booking, ferry.mcp.view_ticket)
        print("\nMCP\n===\n")
        _buy_and_cancel(ferry, trips[0], folder, *mcp, ferry.mcp.cancel_ticket)


def _buy_and_cancel(
    ferry: Ferry,
    trip: Trip,
    folder: Path,
    create: Callable[..., Any],
    confirm: Callable[[str], Any],
    read: Callable[[str], Any],
    cancel: Callable[..., Any],
) -> None:
    """Book the trip by the calls of one protocol, save the voucher, and cancel the ticket."""
    created = create(availabilities=trip.select(), passengers=_TRAVELLERS)
    price, actions = money(created.total_price, created.currency), ", ".join(next_of(created))
    print(f"Booked {created.booking_reference}: {price}. Next: {actions}.")
    ticket = read(confirm(created.booking_id).ticket_id)
    print(f"Confirmed. Ticket {ticket.ticket_number}: {ticket.status}, {ticket.direction}.")
    path = ferry.tickets.save_pdf(ticket.id, folder / f"{ticket.ticket_number}.pdf")
    print(f"Voucher saved to {path} ({path.stat().st_size:,} bytes).")
    fee = ferry.tickets.cancel_fee(ticket.id)
    costs, refund = money(fee.penalty_amount, fee.currency), money(fee.refund_amount, fee.currency)
    print(f"Cancelling now costs {costs}; the refund is {refund}.")
    cancelled = cancel(ticket.id, ticket_number=ticket.ticket_number)
    print(f"Cancelled: the ticket is {cancelled.status}.")
