"""The events of a watch, and the snapshots that it compares."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Final, Literal, get_args

from pydantic import TypeAdapter, ValidationError

from ferry_sdk._runtime.clock import Datetime
from ferry_sdk.errors import FerryError, UnexpectedResponseError
from ferry_sdk.models.bookings import Booking, BookingCreated
from ferry_sdk.models.enums import Stage

LAPSING: Final = timedelta(minutes=30)
"""The time from the event ``lapsing`` until the booking lapses."""

StageEvent = Literal[
    "ticketed", "partially_ticketed", "lapsed", "rejected", "voided", "partially_voided"
]
"""The events that are named as the stage to which a booking comes."""
EventKind = Literal[StageEvent, "lapsing", "changed", "not_known"]

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
        moments = [moment for moment in limits if isinstance(moment, datetime)]
        return cls(
            booking.stage,
            booking.total_price,
            booking.currency,
            tuple(departures),
            None if booking.stage in FINAL else min(moments, default=None),
        )

    def differs(self, other: BookingSnapshot) -> bool:
        """Return whether a departure moved or the total changed; what is not known is equal."""
        have_departures = bool(self.departures and other.departures)
        moved = have_departures and self.departures != other.departures
        total = self.total_price, self.currency
        return moved or total != (other.total_price, other.currency)

    def to_text(self, reported_stage: Stage | None, reminded: datetime | None) -> str:
        """Return it as JSON, with the stage and the deadline that were given as events."""
        return _stored.dump_json((self, reported_stage, reminded)).decode()


_Stored = tuple[BookingSnapshot, Stage | None, Datetime | None]
_stored: Final[TypeAdapter[_Stored]] = TypeAdapter(_Stored)


def parse_snapshot(text: str) -> _Stored | None:
    """Return what `to_text` was made of; None if the text is damaged."""
    try:
        return _stored.validate_json(text)
    except ValidationError:
        return None


@dataclass(frozen=True, slots=True)
class BookingEvent:
    """A change of a booking.

    Attributes:
        booking_id: The booking.
        kind: ``ticketed``, ``partially_ticketed``, ``lapsed``, ``rejected``, ``voided`` or
            ``partially_voided``: its stage. ``lapsing``: it lapses within half an hour.
            ``changed``: a departure moved, or the total changed. ``not_known``: the service refuses
            to show it, and it is no longer watched; or a field of it cannot be read, where `error`
            is an `UnexpectedResponseError`, and it is still watched.
        stage: Its stage; None if it is not known.
        at: When it was read, by the service's clock, UTC.
        booking: The booking as read; None if it is not known.
        before: What was known of it before; None if nothing was.
        error: Why it is not known.
    """

    booking_id: str
    kind: EventKind
    stage: Stage | None
    at: datetime
    booking: Booking | None = field(default=None, repr=False)
    before: BookingSnapshot | None = None
    error: FerryError | None = None


def is_unreadable(error: FerryError) -> bool:
    """Return whether a booking came of which a field cannot be read: it is so at the next read."""
    return isinstance(error, UnexpectedResponseError) and error.field is not None


def _departures_of(booking: Booking) -> Iterator[datetime]:
    for ticket in booking.tickets:
        for leg in (ticket.availability.outward, ticket.availability.return_):
            moment = leg and leg.journey and leg.journey.depart_at
            if isinstance(moment, datetime):
                yield moment
