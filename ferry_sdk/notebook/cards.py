"""HTML cards and tables of records in a notebook.

They show no more than the repr of a record, except for the QR code of a ticket. Records load this
module when they are displayed, so it imports none of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields as fields_of
from decimal import Decimal
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, cast

from pydantic import BaseModel

from ferry_sdk._runtime.money import money
from ferry_sdk.notebook.html import (
    Markup,
    card,
    facts,
    image,
    link,
    note,
    plain,
    side_by_side,
    table,
)
from ferry_sdk.notebook.records import calls_at, cheapest_ticket, models_of, sailings_of

if TYPE_CHECKING:
    from ferry_sdk.models.availability import Availability
    from ferry_sdk.models.base import Model
    from ferry_sdk.models.bookings import Booking, BookingCreated, NextAction
    from ferry_sdk.models.records import Records
    from ferry_sdk.models.tickets import Ticket
    from ferry_sdk.models.travellers import Travellers

_ROWS: Final = 30


def card_of(record: Model) -> Markup:
    """Return the card of a record: its own, or a generic one with the fields of its repr."""
    for kind in type(record).__mro__:
        own_card = _CARDS.get(kind.__name__)
        if own_card is not None:
            return own_card(record)
    return card(type(record).__name__, facts(_fields(record)))


def _sailing_card(sailing: Availability) -> Markup:
    voyage: list[tuple[str, object]] = [
        ("Leaves", sailing.depart_at),
        ("Arrives", sailing.arrive_at),
        ("Takes", sailing.travel_time),
        ("Ship", f"{sailing.ship_name}, {sailing.company.name}"),
    ]
    if sailing.stops:
        voyage.append(("Calls at", calls_at(sailing)))

    badges: list[str] = []
    if sailing.direction:
        badges.append(sailing.direction)
    if sailing.is_open:
        badges.append("open ticket")

    route = f"{sailing.depart_name} → {sailing.arrive_name}"
    offers = side_by_side(_tariffs(sailing), _places(sailing))
    return card(route, facts(voyage), offers, badges=badges)


def _tariffs(sailing: Availability) -> Markup:
    rows: list[tuple[object, ...]] = []
    for tariff in sailing.tariffs:
        price = money(tariff.amount, tariff.currency)
        condition = "only as a round trip" if tariff.roundtrip_locked else ""
        rows.append((tariff.type, price, tariff.expiration_date, condition))
    return table(["Tariff", "Price", "Holds until", "Condition"], rows)


def _places(sailing: Availability) -> Markup:
    rows = [
        (place.name, place.type, place.capacity, place.count, place.use) for place in sailing.places
    ]
    return table(["Place", "Type", "For", "Left", "Use"], rows)


def _booking_created_card(booking: BookingCreated) -> Markup:
    return _booking_base_card(booking)


def _booking_card(booking: Booking) -> Markup:
    rows = [
        (ticket.ticket_number, ticket.direction, ticket.status, len(ticket.passengers))
        for ticket in booking.tickets
    ]
    tickets = table(["Ticket", "Direction", "Status", "Travellers"], rows)
    more = [("Payment", booking.payment_status), ("Expires", booking.expire_at)]
    return _booking_base_card(booking, tickets, more=more)


def _booking_base_card(
    booking: Booking | BookingCreated, *parts: Markup, more: Sequence[tuple[str, object]] = ()
) -> Markup:
    """Return the card of a booking, with more names and values, and parts below them."""
    total = money(booking.total_price, booking.currency)
    return card(
        f"Booking {booking.booking_reference}",
        facts([("Id", booking.booking_id), ("Total", total), *more]),
        *parts,
        _next_actions(booking.next_actions()),
        badges=[booking.stage],
    )


def _ticket_card(ticket: Ticket) -> Markup:
    pairs: list[tuple[str, object]] = [
        ("Id", ticket.id),
        ("Direction", ticket.direction),
        ("Boarding", ticket.boarding_time),
        ("Travellers", len(ticket.passengers)),
    ]
    if ticket.vehicle:
        pairs.append(("Vehicle", f"{ticket.vehicle.brand_name} {ticket.vehicle.model}"))
    voucher = link(ticket.pdf_url, "PDF") if ticket.pdf_url else "not there yet"
    pairs.append(("Voucher", voucher))

    head = [facts(pairs)]
    if ticket.qr_code:
        head.append(image(ticket.qr_code, "QR code"))
    title = f"Ticket {ticket.ticket_number or 'without a number'}"
    return card(title, side_by_side(*head), _crossings(ticket), badges=[ticket.status])


def _crossings(ticket: Ticket) -> Markup:
    ways = (ticket.availability.outward, ticket.availability.return_)
    journeys = [way.journey for way in ways if way and way.journey]
    rows = [
        (
            journey.depart_port_name,
            journey.arrive_port_name,
            journey.depart_at,
            journey.arrive_at,
            journey.duration,
        )
        for journey in journeys
    ]
    return table(["From", "To", "Leaves", "Arrives", "Takes"], rows)


def table_of(records: Records[object]) -> Markup | None:
    """Return a table of the first records; None for values that are not records."""
    if not records:
        return plain(note("No records."), *_unreadable(records))
    shown = models_of(islice(records, _ROWS))
    if not shown:
        return None

    sailings = sailings_of(shown)
    if sailings:
        rows = _sailings(sailings)
    else:
        rows = _columns([dict(_fields(record)) for record in shown])
    return plain(rows, *_more(len(records), len(shown)), *_unreadable(records))


def _more(count: int, shown: int) -> list[Markup]:
    """Return a note of how many rows a table does not show; empty if it shows all."""
    if count <= shown:
        return []
    return [note(f"{count - shown} more of {count}.")]


def match_card(match: Any) -> Markup:  # noqa: ANN401 -- any dataclass
    """Return the card of one dataclass, with the values of its row in `matches_table`."""
    return card(type(match).__name__, facts(_members(match)))


def travellers_card(party: Travellers) -> Markup:
    """Return the card of a party: how many it has and of which types, and no other data."""
    rows = [
        (number, traveller.type or "by age")
        for number, traveller in enumerate(islice(party, _ROWS), 1)
    ]
    bands = f"infants are below {party.bands.infant}, children below {party.bands.child}"
    return card(
        f"Travellers: {len(party)}",
        table(["Traveller", "Type"], rows),
        note(f"By age: {bands}. Names, dates and documents are not shown."),
    )


def matches_table(matches: Sequence[Any], unreadable: str) -> Markup:
    """Return a table of dataclasses; a record in one gives a column for each of its fields.

    Args:
        matches: The dataclasses.
        unreadable: What could not be read, in words; empty: nothing.
    """
    notes = [note(f"{unreadable}; see .unreadable.")] if unreadable else []
    if not matches:
        return plain(note("Nothing found."), *notes)
    rows = [dict(_members(match)) for match in matches[:_ROWS]]
    return plain(_columns(rows), *_more(len(matches), len(rows)), *notes)


def _members(match: Any) -> Iterator[tuple[str, object]]:  # noqa: ANN401 -- any dataclass
    for field in fields_of(match):
        value = getattr(match, field.name)
        if isinstance(value, BaseModel):
            yield from _fields(cast("Model", value))
        elif isinstance(value, Mapping):
            members = cast("Mapping[str, Sequence[str]]", value).items()
            yield field.name, "; ".join(f"{name} {', '.join(values)}" for name, values in members)
        elif isinstance(value, tuple):
            yield field.name, ", ".join(cast("tuple[str, ...]", value))
        else:
            yield field.name, value


def _sailings(sailings: Sequence[Availability]) -> Markup:
    rows: list[tuple[object, ...]] = []
    for sailing in sailings:
        ticket = cheapest_ticket(sailing)
        price = money(ticket.amount, ticket.currency) if ticket else ""
        rows.append(
            (
                f"{sailing.depart_name} → {sailing.arrive_name}",
                sailing.depart_at,
                sailing.travel_time,
                price,
                f"{sailing.ship_name}, {sailing.company.name}",
                sailing.arrive_at,
                sailing.direction,
            )
        )

    head = ["Route", "Leaves", "Takes", "Ticket from", "Ship", "Arrives", "Direction"]
    return table(head, rows)


def _columns(rows: Sequence[Mapping[str, object]]) -> Markup:
    """Return a table of the members that any row has a value of."""

    def has_value(name: str) -> bool:
        return any(row.get(name) is not None for row in rows)

    names = [name for name in rows[0] if has_value(name)]
    cells = [[row.get(name) for name in names] for row in rows]
    return table(names, cells)


def _fields(record: Model) -> Iterator[tuple[str, object]]:
    """Yield the fields of the repr, with amounts as money.

    A cancellation has the fee that was previewed, as a record of its own: its fields follow in
    place of it, and its currency is that of both.
    """
    fee: Model | None = getattr(record, "previewed", None)
    currency: str | None = getattr(fee or record, "currency", None)
    for name, value in record.__repr_args__():
        if fee is not None and value is fee:
            for fee_name, fee_value in _fields(fee):
                yield f"previewed {fee_name}", fee_value
        elif name is not None and isinstance(value, Decimal) and currency:
            yield name, money(value, currency)
        elif name is not None:
            yield name, value


def _unreadable(records: Records[object]) -> list[Markup]:
    """Return a note of how many records could not be read; empty if all could."""
    count = len(records.unreadable)
    if not count:
        return []
    return [note(f"{count} could not be read; see .unreadable.")]


def _next_actions(actions: Sequence[NextAction]) -> Markup:
    if not actions:
        return note("Nothing more to do.")
    rows = [(action.name, action.action.type, action.time_limit) for action in actions]
    return table(["Next", "Kind", "Until"], rows)


_CARDS: Final[Mapping[str, Callable[[Any], Markup]]] = {
    "Availability": _sailing_card,
    "Booking": _booking_card,
    "BookingCreated": _booking_created_card,
    "Ticket": _ticket_card,
}
"""The cards of records, by the names of their classes, which are not imported here."""
