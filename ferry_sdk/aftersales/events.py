"""The events of a watch, and the snapshots that it compares."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Final, Literal, NamedTuple, get_args

from pydantic import TypeAdapter, ValidationError

from ferry_sdk._runtime.clock import Datetime
from ferry_sdk.aftersales.departures import departure_of
from ferry_sdk.errors import FerryError, UnexpectedResponseError
from ferry_sdk.models.bookings import Booking, BookingCreated
from ferry_sdk.models.enums import Direction, Stage

LAPSING: Final = timedelta(minutes=30)
"""The time from the event ``lapsing`` until the booking lapses, unless the caller names another."""

StageEvent = Literal[
    "ticketed", "partially_ticketed", "lapsed", "rejected", "voided", "partially_voided"
]
"""The events that have the name of a stage: a booking has come to it."""
EventKind = Literal[StageEvent, "lapsing", "changed", "departing", "departed", "not_known"]

STAGE_EVENTS: Final[dict[str, EventKind]] = {stage: stage for stage in get_args(StageEvent)}
FINAL: Final = frozenset({Stage.TICKETED, Stage.VOIDED, Stage.LAPSED, Stage.REJECTED})
"""The stages in which a booking has come to rest."""


@dataclass(frozen=True, slots=True)
class BookingSnapshot:
    """The state of a booking at its last read; it holds no traveller's data.

    Attributes:
        stage: The aggregate state.
        total_price: Sum over all journeys, in `currency`.
        currency: ISO 4217.
        departures: When each crossing departs, in order; empty if the record does not say.
        lapses_at: The earliest deadline: `expire_at`, or the time limit of a mandatory action;
            None if there is none, or if the booking has come to rest.
    """

    stage: Stage
    total_price: Decimal
    currency: str
    departures: tuple[Datetime, ...] = ()
    lapses_at: Datetime | None = None

    @classmethod
    def of(cls, booking: Booking | BookingCreated) -> BookingSnapshot:
        """Return the snapshot of a booking."""
        limits = [action.time_limit for action in booking.next_actions() if action.is_mandatory]
        departures: list[datetime] = []
        if isinstance(booking, Booking):
            limits.append(booking.expire_at)
            departures = sorted(_departures_of(booking))

        lapses_at = None
        if booking.stage not in FINAL:
            moments = [limit for limit in limits if isinstance(limit, datetime)]
            lapses_at = min(moments, default=None)
        return cls(
            stage=booking.stage,
            total_price=booking.total_price,
            currency=booking.currency,
            departures=tuple(departures),
            lapses_at=lapses_at,
        )

    def differs(self, other: BookingSnapshot) -> bool:
        """Return whether a departure moved or the total changed.

        If one of them has no departures, they are not known, and none has moved.
        """
        if self.departures and other.departures and self.departures != other.departures:
            return True
        return (self.total_price, self.currency) != (other.total_price, other.currency)

    def to_text(self, reported_stage: Stage | None, reminded: datetime | None) -> str:
        """Return it as JSON, with the stage and the deadline that were given as events."""
        return _stored.dump_json((self, reported_stage, reminded)).decode()


class StoredSnapshot(NamedTuple):
    """What a journal has of a watched booking.

    Attributes:
        snapshot: The booking at its last read.
        reported_stage: The last stage that was given as an event.
        reminded: The deadline of the last event ``lapsing``.
    """

    snapshot: BookingSnapshot
    reported_stage: Stage | None
    reminded: datetime | None


_stored: Final = TypeAdapter(tuple[BookingSnapshot, Stage | None, Datetime | None])


def parse_snapshot(text: str) -> StoredSnapshot | None:
    """Return what `BookingSnapshot.to_text` was made of; None if the text is damaged."""
    try:
        return StoredSnapshot(*_stored.validate_json(text))
    except ValidationError:
        return None


@dataclass(frozen=True, slots=True)
class BookingEvent:
    """A change of a booking.

    Attributes:
        booking_id: The booking.
        kind: ``ticketed``, ``partially_ticketed``, ``lapsed``, ``rejected``, ``voided`` or
            ``partially_voided``: its stage. ``lapsing``: it lapses within the time `lead`.
            ``changed``: a departure moved, or the total changed. ``departing``: a ship leaves
            within the time `lead`. ``departed``: it has left. ``not_known``: the service refuses
            to show the booking, and it is no longer watched. Or a field of it cannot be read: then
            `error` is an `UnexpectedResponseError`, and it is still watched. Or a ticket has no
            moment of departure: then `error` is None, and it is still watched.
        stage: Its stage; None if it is not known.
        at: When it was read, by the service's clock, UTC.
        booking: The booking as read; None if it is not known.
        before: What was known of it before; None if nothing was.
        error: Why it is not known.
        leg: The direction of a ``departing`` or ``departed``, and of a ticket without a moment of
            departure; None for other events, and if it is not known.
        departs_at: When the ship leaves or left, for ``departing`` and ``departed``; else None.
        lead: The lead that the caller asked for, of ``departing`` and ``lapsing``; else None. Less
            time is left if no program watched when the lead began: compare `at`.
    """

    booking_id: str
    kind: EventKind
    stage: Stage | None
    at: datetime
    booking: Booking | None = field(default=None, repr=False)
    before: BookingSnapshot | None = None
    error: FerryError | None = None
    leg: Direction | None = None
    departs_at: datetime | None = None
    lead: timedelta | None = None


def is_unreadable(error: FerryError) -> bool:
    """Return whether a field of a booking cannot be read. The next read has the same field."""
    return isinstance(error, UnexpectedResponseError) and error.field is not None


def _departures_of(booking: Booking) -> Iterator[datetime]:
    """Yield the departures of the tickets, as far as the record says them."""
    for ticket in booking.tickets:
        for leg in (ticket.availability.outward, ticket.availability.return_):
            departs_at = departure_of(leg)
            if departs_at is not None:
                yield departs_at
