"""Remember which sailings, bookings and tickets a toolkit has shown.

A write accepts only these ids. The last `REMEMBERED` of each kind are kept; older ones have to be
shown again.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Generic, TypeVar, cast

from ferry_sdk.agents.tools.sanitize import clean_text
from ferry_sdk.models.availability import Availability, Tariff
from ferry_sdk.models.bookings import Booking, BookingConfirmation, BookingCreated
from ferry_sdk.models.records import Records
from ferry_sdk.models.tickets import Ticket, TicketJourney

REMEMBERED = 10_000
"""How many sailings, bookings and tickets are remembered, of each kind."""
_MAX_LENGTH = 60

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Offer:
    """A sailing as a search showed it.

    Attributes:
        sailing: The record of the search.
        question: The search parameters that prices depend on.
        with_vehicle: Whether the search was for a vehicle, too.
    """

    sailing: Availability = field(repr=False)
    question: Hashable = field(repr=False)
    with_vehicle: bool

    @property
    def sailing_key(self) -> str:
        """Identify the sailing in every search; its id differs from search to search."""
        one = self.sailing
        return f"{one.company.id} {one.depart_code} {one.arrive_code} {one.depart_at.isoformat()}"

    def tariff_key(self, tariff: Tariff) -> tuple[object, ...]:
        """Return the kind of a tariff, its rank among that kind, and its price."""
        alike = [
            mine
            for mine in self.sailing.tariffs
            if (mine.type, mine.roundtrip_locked) == (tariff.type, tariff.roundtrip_locked)
        ]
        rank = [mine.id for mine in alike].index(tariff.id)
        return tariff.type, tariff.roundtrip_locked, rank, tariff.amount, tariff.currency


@dataclass(frozen=True, slots=True)
class KnownRecord:
    """A booking or a ticket that was shown.

    Attributes:
        description: The booking or ticket, described for a person.
        booking_id: The booking of a ticket, if it is known.
    """

    description: str
    booking_id: str | None = None


class _Recent(Generic[T]):
    """A dict that keeps its most recent entries."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Hashable, T] = OrderedDict()

    def put(self, key: Hashable, value: T) -> None:
        self._kept[key] = value
        self._kept.move_to_end(key)
        while len(self._kept) > REMEMBERED:
            self._kept.popitem(last=False)

    def get(self, key: Hashable) -> T | None:
        return self._kept.get(key)


class KnownIds:
    """Remember what was shown; safe to share between threads."""

    def __init__(self) -> None:
        self._offers: _Recent[Offer] = _Recent()
        self._prices: _Recent[frozenset[tuple[object, ...]]] = _Recent()
        self._bookings: _Recent[KnownRecord] = _Recent()
        self._tickets: _Recent[KnownRecord] = _Recent()
        self._lock = threading.Lock()

    def offer(self, availability_id: str) -> Offer | None:
        """Return the sailing with this id, if it is remembered."""
        with self._lock:
            return self._offers.get(availability_id)

    def has_current_price(self, offer: Offer, tariff: Tariff) -> bool:
        """Return False if a later search with the same parameters showed another price."""
        with self._lock:
            latest = self._prices.get((offer.question, offer.sailing_key))
        return latest is None or offer.tariff_key(tariff) in latest

    def booking(self, booking_id: str) -> KnownRecord | None:
        """Return the booking with this id, if it is remembered."""
        with self._lock:
            return self._bookings.get(booking_id)

    def ticket(self, ticket_id: str) -> KnownRecord | None:
        """Return the ticket with this id, if it is remembered."""
        with self._lock:
            return self._tickets.get(ticket_id)

    def remember(
        self, result: object, asked: Mapping[str, Any], shown: Mapping[str, Any] | None = None
    ) -> None:
        """Remember the records of a result.

        Args:
            result: The result of the client's method.
            asked: The arguments of the call.
            shown: The view of a list that was shown; None: all of it.
        """
        with self._lock:
            if isinstance(result, Records):
                self._remember_offers(cast("Records[object]", result), asked, shown)
            elif isinstance(result, BookingCreated):
                description = f"booking {quote(result.booking_reference)}"
                self._bookings.put(result.booking_id, KnownRecord(description))
            elif isinstance(result, Booking):
                self._remember_booking(result)
            elif isinstance(result, BookingConfirmation):
                if self._tickets.get(result.ticket_id) is None:
                    description = f"ticket {quote(result.ticket_number or result.ticket_id)}"
                    self._tickets.put(result.ticket_id, KnownRecord(description, result.booking_id))
            elif isinstance(result, Ticket):
                self._remember_ticket(result, None)

    def _remember_offers(
        self, records: Records[object], asked: Mapping[str, Any], shown: Mapping[str, Any] | None
    ) -> None:
        ids = None if shown is None else {one.get("id") for one in shown["items"]}
        for one in records:
            if isinstance(one, Availability):
                vehicle = asked.get("vehicle")
                question = (
                    tuple((who.type, who.gender, who.age) for who in asked["passengers"]),
                    None if vehicle is None else vehicle.code,
                    asked.get("ret_journey_id") is not None,
                )
                offer = Offer(one, question, vehicle is not None)
                if ids is None or one.id in ids:
                    self._offers.put(one.id, offer)
                self._prices.put(
                    (question, offer.sailing_key), frozenset(map(offer.tariff_key, one.tariffs))
                )

    def _remember_booking(self, booking: Booking) -> None:
        crossings = "; ".join(filter(None, map(_describe_sailings, booking.tickets)))
        description = f"booking {quote(booking.booking_reference)}"
        self._bookings.put(booking.booking_id, KnownRecord(f"{description} ({crossings})"))
        for ticket in booking.tickets:
            self._remember_ticket(ticket, booking.booking_id)

    def _remember_ticket(self, ticket: Ticket, booking_id: str | None) -> None:
        known = self._tickets.get(ticket.id)
        description = (
            f"ticket {quote(ticket.ticket_number or ticket.id)} ({_describe_sailings(ticket)})"
        )
        self._tickets.put(
            ticket.id, KnownRecord(description, booking_id or (known.booking_id if known else None))
        )


def describe_sailing(sailing: Availability) -> str:
    """Describe a sailing for a person."""
    return (
        f"{quote(sailing.depart_name)} to {quote(sailing.arrive_name)}, "
        f"{_format_time(sailing.depart_at)}, {quote(sailing.company.name)}"
    )


def _describe_sailings(ticket: Ticket) -> str:
    legs = (ticket.availability.outward, ticket.availability.return_)
    travellers = len(ticket.passengers)
    crossings = "; ".join(_describe_journey(leg.journey) for leg in legs if leg and leg.journey)
    return f"{crossings}; {travellers} {'traveller' if travellers == 1 else 'travellers'}"


def _describe_journey(journey: TicketJourney) -> str:
    ports = f"{quote(journey.depart_port_name)} to {quote(journey.arrive_port_name)}"
    return f"{ports}, {_format_time(journey.depart_at)}"


def _format_time(moment: datetime | str) -> str:
    return f"{moment:%Y-%m-%d %H:%M}" if isinstance(moment, datetime) else quote(moment)


def quote(text: str) -> str:
    """Put an untrusted text in quotes that it cannot end."""
    return '"' + clean_text(text, _MAX_LENGTH).replace('"', "'") + '"'
