"""Find and print bookings and tickets."""

from __future__ import annotations

from datetime import datetime

from ferry_sdk.cli.terminal.formats import count, moment, money
from ferry_sdk.cli.terminal.output import print_facts, print_table, say
from ferry_sdk.client import Ferry
from ferry_sdk.errors import APIError, BadRequestError, NotFoundError, UnprocessableEntityError
from ferry_sdk.models.bookings import Booking, WithActions
from ferry_sdk.models.tickets import Ticket, TicketJourney


def record_of(ferry: Ferry, some_id: str) -> Booking | Ticket:
    """Return the booking with this id, or else the ticket with this id.

    Raises:
        APIError: Neither exists.
    """
    try:
        return ferry.bookings.get(some_id)
    except (NotFoundError, BadRequestError, UnprocessableEntityError) as no_booking:
        try:
            return ferry.tickets.get(some_id)
        except APIError:
            raise no_booking from None


def print_booking(booking: Booking) -> None:
    """Print a booking with its tickets."""
    print_facts(
        [
            ("booking", booking.booking_reference),
            ("id", booking.booking_id),
            ("stage", booking.stage),
            ("total", f"{money(booking.total_price, booking.currency)}, {booking.payment_status}"),
            ("expires", moment(booking.expire_at)),
            ("next", next_of(booking)),
        ]
    )
    for ticket in booking.tickets:
        say("")
        print_ticket(ticket)


def print_ticket(ticket: Ticket) -> None:
    """Print a ticket with its crossings and travellers."""
    vehicle = ticket.vehicle
    kind = vehicle and " ".join(filter(None, (vehicle.brand_name, vehicle.model)))
    print_facts(
        [
            ("ticket", ticket.ticket_number or "not yet issued"),
            ("id", ticket.id),
            ("status", f"{ticket.status}, {ticket.direction}"),
            *_crossings(ticket),
            ("boarding", moment(ticket.boarding_time)),
            ("vehicle", kind or (vehicle and (vehicle.type or vehicle.code))),
        ]
    )
    people = [
        (
            number,
            f"{one.first_name} {one.last_name}",
            one.birth_date or "",
            one.nationality or "",
            " ".join(filter(None, (one.doc_type, one.doc_number))),
        )
        for number, one in enumerate(ticket.passengers, 1)
    ]
    heads = ["#", "traveller", "born", "country", "document"]
    filled = [place for place in range(len(heads)) if any(row[place] for row in people)]
    if people:
        print_table(
            [heads[i] for i in filled], [[row[i] for i in filled] for row in people], right=("#",)
        )


def next_of(record: WithActions) -> str:
    """Return the next actions, one a line."""
    return "\n".join(
        f"{one.name}{'' if one.is_mandatory else ' (optional)'}{_until(one.time_limit)}"
        for one in record.next_actions()
    )


def name_of(record: Booking | Ticket) -> str:
    """Return a booking's or ticket's description for a question."""
    if isinstance(record, Booking):
        tickets = count(record.ticket_count, "ticket")
        return f"booking {record.booking_reference} with its {tickets}"
    return f"ticket {record.ticket_number or record.id}"


def _crossings(ticket: Ticket) -> list[tuple[str, str]]:
    ways = (ticket.availability.outward, ticket.availability.return_)
    return [
        (name, _crossing(way.journey))
        for name, way in zip(("out", "back"), ways, strict=True)
        if way and way.journey
    ]


def _crossing(journey: TicketJourney) -> str:
    return (
        f"{journey.depart_port_name} {moment(journey.depart_at)}"
        f"\n→ {journey.arrive_port_name} {moment(journey.arrive_at)}"
    )


def _until(limit: datetime | str | None) -> str:
    shown = moment(limit)
    return f", by {shown}" if shown else ""
