"""`ferry show`: read a booking or a ticket, by its id or by what people call it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Annotated, Final

import typer

from ferry_sdk._runtime.money import money
from ferry_sdk.cli.lookup import MOST_READS, has_number, read_bookings
from ferry_sdk.cli.terminal.errors import CommandError, error_fields, exit_code_of
from ferry_sdk.cli.terminal.options import Common, OptionalJournalUrl, open_journal
from ferry_sdk.cli.terminal.output import (
    Details,
    count,
    moment,
    next_of,
    print_details,
    print_json,
    print_table,
    say,
    show_progress,
    words,
)
from ferry_sdk.client import Ferry
from ferry_sdk.errors import (
    APIError,
    BadRequestError,
    FerryError,
    NotFoundError,
    UnprocessableEntityError,
)
from ferry_sdk.models.bookings import Booking
from ferry_sdk.models.enums import Stage
from ferry_sdk.models.tickets import CancellationFee, Ticket

_ID = typer.Argument(metavar="ID", help="An id; with --journal a reference or ticket number too.")
_NO_SUCH_RECORD: Final = (NotFoundError, BadRequestError, UnprocessableEntityError)


def show(
    *,
    some_id: Annotated[str, _ID],
    journal: OptionalJournalUrl = None,
    common: Common,
) -> None:
    """Show a booking or a ticket with its travellers.

    With a journal, a booking's reference or a ticket's number will do: the newest bookings on
    record are read until one has it.
    """
    with common.open_client() as ferry, show_progress("Reading"):
        record = _record_by_any_name(ferry, some_id, journal)
        fee = _fee_of_cancelled(ferry, record)

    if common.as_json:
        print_json(_document(record, fee))
    elif isinstance(record, Booking):
        _print_booking(record, fee)
    else:
        _print_ticket(record)


def _record_by_any_name(ferry: Ferry, name: str, journal: str | None) -> Booking | Ticket:
    """Return the record with this id, or the booking on record with this reference or number.

    Raises:
        APIError: There is none; the error is that of the read by id.
        CommandError: There is none, and bookings on record were read.
    """
    try:
        return record_of(ferry, name)
    except _NO_SUCH_RECORD as error:
        if journal is None:
            raise
        with open_journal(journal) as record:
            ids = record.newest_bookings(since=None, limit=MOST_READS)
        number = 0
        for answer in read_bookings(ferry, ids):
            if answer.value is not None:
                number += 1
                if has_number(answer.value, name):
                    return answer.value
        if not number:
            raise
        read = f"none of the newest {count(number, 'booking')} on record"
        message = f"{name}: {read} has this reference or ticket number, and it is no id"
        hint = "`ferry find` takes a beginning or a name, and reads more with --limit"
        raise CommandError(exit_code_of(error), message, hint, **error_fields(error)) from None


def record_of(ferry: Ferry, some_id: str, *, ticket_first: bool = False) -> Booking | Ticket:
    """Return the booking with this id, or else the ticket; raise APIError if neither exists.

    With `ticket_first`, the ticket is read first, and its error is the one that is raised.
    """
    read_first: Callable[[str], Booking | Ticket] = ferry.bookings.get
    read_second: Callable[[str], Booking | Ticket] = ferry.tickets.get
    if ticket_first:
        read_first, read_second = read_second, read_first
    try:
        return read_first(some_id)
    except _NO_SUCH_RECORD as error:
        try:
            return read_second(some_id)
        except APIError:
            raise error from None


def _document(record: Booking | Ticket, fee: CancellationFee | None) -> dict[str, object]:
    """Return the JSON document of a booking or a ticket."""
    if isinstance(record, Ticket):
        return {"ticket": _ticket_members(record)}
    document: dict[str, object] = {"booking": booking_members(record)}
    if fee is not None:
        document["cancellation"] = fee.model_dump(mode="json")
    return document


def booking_members(booking: Booking) -> dict[str, object]:
    """Return a booking as a JSON object."""
    tickets = [_ticket_members(ticket) for ticket in booking.tickets]
    return {**booking.model_dump(mode="json"), "tickets": tickets}


def _ticket_members(ticket: Ticket) -> dict[str, object]:
    """Return a ticket as a JSON object, with its id under the name that other records use, too."""
    return {"ticket_id": ticket.id, **ticket.model_dump(mode="json")}


def _fee_of_cancelled(ferry: Ferry, record: Booking | Ticket) -> CancellationFee | None:
    """Return what was kept and paid back of a cancelled booking; None if that is not known."""
    if isinstance(record, Booking) and record.stage == Stage.VOIDED:
        with suppress(FerryError):
            return ferry.bookings.cancel_fee(record.booking_id)
    return None


def _print_booking(booking: Booking, fee: CancellationFee | None) -> None:
    print_details(
        ("booking", booking.booking_reference),
        ("id", booking.booking_id),
        ("stage", booking.stage),
        ("total", f"{money(booking.total_price, booking.currency)}, {booking.payment_status}"),
        ("kept", fee and money(fee.penalty_amount, fee.currency)),
        ("refunded", fee and money(fee.refund_amount, fee.currency)),
        ("expires", moment(booking.expire_at)),
        ("next", next_of(booking)),
    )
    for ticket in booking.tickets:
        say("")
        _print_ticket(ticket)


def _print_ticket(ticket: Ticket) -> None:
    status = [part for part in (ticket.status, ticket.direction) if part]
    print_details(
        ("ticket", ticket.ticket_number or "not yet issued"),
        ("id", ticket.id),
        ("status", ", ".join(status)),
        *_crossings(ticket),
        ("boarding", moment(ticket.boarding_time)),
        ("vehicle", _vehicle(ticket)),
    )
    if ticket.passengers:
        heads = ("#", "traveller", "born", "country", "document")
        print_table(heads, [*_travellers(ticket)], right=("#",))


def _crossings(ticket: Ticket) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield each way with its departure and its arrival."""
    ways = {"out": ticket.availability.outward, "back": ticket.availability.return_}
    for name, way in ways.items():
        if way and (journey := way.journey):
            leaves = f"{journey.depart_port_name} {moment(journey.depart_at)}"
            arrives = f"{journey.arrive_port_name} {moment(journey.arrive_at)}"
            yield name, (leaves, f"→ {arrives}")


def details_of(record: Booking | Ticket) -> Details:
    """Return the travellers and the sailings of a record, for a question about it."""
    tickets = record.tickets if isinstance(record, Booking) else [record]
    return (("travellers", tuple(names_of(tickets))), ("sailing", tuple(sailings_of(tickets))))


def names_of(tickets: Sequence[Ticket]) -> list[str]:
    """Return the names of the travellers, each once."""
    names: list[str] = []
    for ticket in tickets:
        names += [f"{who.first_name} {who.last_name}" for who in ticket.passengers]
    return [*dict.fromkeys(names)]


def sailings_of(tickets: Sequence[Ticket]) -> Iterator[str]:
    """Yield each sailing in words."""
    for ticket in tickets:
        for way in (ticket.availability.outward, ticket.availability.return_):
            if way is not None and (journey := way.journey) is not None:
                ports = f"{journey.depart_port_name} → {journey.arrive_port_name}"
                yield f"{ports}, {moment(journey.depart_at)}"


def _vehicle(ticket: Ticket) -> str | None:
    """Return the make and model of a vehicle, or else its type or code."""
    vehicle = ticket.vehicle
    if not vehicle:
        return None
    return words(vehicle.brand_name, vehicle.model) or vehicle.type or vehicle.code


def _travellers(ticket: Ticket) -> Iterator[tuple[object, ...]]:
    """Yield a row for each traveller."""
    for number, traveller in enumerate(ticket.passengers, 1):
        yield (
            number,
            f"{traveller.first_name} {traveller.last_name}",
            traveller.birth_date,
            traveller.nationality,
            words(traveller.doc_type, traveller.doc_number),
        )
