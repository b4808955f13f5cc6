"""Remember which sailings, bookings and tickets a toolkit has shown.

A write accepts only these ids. The last `REMEMBERED` of each kind are kept; older ones have to be
shown again.

For example, a search for two adults shows the sailing ``a-1`` at 12.32 EUR. It is remembered with a
hash of what the price depends on, the `question`. A later search for two adults gives the same
sailing another id, ``a-7``, and shows it at 13.00 EUR. A booking of ``a-1`` is then refused,
because the question and the sailing are the same and the price is not. A search for a family asks
another question, and leaves the price of ``a-1`` as it is.
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
    if isinstance(value, BaseModel):
        names = [*type(value).model_fields]
    elif is_dataclass(value):
        names = [*value.__dataclass_fields__]
    else:
        return to_jsonable_python(value)
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
        kind = (tariff.type, tariff.roundtrip_locked)
        ids_of_kind = [
            other.id
            for other in self.sailing.tariffs
            if (other.type, other.roundtrip_locked) == kind
        ]
        rank = ids_of_kind.index(tariff.id)
        return tariff.type, tariff.roundtrip_locked, rank, tariff.amount, tariff.currency


@dataclass(frozen=True, slots=True)
class KnownRecord:
    """A booking or a ticket that was shown.

    Attributes:
        description: What it is, for a person.
        booking_id: The booking of a ticket, if it is known.
        tickets: The ids of a booking's tickets, once it was read.
    """

    description: str
    booking_id: str | None = None
    tickets: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class KnownTrip:
    """A trip that was shown as an offer.

    Attributes:
        trip: The trip.
        places: The ids of each way's places by the letters shown.
    """

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
        sailings = _sailings_of(trips)
        shown = _sailings_of(trips[:limit]).keys()
        series = self._state.fingerprint("offers")[:_SERIES].translate(_LETTERS)

        offers: list[str] = []
        with self._state.transaction():
            self._remember_sailings(sailings.values(), arguments, shown)
            for trip in trips[:limit]:
                number = self._numbers.get("offers", 0) + 1
                self._numbers["offers"] = number
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
        records = self._bookings if name == "booking_id" else self._tickets
        return records.get(value)

    def remember_booking(self, booking_id: str, description: str) -> None:
        """Remember a booking that was made, and not read."""
        self._bookings[booking_id] = KnownRecord(f"booking ({description})")

    def booking_of(self, ticket_id: str) -> tuple[str, tuple[str, ...]] | None:
        """Return the id of a ticket's booking and of all its tickets, if they are remembered."""
        ticket = self.record("ticket_id", ticket_id)
        if ticket is None or ticket.booking_id is None:
            return None
        booking = self.record("booking_id", ticket.booking_id)
        if booking is None or not booking.tickets:
            return None
        return ticket.booking_id, booking.tickets

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
                self._remember_booking(result)

            elif isinstance(result, BookingConfirmation) and result.ticket_id not in self._tickets:
                description = f"ticket {quote(result.ticket_number or result.ticket_id)}"
                self._tickets[result.ticket_id] = KnownRecord(description, result.booking_id)
            elif isinstance(result, Ticket):
                self._remember_ticket(result, None)

    def _remember_booking(self, booking: Booking) -> None:
        crossings = "; ".join(_describe_sailings(ticket) for ticket in booking.tickets)
        self._bookings[booking.booking_id] = KnownRecord(
            f"booking {quote(booking.booking_reference)} ({crossings})",
            tickets=tuple(ticket.id for ticket in booking.tickets),
        )
        for ticket in booking.tickets:
            self._remember_ticket(ticket, booking.booking_id)

    def _remember_sailings(
        self,
        sailings: Collection[Availability],
        arguments: Mapping[str, Any],
        shown: Collection[str] | None,
    ) -> None:
        """Remember the prices of sailings that a search has found, and those that were shown."""
        vehicle = arguments.get("vehicle")
        vehicle_code = None if vehicle is None else vehicle.code
        party = arguments.get("passengers", ())
        who = [(passenger.type, passenger.gender, passenger.age) for passenger in party]
        has_return = any(arguments.get(name) is not None for name in ("back", "ret_journey_id"))
        question = self._state.fingerprint(who, vehicle_code, has_return)

        types = tuple(str(passenger.type) for passenger in party)
        for sailing in sailings:
            known = KnownSailing(sailing, question, vehicle_code, party=types)
            if shown is None or sailing.id in shown:
                self.sailings[sailing.id] = known
            prices = frozenset(known.tariff_key(tariff) for tariff in sailing.tariffs)
            self._prices[known.price_key] = prices

    def _remember_ticket(self, ticket: Ticket, booking_id: str | None) -> None:
        earlier = self._tickets.get(ticket.id)
        # A ticket does not name its booking, but the booking was perhaps read earlier.
        known_booking = None if earlier is None else earlier.booking_id

        number = quote(ticket.ticket_number or ticket.id)
        description = f"ticket {number} ({_describe_sailings(ticket)})"
        self._tickets[ticket.id] = KnownRecord(description, booking_id or known_booking)


def _sailings_of(trips: Sequence[Trip]) -> dict[str, Availability]:
    """Return the sailings of all ways of trips, by their ids."""
    sailings: dict[str, Availability] = {}
    for trip in trips:
        for sailing in ways_of(trip):
            sailings[sailing.id] = sailing
    return sailings


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
    journeys = [leg.journey for leg in legs if leg is not None and leg.journey is not None]
    crossings = [
        _describe_crossing(journey.depart_port_name, journey.arrive_port_name, journey.depart_at)
        for journey in journeys
    ]
    return f"{'; '.join(crossings)}; {count_travellers(ticket.passengers)}"


def count_travellers(passengers: Sequence[object]) -> str:
    """Return the number of travellers, for a person."""
    return "1 traveller" if len(passengers) == 1 else f"{len(passengers)} travellers"


def _describe_crossing(depart: str, arrive: str, moment: datetime | str) -> str:
    time = f"{moment:%Y-%m-%d %H:%M}" if isinstance(moment, datetime) else quote(moment)
    return f"{quote(depart)} to {quote(arrive)}, {time}"


def quote(text: str, longest: int = _MAX_LENGTH) -> str:
    """Put an untrusted text in quotes that it cannot end, cut to a length."""
    return '"' + clean_text(text, longest).replace('"', "'") + '"'
