"""HTML cards and tables of records in a notebook.

They show no more than the repr of a record, except for the QR code of a ticket. Records load this
module when they are displayed, so it imports none of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields as fields_of
from decimal import Decimal
from itertools import islice
from operator import attrgetter
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
    names = [kind.__name__ for kind in type(record).__mro__]
    own = next((_CARDS[name] for name in names if name in _CARDS), None)
    return own(record) if own else card(names[0], facts(_fields(record)))


def _sailing_card(sailing: Availability) -> Markup:
    tariffs: list[tuple[object, ...]] = []
    for tariff in sailing.tariffs:
        price = money(tariff.amount, tariff.currency)
        condition = "only as a round trip" if tariff.roundtrip_locked else ""
        tariffs.append((tariff.type, price, tariff.expiration_date, condition))
    places = map(attrgetter("name", "type", "capacity", "count", "use"), sailing.places)
    tables = (
        table(["Tariff", "Price", "Holds until", "Condition"], tariffs),
        table(["Place", "Type", "For", "Left", "Use"], places),
    )
    of_sailing = [
        ("Leaves", sailing.depart_at),
        ("Arrives", sailing.arrive_at),
        ("Takes", sailing.travel_time),
        ("Ship", f"{sailing.ship_name}, {sailing.company.name}"),
        *([("Calls at", calls_at(sailing))] if sailing.stops else []),
    ]
    route = f"{sailing.depart_name} → {sailing.arrive_name}"
    badges = [*filter(None, [sailing.direction]), *(["open ticket"] if sailing.is_open else [])]
    return card(route, facts(of_sailing), side_by_side(*tables), badges=badges)


def _booking_created_card(
    booking: Booking | BookingCreated, *parts: Markup, more: Sequence[tuple[str, object]] = ()
) -> Markup:
    total = money(booking.total_price, booking.currency)
    of_booking = facts([("Id", booking.booking_id), ("Total", total), *more])
    actions = _next_actions(booking.next_actions())
    title = f"Booking {booking.booking_reference}"
    return card(title, of_booking, *parts, actions, badges=[booking.stage])


def _booking_card(booking: Booking) -> Markup:
    tickets = (
        (ticket.ticket_number, ticket.direction, ticket.status, len(ticket.passengers))
        for ticket in booking.tickets
    )
    listed = table(["Ticket", "Direction", "Status", "Travellers"], tickets)
    more = [("Payment", booking.payment_status), ("Expires", booking.expire_at)]
    return _booking_created_card(booking, listed, more=more)


def _ticket_card(ticket: Ticket) -> Markup:
    ways = (ticket.availability.outward, ticket.availability.return_)
    names = ("depart_port_name", "arrive_port_name", "depart_at", "arrive_at", "duration")
    crossings = (attrgetter(*names)(way.journey) for way in ways if way and way.journey)
    vehicle = ticket.vehicle
    of_ticket = [
        ("Id", ticket.id),
        ("Direction", ticket.direction),
        ("Boarding", ticket.boarding_time),
        ("Travellers", len(ticket.passengers)),
        *([("Vehicle", f"{vehicle.brand_name} {vehicle.model}")] if vehicle else []),
        ("Voucher", link(ticket.pdf_url, "PDF") if ticket.pdf_url else "not there yet"),
    ]
    code = [image(ticket.qr_code, "QR code")] if ticket.qr_code else []
    title = f"Ticket {ticket.ticket_number or 'without a number'}"
    listed = table(["From", "To", "Leaves", "Arrives", "Takes"], crossings)
    return card(title, side_by_side(facts(of_ticket), *code), listed, badges=[ticket.status])


def table_of(records: Records[object]) -> Markup | None:
    """Return a table of the first records; None for values that are not records."""
    if not records:
        return plain(note("No records."), *_unreadable(records))
    some = models_of(islice(records, _ROWS))
    if not some:
        return None
    sailings = sailings_of(some)
    rows = _sailings(sailings) if sailings else _columns([dict(_fields(record)) for record in some])
    left = len(records) - len(some)
    more = [note(f"{left} more of {len(records)}.")] if left else []
    return plain(rows, *more, *_unreadable(records))


def match_card(match: Any) -> Markup:  # noqa: ANN401 -- any dataclass
    """Return the card of one dataclass, with the values of its row in `matches_table`."""
    return card(type(match).__name__, facts(_members(match)))


def travellers_card(party: Travellers) -> Markup:
    """Return the card of a party: how many it has and of which types, and no other data."""
    rows = enumerate((traveller.type or "by age" for traveller in party), 1)
    bands = f"infants are below {party.bands.infant}, children below {party.bands.child}"
    listed = table(["Traveller", "Type"], islice(rows, _ROWS))
    hidden = note(f"By age: {bands}. Names, dates and documents are not shown.")
    return card(f"Travellers: {len(party)}", listed, hidden)


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
    more = [note(f"{len(matches) - _ROWS} more of {len(matches)}.")] if len(matches) > _ROWS else []
    return plain(_columns(rows), *more, *notes)


def _members(match: Any) -> Iterator[tuple[str, object]]:  # noqa: ANN401 -- any dataclass
    for field in fields_of(match):
        value = getattr(match, field.name)
        if isinstance(value, BaseModel):
            yield from _fields(cast("Model", value))
        elif isinstance(value, Mapping):
            members = cast("Mapping[str, Sequence[str]]", value).items()
            yield field.name, "; ".join(f"{name} {', '.join(values)}" for name, values in members)
        else:
            is_list = isinstance(value, tuple)
            yield field.name, ", ".join(cast("tuple[str, ...]", value)) if is_list else value


def _sailings(sailings: Sequence[Availability]) -> Markup:
    rows: list[tuple[object, ...]] = []
    for sailing in sailings:
        ticket = cheapest_ticket(sailing)
        price = money(ticket.amount, ticket.currency) if ticket else ""
        way = f"{sailing.depart_name} → {sailing.arrive_name}", sailing.depart_at
        ship = f"{sailing.ship_name}, {sailing.company.name}"
        end = sailing.arrive_at, sailing.direction
        rows.append((*way, sailing.travel_time, price, ship, *end))
    head = ["Route", "Leaves", "Takes", "Ticket from", "Ship", "Arrives", "Direction"]
    return table(head, rows)


def _columns(rows: Sequence[Mapping[str, object]]) -> Markup:
    """Return a table of the members that any row has a value of."""
    names = [name for name in rows[0] if any(row.get(name) is not None for row in rows)]
    return table(names, ([row.get(name) for name in names] for row in rows))


def _fields(record: Model) -> Iterator[tuple[str, object]]:
    fee: Model | None = getattr(record, "previewed", None)
    currency: str | None = getattr(fee or record, "currency", None)
    for name, value in record.__repr_args__():
        if fee is not None and value is fee:
            yield from ((f"previewed {part}", shown) for part, shown in _fields(fee))
        elif name is not None:
            yield name, money(value, currency) if isinstance(value, Decimal) and currency else value


def _unreadable(records: Records[object]) -> list[Markup]:
    lost = len(records.unreadable)
    return [note(f"{lost} could not be read; see .unreadable.")] if lost else []


def _next_actions(actions: Sequence[NextAction]) -> Markup:
    if not actions:
        return note("Nothing more to do.")
    rows = ((action.name, action.action.type, action.time_limit) for action in actions)
    return table(["Next", "Kind", "Until"], rows)


_CARDS: Final[Mapping[str, Callable[[Any], Markup]]] = {
    "Availability": _sailing_card,
    "Booking": _booking_card,
    "BookingCreated": _booking_created_card,
    "Ticket": _ticket_card,
}
"""The cards of records, by the names of their classes, which are not imported here."""
