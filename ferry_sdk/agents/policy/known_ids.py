"""Remember which sailings, bookings and tickets a toolkit has shown.

A write accepts only these ids. The last `REMEMBERED` of each kind are kept; older ones have to be
shown again.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, is_dataclass
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, Literal, TypeVar, cast

from pydantic import BaseModel, PlainSerializer
from pydantic_core import to_jsonable_python

from ferry_sdk.agents.policy.answers import RefusedError
from ferry_sdk.agents.policy.state import State, Table
from ferry_sdk.agents.tools.sanitize import clean_text
from ferry_sdk.agents.tools.trip_tools import TripsTable
from ferry_sdk.models.availability import Availability, Tariff
from ferry_sdk.models.bookings import Booking, BookingConfirmation, BookingCreated
from ferry_sdk.models.records import Records
from ferry_sdk.models.tickets import Ticket
from ferry_sdk.planning.trips import Trip, ways_of

T = TypeVar("T")

REMEMBERED = 10_000
"""How many sailings, bookings and tickets are remembered, of each kind."""
_PERSONAL = ("in_board", "vehicle", "meals", "animals")
"""The fields of a sailing that depend on the travellers; they are not stored."""
_TariffKey = tuple[str, bool, int, Decimal, str]
_MAX_LENGTH = 60
_SERIES = 4
"""Letters at the beginning of the ids of offers, which are those of one toolkit or state."""
_LETTERS = str.maketrans("0123456789abcdef", "bcdfghjkmnpqrstv")  # no id is a number or a word


def _without_personal_data(value: object) -> Any:  # noqa: ANN401 -- any JSON
    """Return the known fields of a record as JSON, without `_PERSONAL`."""
    if isinstance(value, tuple):
        return [_without_personal_data(part) for part in cast("tuple[object, ...]", value)]
    if not isinstance(value, BaseModel) and not is_dataclass(value):
        return to_jsonable_python(value)
    names = type(value).model_fields if isinstance(value, BaseModel) else value.__dataclass_fields__
    kept = [name for name in names if name not in _PERSONAL]
    return {name: _without_personal_data(getattr(value, name)) for name in kept}


@dataclass(frozen=True, slots=True)
class KnownSailing:
    """A sailing as a search showed it.

    Attributes:
        sailing: The record of the search.
        question: A hash of the search parameters that prices depend on.
        vehicle_code: The code of the vehicle that the search was for, if any.
        party: The types of the travellers that it was for.
    """

    sailing: Annotated[Availability, PlainSerializer(_without_personal_data)] = field(repr=False)
    question: str = field(repr=False)
    vehicle_code: str | None
    party: tuple[str, ...] = field(default=(), repr=False)

    @property
    def sailing_key(self) -> str:
        """Identify the sailing in every search; its id differs from search to search."""
        sailing = self.sailing
        ports = f"{sailing.depart_code} {sailing.arrive_code}"
        return f"{sailing.company.id} {ports} {sailing.depart_at.isoformat()}"

    @property
    def price_key(self) -> str:
        """Identify the sailing among those of searches with the same parameters."""
        return f"{self.question} {self.sailing_key}"

    def tariff_key(self, tariff: Tariff) -> _TariffKey:
        """Return the kind of a tariff, its rank among that kind, and its price."""
        kind = tariff.type, tariff.roundtrip_locked
        others = self.sailing.tariffs
        alike = [other.id for other in others if (other.type, other.roundtrip_locked) == kind]
        return *kind, alike.index(tariff.id), tariff.amount, tariff.currency


@dataclass(frozen=True, slots=True)
class KnownRecord:
    """A booking or a ticket that was shown, described for a person.

    `booking_id` is the booking of a ticket, if it is known; `tickets` are the ids of a booking's
    tickets, once it was read.
    """

    description: str
    booking_id: str | None = None
    tickets: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class KnownTrip:
    """A trip that was shown as an offer, with the ids of each way's places by the letters shown."""

    trip: Annotated[Trip, PlainSerializer(_without_personal_data)]
    places: tuple[Mapping[str, str], ...]


class KnownIds:
    """Remember what was shown; safe to share between threads.

    Attributes:
        sailings: The sailings of searches, by their ids.
        trips: The trips that were shown as offers, by the ids of these.
    """

    def __init__(self, state: State) -> None:
        self._state = state
        self.sailings: Table[KnownSailing] = state.table("offers", KnownSailing, REMEMBERED)
        self.trips: Table[KnownTrip] = state.table("trips", KnownTrip, REMEMBERED)
        self._prices = state.table("prices", frozenset[_TariffKey], REMEMBERED)
        self._bookings = state.table("bookings", KnownRecord, REMEMBERED)
        self._tickets = state.table("tickets", KnownRecord, REMEMBERED)
        self._numbers = state.table("numbers", int)

    def remember_trips(
        self, trips: Sequence[Trip], arguments: Mapping[str, Any], table: TripsTable, limit: int
    ) -> list[str]:
        """Show the first trips in a table, and remember them as offers with new ids.

        The prices of the others are remembered, too.
        """
        offers: list[str] = []
        shown = {sailing.id for trip in trips[:limit] for sailing in ways_of(trip)}
        sailings = {sailing.id: sailing for trip in trips for sailing in ways_of(trip)}
        series = self._state.fingerprint("offers")[:_SERIES].translate(_LETTERS)
        with self._state.transaction():
            self._remember_sailings(sailings.values(), arguments, shown)
            for trip in trips[:limit]:
                self._numbers["offers"] = number = self._numbers.get("offers", 0) + 1
                offer = f"{series}{number}"
                self.trips[offer] = KnownTrip(trip, table.add(offer, trip))
                offers.append(offer)
        return offers

    def has_current_price(self, known_sailing: KnownSailing, tariff: Tariff) -> bool:
        """Return False if a later search with the same parameters showed another price."""
        latest = self._prices.get(known_sailing.price_key)
        return latest is None or known_sailing.tariff_key(tariff) in latest

    def record(self, name: Literal["booking_id", "ticket_id"], value: str) -> KnownRecord | None:
        """Return the booking or ticket with this id, if it is remembered."""
        return (self._bookings if name == "booking_id" else self._tickets).get(value)

    def remember_booking(self, booking_id: str, description: str) -> None:
        """Remember a booking that was made, and not read."""
        self._bookings[booking_id] = KnownRecord(f"booking ({description})")

    def booking_of(self, ticket_id: str) -> tuple[str, tuple[str, ...]] | None:
        """Return the id of a ticket's booking and of all its tickets, if they are remembered."""
        ticket = self.record("ticket_id", ticket_id)
        if ticket is None or ticket.booking_id is None:
            return None
        booking = self.record("booking_id", ticket.booking_id)
        return (ticket.booking_id, booking.tickets) if booking and booking.tickets else None

    def remember(
        self, result: object, arguments: Mapping[str, Any], shown: Mapping[str, Any] | None = None
    ) -> None:
        """Remember the records of a result, of a list only those in the view that was `shown`."""
        with self._state.transaction():
            if isinstance(result, Records):
                records = cast("Records[object]", result)
                sailings = [record for record in records if isinstance(record, Availability)]
                ids = None if shown is None else {item.get("id") for item in shown["items"]}
                self._remember_sailings(sailings, arguments, ids)
            elif isinstance(result, BookingCreated):
                description = f"booking {quote(result.booking_reference)}"
                self._bookings[result.booking_id] = KnownRecord(description)
            elif isinstance(result, Booking):
                crossings = "; ".join(filter(None, map(_describe_sailings, result.tickets)))
                description = f"booking {quote(result.booking_reference)} ({crossings})"
                tickets = tuple(ticket.id for ticket in result.tickets)
                self._bookings[result.booking_id] = KnownRecord(description, tickets=tickets)
                for ticket in result.tickets:
                    self._remember_ticket(ticket, result.booking_id)
            elif isinstance(result, BookingConfirmation) and result.ticket_id not in self._tickets:
                description = f"ticket {quote(result.ticket_number or result.ticket_id)}"
                self._tickets[result.ticket_id] = KnownRecord(description, result.booking_id)
            elif isinstance(result, Ticket):
                self._remember_ticket(result, None)

    def _remember_sailings(
        self,
        sailings: Collection[Availability],
        arguments: Mapping[str, Any],
        shown: Collection[str] | None,
    ) -> None:
        """Remember the prices of sailings that a search has found, and those that were shown."""
        vehicle, party = arguments.get("vehicle"), arguments.get("passengers", ())
        code = None if vehicle is None else vehicle.code
        who = [(each.type, each.gender, each.age) for each in party]
        has_return = any(arguments.get(name) is not None for name in ("back", "ret_journey_id"))
        question = self._state.fingerprint(who, code, has_return)
        types = tuple(str(each.type) for each in party)
        for sailing in sailings:
            seen = KnownSailing(sailing, question, code, types)
            if shown is None or sailing.id in shown:
                self.sailings[sailing.id] = seen
            self._prices[seen.price_key] = frozenset(map(seen.tariff_key, sailing.tariffs))

    def _remember_ticket(self, ticket: Ticket, booking_id: str | None) -> None:
        earlier = self._tickets.get(ticket.id)
        number = quote(ticket.ticket_number or ticket.id)
        self._tickets[ticket.id] = KnownRecord(
            f"ticket {number} ({_describe_sailings(ticket)})",
            booking_id or (earlier.booking_id if earlier else None),
        )


def require(shown: T | None, what: str, field: str) -> T:
    """Return what was shown, if it is remembered.

    Raises:
        RefusedError: It is not; `field` is the argument with its id.
    """
    if shown is None:
        raise RefusedError("unseen_id", what, field=field)
    return shown


def describe_sailing(sailing: Availability) -> str:
    """Describe a sailing for a person."""
    crossing = _describe_crossing(sailing.depart_name, sailing.arrive_name, sailing.depart_at)
    return f"{crossing}, {quote(sailing.company.name)}"


def _describe_sailings(ticket: Ticket) -> str:
    legs = (ticket.availability.outward, ticket.availability.return_)
    crossings = "; ".join(
        _describe_crossing(journey.depart_port_name, journey.arrive_port_name, journey.depart_at)
        for leg in legs
        if leg and (journey := leg.journey)
    )
    return f"{crossings}; {count_travellers(ticket.passengers)}"


def count_travellers(passengers: Sequence[object]) -> str:
    """Return the number of travellers, for a person."""
    return f"{len(passengers)} traveller{'' if len(passengers) == 1 else 's'}"


def _describe_crossing(depart: str, arrive: str, moment: datetime | str) -> str:
    time = f"{moment:%Y-%m-%d %H:%M}" if isinstance(moment, datetime) else quote(moment)
    return f"{quote(depart)} to {quote(arrive)}, {time}"


def quote(text: str, longest: int = _MAX_LENGTH) -> str:
    """Put an untrusted text in quotes that it cannot end, cut to a length."""
    return '"' + clean_text(text, longest).replace('"', "'") + '"'
