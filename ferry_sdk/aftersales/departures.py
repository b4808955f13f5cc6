"""The departures of a booking: which reminder is given when, and when the booking is read.

A lead is the time from a reminder until the departure. The event ``departed`` is the reminder whose
lead is zero. For a watch until departure:

1. `sailings_of` returns a `Sailing` for each crossing that somebody travels on. It has the moment
   of departure, and the lead of the last reminder.
2. Of the leads that have begun, only the shortest counts (`Sailing.lead_at`). It is given unless it
   was given before. So each reminder is given once, late rather than never, and none after
   ``departed``.
3. If a departure moves, nothing counts as given of it.
4. A booking at rest is read once a day, when a lead begins, and more often on the last day
   (`next_read`).

For example, a ship leaves on Friday at 12:00, and the leads are a day and two hours:

| Read           | Departure in the booking | Events                            |
|----------------|--------------------------|-----------------------------------|
| Monday 9:00    | Friday 12:00             | none                              |
| Thursday 12:00 | Friday 12:00             | ``departing``, a day              |
| Thursday 13:00 | Friday 12:00             | none                              |
| Friday 10:00   | Saturday 8:00            | ``changed``, ``departing``, a day |
| Saturday 6:00  | Saturday 8:00            | ``departing``, two hours          |
| Saturday 8:00  | Saturday 8:00            | ``departed``                      |

A program that starts again on Saturday at 7:00, after two days, gives the lead of two hours alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from pydantic import TypeAdapter, ValidationError

from ferry_sdk._runtime.clock import Datetime
from ferry_sdk.models.bookings import Booking
from ferry_sdk.models.enums import Direction, Stage, TicketDirection, TicketStatus
from ferry_sdk.models.tickets import Ticket, TicketLeg

_DAY: Final = timedelta(days=1)
# The times between two reads of a booking at rest add up to fewer than 130 reads in 90 days, also
# for a round trip with several leads. A read an hour on the day of both sailings would be more.
_LONGEST_GAP: Final = _DAY
_GAP_BEFORE_A_SAILING: Final = timedelta(hours=6)
_GAP_BEFORE_THE_LAST_SAILING: Final = timedelta(hours=1)
_CLOCK_STEP: Final = timedelta(seconds=1)
"""The service tells its time in whole seconds, so that of a departure is known a second later."""

DEPARTED: Final = timedelta()
"""The lead of the event ``departed``."""
AT_REST: Final = frozenset(
    {Stage.TICKETED, Stage.PARTIALLY_VOIDED, Stage.VOIDED, Stage.LAPSED, Stage.REJECTED}
)
"""The stages in which a booking changes only if somebody acts."""
ENDED: Final = frozenset({Stage.VOIDED, Stage.LAPSED})
"""The stages after which nobody travels."""
_ISSUED: Final = frozenset({Stage.TICKETED, Stage.PARTIALLY_VOIDED})
_WITHOUT_TRAVEL: Final = frozenset(
    {TicketStatus.CANCELED, TicketStatus.FAILED, TicketStatus.EXPIRED}
)
_DIRECTIONS: Final[Mapping[str, frozenset[Direction]]] = {
    TicketDirection.OUTWARD: frozenset({Direction.OUTWARD}),
    TicketDirection.RETURN: frozenset({Direction.RETURN}),
    TicketDirection.ROUND_TRIP: frozenset({Direction.OUTWARD, Direction.RETURN}),
}


@dataclass(frozen=True, slots=True)
class Sailing:
    """A crossing of a booking, and what was given of it.

    Attributes:
        id: The ids of its ticket and direction; of the ticket alone if no departure is known.
        direction: Its direction; None if it is not known.
        departs_at: When it departs; None if the record does not say.
        reminded: The lead of the last reminder; None if there was none. If the departure is not
            known, zero means that ``not_known`` was given.
    """

    id: str
    direction: Direction | None = None
    departs_at: Datetime | None = None
    reminded: timedelta | None = None

    def lead_at(self, leads: Sequence[timedelta], at: datetime) -> timedelta | None:
        """Return the lead of the reminder to give now; None if there is none.

        Args:
            leads: All leads, the shortest first, which is `DEPARTED`.
            at: The service's time.
        """
        lead: timedelta | None = DEPARTED
        if self.departs_at is not None:
            left = self.departs_at - at
            if DEPARTED < left <= _CLOCK_STEP:
                return None  # it may have left already
            lead = next((lead for lead in leads if left <= lead), None)

        if lead is None or (self.reminded is not None and self.reminded <= lead):
            return None
        return lead

    @property
    def has_departed(self) -> bool:
        """Whether ``departed`` was given."""
        return self.departs_at is not None and self.reminded == DEPARTED


@dataclass(frozen=True, slots=True)
class StoredDepartures:
    """What a journal has of a booking that is watched until departure.

    Attributes:
        read_at: When it was read, by the service's clock.
        writes: How many writes of it the journal had then. A later one may have changed it.
        is_finished: Whether nothing is left to watch.
        is_not_known: Whether the service refused it, or it was unreadable, when it was read.
        sailings: Its sailings.
    """

    read_at: Datetime
    writes: int
    is_finished: bool = False
    is_not_known: bool = False
    sailings: tuple[Sailing, ...] = ()

    def to_text(self) -> str:
        """Return it as JSON."""
        return _stored.dump_json(self).decode()


_stored: Final = TypeAdapter(StoredDepartures)


def parse_departures(text: str) -> StoredDepartures | None:
    """Return what `StoredDepartures.to_text` was made of; None if the text is damaged."""
    try:
        return _stored.validate_json(text)
    except ValidationError:
        return None


def departure_of(leg: TicketLeg | None) -> datetime | None:
    """Return when one way of a ticket departs; None if the record does not say.

    An open ticket has no moment: the service marks it, and shows the sailing that was searched.
    """
    if leg is None or leg.journey is None or (leg.model_extra or {}).get("is_open") is True:
        return None
    depart_at = leg.journey.depart_at
    return depart_at if isinstance(depart_at, datetime) else None


def sailings_of(booking: Booking, before: Iterable[Sailing]) -> list[Sailing]:
    """Return the sailings of a booking, with what was given of them.

    Args:
        booking: The booking as read.
        before: Its sailings at the last read.
    """
    earlier = {sailing.id: sailing for sailing in before}
    sailings: list[Sailing] = []
    for ticket in booking.tickets:
        if _is_valid(ticket, booking.stage):
            sailings += _sailings_of_ticket(ticket, earlier)
    if not sailings and booking.stage in _ISSUED:
        sailings.append(earlier.get("", Sailing("")))  # no ticket says anything
    return sailings


def _is_valid(ticket: Ticket, stage: Stage) -> bool:
    """Return whether somebody travels on a ticket."""
    if stage in _ISSUED:
        return ticket.status not in _WITHOUT_TRAVEL
    # Some tickets are issued while others wait, or while another one is issued again.
    return stage not in AT_REST and ticket.status == TicketStatus.ISSUED


def _sailings_of_ticket(ticket: Ticket, earlier: Mapping[str, Sailing]) -> Iterator[Sailing]:
    """Yield the sailings with a moment of departure, and one for those without."""
    legs = {
        Direction.OUTWARD: ticket.availability.outward,
        Direction.RETURN: ticket.availability.return_,
    }
    expected = _DIRECTIONS.get(ticket.direction, frozenset())
    without_moment: list[Direction] = []
    has_moment = False

    for direction, leg in legs.items():
        sailing_id = f"{ticket.id} {direction}"
        sailing = earlier.get(sailing_id)
        departs_at = departure_of(leg)
        if departs_at is None and sailing is None:
            if direction in expected or (leg is not None and leg.journey is not None):
                without_moment.append(direction)
            continue

        has_moment = True
        # A reply that leaves the moment out does not change the departure.
        if sailing is None or (departs_at is not None and departs_at != sailing.departs_at):
            sailing = Sailing(sailing_id, direction, departs_at)
        yield sailing

    if without_moment or not has_moment:
        only_direction = without_moment[0] if len(without_moment) == 1 else None
        yield earlier.get(ticket.id, Sailing(ticket.id, only_direction))


def next_read(sailings: Iterable[Sailing], leads: Sequence[timedelta], read_at: datetime) -> float:
    """Return when a booking at rest is read next, in seconds since the epoch.

    Args:
        sailings: Its sailings.
        leads: All leads.
        read_at: When it was read, by the service's clock.
    """
    read = read_at.timestamp()
    departures: list[float] = []
    moments: list[float] = []
    times_before = [(lead - _CLOCK_STEP).total_seconds() for lead in (*leads, _DAY)]
    for sailing in sailings:
        if sailing.departs_at is not None:
            departs = sailing.departs_at.timestamp()
            departures.append(departs)
            moments.extend(departs - seconds for seconds in times_before)

    moments = [moment for moment in moments if moment > read]
    moments.append(read + _gap(departures, read).total_seconds())
    return min(moments)


def _gap(departures: Iterable[float], read: float) -> timedelta:
    """Return how long a booking may be without a read."""
    day = _DAY.total_seconds()
    seconds_left = [departs - read for departs in departures if departs > read]
    if seconds_left and max(seconds_left) <= day:
        return _GAP_BEFORE_THE_LAST_SAILING
    if seconds_left and min(seconds_left) <= day:
        return _GAP_BEFORE_A_SAILING
    return _LONGEST_GAP


def last_departure(sailings: Iterable[Sailing]) -> datetime | None:
    """Return when the last sailing departs; None if that is not known."""
    moments: list[datetime] = []
    for sailing in sailings:
        if sailing.departs_at is None:
            return None
        moments.append(sailing.departs_at)
    return max(moments, default=None)
