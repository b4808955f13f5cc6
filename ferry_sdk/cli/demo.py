"""Run a complete booking against a local service, and print every step."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from ferry_sdk import AvailabilityError, Ferry
from ferry_sdk.sandbox import Sandbox

if TYPE_CHECKING:
    from ferry_sdk import Availability, Booking, BookingCreated, Records, Ticket
    from ferry_sdk.models import PassengerDict, SearchPassengerDict

    Say = Callable[[str], None]

_ROUTE = "Tarifa → Tangier (city)"
_DAYS_AHEAD = range(30, 45)
_TRAVELLERS: list[SearchPassengerDict] = [
    {"type": "Adult", "gender": "Female", "age": 41},
    {"type": "Child", "gender": "Male", "age": 9},
]
_PASSENGERS: list[PassengerDict] = [
    {"type": "Adult", "first_name": "Leïla", "last_name": "Haddad", "gender": "Female", "age": 41},
    {"type": "Child", "first_name": "Noé", "last_name": "Haddad", "gender": "Male", "age": 9},
]


def run(folder: Path, say: Say = print) -> None:
    """Search, book, confirm, read, save the voucher to a folder and cancel: over REST, then MCP."""
    folder.mkdir(parents=True, exist_ok=True)
    with Sandbox() as sandbox, Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
        say(f"The local service listens at {sandbox.base_url}; nothing leaves this machine.")
        _run_rest(ferry, folder, say)
        _run_mcp(ferry, folder, say)
        requests, effects = sum(sandbox.counters.requests.values()), len(sandbox.counters.effects)
        say(f"\nThe service answered {requests} requests and made {effects} changes.")


def _run_rest(ferry: Ferry, folder: Path, say: Say) -> None:
    say("\nREST\n====\n")
    created = _book(ferry, ferry.availability.search, ferry.bookings.create, say)
    confirmed = ferry.bookings.confirm(created.booking_id)
    booking = ferry.bookings.get(created.booking_id)
    say(f"Confirmed: stage {booking.stage}, {booking.payment_status}.")
    say(f"  Next: {_actions(booking)}.")
    _print_ticket(ferry, ferry.tickets.get(confirmed.ticket_id), folder, say)
    cancelled = ferry.bookings.cancel(created.booking_id)
    say(f"Cancelled: {cancelled.refund_amount:.2f} {created.currency} refunded.")


def _run_mcp(ferry: Ferry, folder: Path, say: Say) -> None:
    say("\nMCP\n===\n")
    mcp = ferry.mcp
    created = _book(ferry, mcp.search_availability, mcp.create_booking, say)
    confirmed = mcp.confirm_booking(created.booking_id)
    ticket = mcp.view_ticket(confirmed.ticket_id)
    _print_ticket(ferry, ticket, folder, say)
    cancelled = mcp.cancel_ticket(ticket.id, ticket_number=ticket.ticket_number)
    say(f"Cancelled: the ticket is {cancelled.status}.")


def _book(
    ferry: Ferry,
    search: Callable[..., Records[Availability]],
    create: Callable[..., BookingCreated],
    say: Say,
) -> BookingCreated:
    """Book the cheapest ticket on the first sailing of the first day that has any."""
    sailings = _find_sailings(ferry, search)
    rows = (
        (
            f"{one.depart_name} {one.depart_at:%a %d %b %H:%M}",
            f"{one.arrive_name} {one.arrive_at:%a %d %b %H:%M}",
            str(one.travel_time).removesuffix(":00"),
            one.ship_name,
            f"{min(tariff.amount for tariff in one.tariffs):.2f} {one.tariffs[0].currency}",
            ", ".join(sorted({str(place.type) for place in one.places})),
        )
        for one in sailings
    )
    _print_table(("leaves", "arrives", "takes", "ship", "from", "places"), rows, say)
    tariffs = sailings[0].tariffs
    chosen = min((one for one in tariffs if one.type == "Ticket"), key=lambda one: one.amount)
    prices = (
        (
            str(one.type),
            f"{one.amount:.2f} {one.currency}",
            f"{one.expiration_date:%a %d %b %H:%M} UTC",
            "← chosen" if one is chosen else "",
        )
        for one in tariffs
    )
    _print_table(("tariff", "price", "holds until", ""), prices, say)
    selection = sailings[0].select(tariff=chosen, place=sailings[0].places[0])
    created = create(availabilities=[selection], passengers=_PASSENGERS)
    price = f"{created.total_price:.2f} {created.currency}"
    say(f"Booked {created.booking_reference}: {price}, stage {created.stage}.")
    say(f"  Next: {_actions(created)}.")
    return created


def _find_sailings(
    ferry: Ferry, search: Callable[..., Records[Availability]]
) -> Records[Availability]:
    journeys = ferry.catalogue.journeys()
    journey_id = next(one.journey_id for one in journeys if one.route == _ROUTE)
    for ahead in _DAYS_AHEAD:
        try:
            return search(
                company="BALEARIA",
                depart_code="ESTRF",
                arrive_code="MATNG",
                out_journey_id=journey_id,
                out_at=date.today() + timedelta(days=ahead),  # noqa: DTZ011 -- any day will do
                out_time="00:00",
                passengers=_TRAVELLERS,
            )
        except AvailabilityError:
            continue
    raise LookupError(f"no sailing {_ROUTE} within two weeks")


def _actions(record: Booking | BookingCreated) -> str:
    texts: list[str] = []
    for name, action in record.next_actions():
        limit = action.time_limit
        until = f", by {limit:%a %d %b %H:%M %Z}" if isinstance(limit, datetime) else ""
        texts.append(f"{name} ({action.type}{until})")
    return ", ".join(texts)


def _print_ticket(ferry: Ferry, ticket: Ticket, folder: Path, say: Say) -> None:
    """Print a ticket, save its voucher, and print what cancelling it costs."""
    people = len(ticket.passengers)
    say(f"Ticket {ticket.ticket_number}: {ticket.status}, {ticket.direction}, {people} travellers.")
    path = ferry.tickets.save_pdf(ticket.id, folder / f"{ticket.ticket_number}.pdf")
    say(f"Voucher saved to {path} ({path.stat().st_size:,} bytes).")
    fee = ferry.tickets.cancel_fee(ticket.id)
    say(
        f"Cancelling now costs {fee.penalty_amount:.2f} {fee.currency}; "
        f"the refund is {fee.refund_amount:.2f} {fee.currency}."
    )


def _print_table(heads: Sequence[str], rows: Iterable[Sequence[str]], say: Say) -> None:
    lines = [list(heads), *map(list, rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    lines.insert(1, ["─" * width for width in widths])
    for line in lines:
        say("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())
    say("")
