"""Run a complete booking against a local service, and print every step."""

# ruff: noqa: T201 -- it prints what it does

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from ferry_sdk import Ferry, Travellers
from ferry_sdk._runtime.money import money
from ferry_sdk.cli.trips.trip_table import print_trips
from ferry_sdk.sandbox import Sandbox

if TYPE_CHECKING:
    from ferry_sdk import Booking, BookingCreated, Fare, Ticket, Trip
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
        trip, fare = _find(ferry)
        _book_over_rest(ferry, trip, fare, folder)
        _book_over_mcp(ferry, trip, fare, folder)

        requests = sum(sandbox.counters.requests.values())
        effects = len(sandbox.counters.effects)
        print(f"\nThe service answered {requests} requests and made {effects} changes.")


def _find(ferry: Ferry) -> tuple[Trip, Fare]:
    """Return the cheapest trip between two places in a month, and its cheapest ticket."""
    day = date.today() + timedelta(days=30)  # noqa: DTZ011 -- any day will do
    trips = ferry.trips.search(
        "Tarifa",
        "Tanger-Ville",
        on=day,
        flexible=7,
        passengers=_TRAVELLERS,
        companies=["BALEARIA"],  # it issues tickets at once
    )
    print_trips(trips)

    fare = next(fare for fare in trips[0].fares if fare.tariffs[0].type == "Ticket")
    price = money(fare.amount, fare.currency)
    until = f", until {fare.expires_at:%a %d %b %H:%M} UTC" if fare.expires_at else ""
    print(f"\nThe cheapest tariff of type Ticket: {price}{until}.")
    return trips[0], fare


def _book_over_rest(ferry: Ferry, trip: Trip, fare: Fare, folder: Path) -> None:
    print("\nREST\n====\n")
    created = _book(ferry.bookings.create, trip, fare)
    confirmed = ferry.bookings.confirm(created.booking_id)
    booking = ferry.bookings.get(created.booking_id)
    print(f"Confirmed: stage {booking.stage}, {booking.payment_status}.")
    print(f"  Next: {_actions(booking)}.")

    _print_ticket(ferry, ferry.tickets.get(confirmed.ticket_id), folder)

    refund = ferry.bookings.cancel(created.booking_id).refund_amount
    print(f"Cancelled: {refund:.2f} {created.currency} refunded.")


def _book_over_mcp(ferry: Ferry, trip: Trip, fare: Fare, folder: Path) -> None:
    print("\nMCP\n===\n")
    created = _book(ferry.mcp.create_booking, trip, fare)
    confirmed = ferry.mcp.confirm_booking(created.booking_id)

    ticket = ferry.mcp.view_ticket(confirmed.ticket_id)
    _print_ticket(ferry, ticket, folder)

    cancelled = ferry.mcp.cancel_ticket(ticket.id, ticket_number=ticket.ticket_number)
    print(f"Cancelled: the ticket is {cancelled.status}.")


def _book(create: Callable[..., BookingCreated], trip: Trip, fare: Fare) -> BookingCreated:
    created = create(availabilities=trip.select(fare), passengers=_TRAVELLERS)
    price = money(created.total_price, created.currency)
    print(f"Booked {created.booking_reference}: {price}, stage {created.stage}.")
    print(f"  Next: {_actions(created)}.")
    return created


def _actions(record: Booking | BookingCreated) -> str:
    texts: list[str] = []
    for name, action in record.next_actions():
        limit = action.time_limit
        until = f", by {limit:%a %d %b %H:%M %Z}" if isinstance(limit, datetime) else ""
        texts.append(f"{name} ({action.type}{until})")
    return ", ".join(texts)


def _print_ticket(ferry: Ferry, ticket: Ticket, folder: Path) -> None:
    """Print a ticket, save its voucher, and print what cancelling it costs."""
    about = f"{ticket.status}, {ticket.direction}, {len(ticket.passengers)} travellers"
    print(f"Ticket {ticket.ticket_number}: {about}.")

    path = ferry.tickets.save_pdf(ticket.id, folder / f"{ticket.ticket_number}.pdf")
    print(f"Voucher saved to {path} ({path.stat().st_size:,} bytes).")

    fee = ferry.tickets.cancel_fee(ticket.id)
    kept = money(fee.penalty_amount, fee.currency)
    refund = money(fee.refund_amount, fee.currency)
    print(f"Cancelling now costs {kept}; the refund is {refund}.")
