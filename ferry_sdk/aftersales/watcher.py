"""Watch bookings: which events a read gives, and what is recorded of them.

`Watcher` repeats these steps until the deadline, or until no booking has a further read:

1. The schedule says when the next read is. The watcher sleeps until then.
2. It reads the most urgent bookings at the same time.
3. Each read is compared with the last one (`BookingSnapshot`), which gives the events. In a watch
   until departure, its sailings give reminders (`departures`).
4. The booking is scheduled again, unless nothing is left to watch.

With a journal, the next watch continues where this one stopped (`storage`). The moments that it
knows are those of the service's clock. A watch that begins without a read does not know that clock,
so it asks for the shortest catalogue: the reply has the time.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, Literal, cast, get_args, overload

from ferry_sdk._engine.batch import Batch, BatchAnswer, all_answers
from ferry_sdk._engine.effects import Flow, Item, Sleep, Steps
from ferry_sdk._engine.http import RawResponse, parse_date
from ferry_sdk._engine.retry import failure_kind, longest_retry_after
from ferry_sdk._engine.validation import seconds as check_seconds
from ferry_sdk._runtime.values import is_iterable, is_text
from ferry_sdk._transport.streams import stream, stream_async
from ferry_sdk.aftersales.departures import (
    AT_REST,
    DEPARTED,
    Sailing,
    next_read,
    sailings_of,
)
from ferry_sdk.aftersales.events import (
    FINAL,
    LAPSING,
    STAGE_EVENTS,
    BookingEvent,
    BookingSnapshot,
    EventKind,
    is_unreadable,
)
from ferry_sdk.aftersales.schedule import Entry, Schedule
from ferry_sdk.aftersales.storage import Storage, is_finished
from ferry_sdk.client import AsyncFerry, Ferry, transport_of
from ferry_sdk.errors import (
    AuthenticationError,
    ConfigurationError,
    FerryError,
    InvalidInputError,
)
from ferry_sdk.models.bookings import Booking, BookingCreated
from ferry_sdk.models.enums import Stage
from ferry_sdk.resources.arguments import identifier
from ferry_sdk.resources.bookings import BookingsGroup
from ferry_sdk.resources.catalogue import CatalogueGroup

if TYPE_CHECKING:
    from ferry_sdk.journal import Journal

_READ_TIMEOUT: Final = 20.0
"""Seconds for one read, waits for the limiter included. A longer read fails and is repeated."""
_REFUSALS: Final = 3
"""Refusals, or unreadable replies, in a row after which a booking counts as not known.

One is not enough: a service may need a moment until it shows a new booking.
"""
_FATAL: Final = (AuthenticationError, ConfigurationError, InvalidInputError)
"""Errors that end the watch: every later call would fail, too."""
_MOST_DOUBLINGS: Final = 6
"""A failed read is repeated after two seconds. So many further failures double the time each."""
_LONGEST_REACTION: Final = 60.0
"""Seconds. If the caller handles the events before a reminder for longer, the booking is read again
before the reminder: it may have changed meanwhile."""

BookingOrId = str | Booking | BookingCreated
Until = Literal["rest", "departure"]


@overload
def watch(
    ferry: Ferry,
    bookings: Iterable[BookingOrId] | None,
    *,
    deadline: float,
    journal: Journal | None = None,
    until: Until = "rest",
    remind: Iterable[timedelta] = (),
    lapsing: timedelta = LAPSING,
) -> Generator[BookingEvent, None, None]: ...
@overload
def watch(
    ferry: AsyncFerry,
    bookings: Iterable[BookingOrId] | None,
    *,
    deadline: float,
    journal: Journal | None = None,
    until: Until = "rest",
    remind: Iterable[timedelta] = (),
    lapsing: timedelta = LAPSING,
) -> AsyncGenerator[BookingEvent, None]: ...
def watch(
    ferry: Ferry | AsyncFerry,
    bookings: Iterable[BookingOrId] | None,
    *,
    deadline: float,
    journal: Journal | None = None,
    until: Until = "rest",
    remind: Iterable[timedelta] = (),
    lapsing: timedelta = LAPSING,
) -> Generator[BookingEvent, None, None] | AsyncGenerator[BookingEvent, None]:
    """Poll bookings and give an event for each change, until all have come to rest or departed.

    A booking has come to rest when it is ticketed, voided, lapsed or rejected. It is read when a
    deadline of its own passes, more often before that, and else with growing gaps of up to 15
    minutes.

    With ``until="departure"``, a ticketed booking is watched until its last sailing has left: the
    company may move or cancel a sailing. It is read once a day, every hour on the last day (every
    six hours on the day before an earlier sailing), before each reminder and at each departure. A
    ticket without a moment of departure, such as an open ticket, gives the event ``not_known``
    once. Moments are compared by the service's clock.

    Reads that fail are tried again later and do not end the watch. A booking that the service
    refuses to show three times in a row gives the event ``not_known``, and is no longer watched. If
    a field of a booking cannot be read three times in a row, the booking gives the same event, but
    it is still watched: the field may become readable.

    Each event is given at least once. An event counts as given when the next one is asked for;
    with a journal that is recorded, so that the next watch continues where this one stopped. A
    stage that no watch has given before is an event too, even if the booking was in it from the
    start. Reminders are given again only if the departure moved. Many short watches until departure
    with one journal read a booking as seldom as a long one. Interface: GET /api/booking/{id}.

    Args:
        ferry: The client. With an `AsyncFerry`, the result is an async iterator.
        bookings: Ids, or bookings, with which the first read is compared. None: all bookings of
            the journal that have not departed, or did so less than two days ago, so that a program
            that was down for that time still gives ``departed``. Only with ``until="departure"``.
        deadline: Maximum time in seconds.
        journal: Records which events were given.
        until: When a booking needs no further watch: ``rest`` or ``departure``.
        remind: The leads of the event ``departing``: the times before each departure. If some
            passed while no program watched, the shortest of them is given at once. Only with
            ``until="departure"``.
        lapsing: The lead of the event ``lapsing``: the time before a booking lapses.

    Returns:
        An iterator of events.

    Raises:
        InvalidInputError: An argument is invalid.
        AuthenticationError: The service rejects the token; raised by the iterator.
        JournalError: The journal cannot be used; raised by the iterator.

    Example:
        ```python
        from ferry_sdk import Ferry
        from ferry_sdk.aftersales import watch
        from ferry_sdk.sandbox import Sandbox, crossing

        with Sandbox() as sandbox, Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
            booking = ferry.bookings.create(**crossing(ferry))
            ferry.bookings.confirm(booking.booking_id)
            for event in watch(ferry, [booking], deadline=60):
                print(event.kind)
                # > ticketed
        ```
    """
    watcher = Watcher(
        bookings,
        deadline=check_seconds(deadline, "deadline"),
        journal=journal,
        until=until,
        remind=remind,
        lapsing=lapsing,
    )
    if isinstance(ferry, AsyncFerry):
        return stream_async(transport_of(ferry), watcher.steps())
    return stream(transport_of(ferry), watcher.steps())


class Watcher:
    """The decisions of a watch.

    Args:
        bookings: Ids, or bookings; None: those of the journal.
        deadline: Maximum time in seconds.
        journal: Records which events were given.
        until: When a booking needs no further watch.
        remind: The leads of the event ``departing``.
        lapsing: The lead of the event ``lapsing``.
        schedule: Says when to read which booking.
    """

    def __init__(
        self,
        bookings: Iterable[BookingOrId] | None,
        *,
        deadline: float,
        journal: Journal | None = None,
        until: Until = "rest",
        remind: Iterable[timedelta] = (),
        lapsing: timedelta = LAPSING,
        schedule: Schedule | None = None,
    ) -> None:
        self._until_departure = _check_until(until) == "departure"
        leads = _check_leads(remind, until_departure=self._until_departure)
        self._leads = sorted({DEPARTED, *leads})
        self._lapsing = _check_lead(lapsing, "lapsing")

        self._schedule = schedule or Schedule()
        self._storage = Storage(journal, until_departure=self._until_departure)

        self._takes_journal = bookings is None
        if self._takes_journal and (journal is None or not self._until_departure):
            raise InvalidInputError(
                'expected a list of bookings; None requires journal and until="departure"',
                field="bookings",
            )

        self._deadline = self._schedule.clock() + deadline
        listed = () if bookings is None else bookings
        self._entries = {entry.booking_id: entry for entry in _entries_of(listed)}
        self._rounds_failed = 0
        self._paused_until = 0.0
        self._asked_for_time = False

    def steps(self) -> Steps[BookingEvent]:
        """Yield the effects, and the events."""
        yield from self._load()
        while (wake := self._schedule.next_read()) is not None:
            now = self._schedule.clock()
            if now >= self._deadline:
                return

            wake = min(max(wake, self._paused_until), self._deadline)
            timeout = min(self._deadline - now, _READ_TIMEOUT)
            if wake <= now:
                yield from self._read(timeout)
            elif self._schedule.has_resting and not self._asked_for_time:
                yield from self._ask_for_time(timeout)
            else:
                yield from Sleep(wake - now)

    def _load(self) -> Steps[BookingEvent]:
        """Schedule the first read of each booking, with what the journal knows of it."""
        if self._takes_journal:
            booking_ids = yield from self._storage.list_departing(self._schedule.now())
            self._entries = {booking_id: Entry(booking_id) for booking_id in booking_ids}

        resting = yield from self._storage.load(self._entries)
        for entry in self._entries.values():
            if entry.is_not_known:
                entry.refusals = _REFUSALS - 1  # one more is enough
                entry.unreadable = _REFUSALS - 1

            departures = resting.get(entry.booking_id)
            if departures is None:
                self._schedule.add(entry)
            elif not departures.is_finished:
                self._rest(entry, departures.read_at)

        # From here on, the schedule has the entries, and lets each go that needs no further read.
        self._entries.clear()

    def _ask_for_time(self, seconds: float) -> Flow[None]:
        """Learn the service's time from a reply that reads no booking."""
        self._asked_for_time = True
        if self._schedule.knows_time:
            return

        batch = Batch[str, RawResponse[Any]]()
        brands = CatalogueGroup.vehicle_brands(None)
        batch.add_raw("time", brands, max_retries=0, deadline=seconds)
        (answer,) = yield from all_answers(batch)

        if isinstance(answer.error, _FATAL):
            raise answer.error
        if answer.value is not None:
            self._set_time(answer.value, self._schedule.clock())

    def _read(self, seconds: float) -> Steps[BookingEvent]:
        """Read the most urgent bookings."""
        batch = Batch[Entry, RawResponse[Booking]]()
        for entry in self._schedule.pop(batch.limit):
            # The watch repeats reads itself, so that one booking does not keep the others waiting.
            read = BookingsGroup.get(None, entry.booking_id)
            batch.add_raw(entry, read, max_retries=0, deadline=seconds)

        answers = yield from all_answers(batch)
        answered_at = self._schedule.clock()
        self._pause(answers)
        for answer in answers:
            if answer.error is not None:
                yield from self._handle_failure(answer.key, answer.error)
            elif answer.value is not None:
                self._set_time(answer.value, answered_at)
                yield from self._compare(answer.key, answer.value.parse(), answered_at)

    def _set_time(self, response: RawResponse[Any], answered_at: float) -> None:
        """Set the service's clock by a reply.

        Args:
            response: The reply.
            answered_at: When it came. The caller may have handled events for hours since.
        """
        date = parse_date(response.headers.get("date", ""))
        if date is not None:
            self._schedule.set_time(date, answered_at)

    def _pause(self, answers: Sequence[BatchAnswer[Entry, RawResponse[Booking]]]) -> None:
        """Pause all reads for a moment if one failed that may succeed later.

        The service or the network may be down, so the pause is longer after each further round
        of reads in which all failed.
        """
        errors = [answer.error for answer in answers if answer.error is not None]
        failures = [error for error in errors if failure_kind(error) and not is_unreadable(error)]
        if len(failures) < len(answers):
            self._rounds_failed = 0
        if not failures:
            return

        self._rounds_failed += 1
        pause = max(self._retry_delay(self._rounds_failed), longest_retry_after(failures))
        self._paused_until = self._schedule.clock() + pause

    def _retry_delay(self, failures: int) -> float:
        """Return the seconds to wait after so many failures in a row."""
        return self._schedule.jitter() * 2.0 ** min(failures, _MOST_DOUBLINGS)

    def _compare(self, entry: Entry, booking: Booking, answered_at: float) -> Steps[BookingEvent]:
        """Give the events of a booking, record them, and schedule the next read.

        Args:
            entry: The booking.
            booking: The booking as read.
            answered_at: When it was read, on the clock of the schedule.
        """
        entry.failures = 0
        entry.refusals = 0
        entry.unreadable = 0
        entry.is_not_known = False

        at = self._schedule.now()
        before = entry.before
        after = BookingSnapshot.of(booking)
        if before is not None and len(after.departures) < len(before.departures):
            after = replace(after, departures=before.departures)  # a reply that left some out
        kinds = self._kinds_of_events(entry, after, at)
        if self._until_departure:
            entry.sailings = sailings_of(booking, entry.sailings)
        has_events = bool(kinds) or self._has_reminder(entry, at)

        # The head of `storage` says why this comes before the events, and `save` after them.
        if has_events:
            yield from self._storage.save_before_events(entry, before or after)
        for kind in kinds:
            event = BookingEvent(
                booking_id=entry.booking_id,
                kind=kind,
                stage=after.stage,
                at=at,
                booking=booking,
                before=before,
                lead=self._lapsing if kind == "lapsing" else None,
            )
            yield Item(event)
        yield from self._remind(entry, booking, answered_at)

        is_unchanged = entry.is_recorded and not has_events and before == after
        entry.before = after
        entry.reported_stage = after.stage
        if "lapsing" in kinds:
            entry.reminded = after.lapses_at
        # The next watch until departure takes the moment of this read from the journal.
        if not is_unchanged or (self._until_departure and self._is_resting(entry)):
            yield from self._storage.save(entry, read_at=at)

        if before is None or before.stage != after.stage:
            entry.gap = entry.gaps[0]
        self._schedule_next(entry, booking)

    def _schedule_next(self, entry: Entry, booking: Booking) -> None:
        """Schedule the next read, unless nothing is left to watch."""
        if not self._is_resting(entry):
            entry.limits = self._limits_of(entry, booking)
            self._schedule.add_next(entry)
            return

        may_depart = self._until_departure and booking.stage != Stage.REJECTED
        if may_depart and not is_finished(entry):
            self._rest(entry, self._schedule.now())

    def _is_resting(self, entry: Entry) -> bool:
        """Return whether a booking has come to rest."""
        stages = AT_REST if self._until_departure else FINAL
        return entry.before is not None and entry.before.stage in stages

    def _rest(self, entry: Entry, read_at: datetime) -> None:
        """Schedule the next read of a booking at rest that was read at this moment."""
        until = next_read(entry.sailings, self._leads, read_at)
        if self._has_reminder(entry, read_at) and not entry.is_not_known:
            until = read_at.timestamp()  # a lead is new, or the caller handled an event for long
        self._schedule.rest(entry, until)

    def _has_reminder(self, entry: Entry, at: datetime) -> bool:
        return any(sailing.lead_at(self._leads, at) is not None for sailing in entry.sailings)

    def _remind(self, entry: Entry, booking: Booking, answered_at: float) -> Steps[BookingEvent]:
        """Give the reminders of the sailings for which a lead has begun."""
        for index, sailing in enumerate(entry.sailings):
            # The caller may have handled another event meanwhile, so the time is read again.
            at = self._schedule.now()
            lead = sailing.lead_at(self._leads, at)
            if lead is None:
                continue
            if self._schedule.clock() - answered_at > _LONGEST_REACTION:
                return  # the next read is due at once, and gives it

            event = BookingEvent(
                booking_id=entry.booking_id,
                kind=_kind_of_reminder(sailing, lead),
                stage=booking.stage,
                at=at,
                booking=booking,
                before=entry.before,
                leg=sailing.direction,
                departs_at=sailing.departs_at,
                lead=None if lead == DEPARTED else lead,
            )
            yield Item(event)
            entry.sailings[index] = replace(sailing, reminded=lead)

    def _kinds_of_events(
        self, entry: Entry, after: BookingSnapshot, at: datetime
    ) -> list[EventKind]:
        """Return the events of a booking, given its new state."""
        kinds: list[EventKind] = []
        if entry.before is not None and entry.before.differs(after):
            kinds.append("changed")
        if after.stage != entry.reported_stage and after.stage in STAGE_EVENTS:
            kinds.append(STAGE_EVENTS[after.stage])

        lapses_at = after.lapses_at
        # Not `lapses_at - lead <= at`, because the calendar ends before some of these moments.
        is_lapsing = lapses_at is not None and at < lapses_at and lapses_at - at <= self._lapsing
        if is_lapsing and lapses_at != entry.reminded:
            kinds.append("lapsing")
        return kinds

    def _handle_failure(self, entry: Entry, error: FerryError) -> Steps[BookingEvent]:
        """Read the booking again later, or give it up."""
        if isinstance(error, _FATAL):
            raise error
        if is_unreadable(error):
            yield from self._handle_unreadable(entry, error)
            return
        if failure_kind(error) is not None:
            entry.failures += 1
            self._schedule.add_next(entry, at_most=self._retry_delay(entry.failures))
            return

        entry.refusals += 1
        if entry.refusals < _REFUSALS:
            self._schedule.add_next(entry)
            return
        yield from self._give_not_known(entry, error)

    def _handle_unreadable(self, entry: Entry, error: FerryError) -> Steps[BookingEvent]:
        """Read the booking again, soon at first; give an event when it stays unreadable."""
        entry.unreadable += 1
        if entry.unreadable < _REFUSALS:
            self._schedule.add_next(entry, at_most=self._retry_delay(entry.unreadable))
            return
        yield from self._give_not_known(entry, error)
        if self._until_departure and (entry.before is None or self._is_resting(entry)):
            self._rest(entry, self._schedule.now())
        else:
            self._schedule.add_next(entry)

    def _give_not_known(self, entry: Entry, error: FerryError) -> Steps[BookingEvent]:
        """Give the event ``not_known``, once until the booking can be read again."""
        at = self._schedule.now()
        if not entry.is_not_known:
            event = BookingEvent(
                booking_id=entry.booking_id,
                kind="not_known",
                stage=None,
                at=at,
                before=entry.before,
                error=error,
            )
            yield Item(event)
            entry.is_not_known = True
        if self._until_departure:
            yield from self._storage.save(entry, read_at=at)

    def _limits_of(self, entry: Entry, booking: Booking) -> tuple[float, ...]:
        """Return when the booking may change, or an event is due, in seconds since the epoch."""
        moments = [action.time_limit for action in booking.possible_actions.values()]
        limits: set[float] = set()
        lapses_at = None if entry.before is None else entry.before.lapses_at
        if lapses_at is not None:
            moments.append(booking.expire_at)
            limits.add(lapses_at.timestamp() - self._lapsing.total_seconds())
        limits.update(moment.timestamp() for moment in moments if isinstance(moment, datetime))

        for sailing in entry.sailings:
            if sailing.departs_at is not None:
                departs = sailing.departs_at.timestamp()
                limits.update(departs - lead.total_seconds() for lead in self._leads)
        return tuple(limits)


def _entries_of(bookings: Iterable[BookingOrId]) -> Iterator[Entry]:
    """Yield the entry of each booking.

    Raises:
        InvalidInputError: The bookings are no list, or one is neither a booking nor an id.
    """
    if isinstance(bookings, str | bytes) or not is_iterable(bookings):
        raise InvalidInputError("expected a list of bookings or ids", field="bookings")
    for index, booking in enumerate(bookings):
        if isinstance(booking, Booking | BookingCreated):
            yield Entry(booking.booking_id, BookingSnapshot.of(booking))
        else:
            yield Entry(identifier(cast("object", booking), f"bookings[{index}]"))


def _check_until(until: object) -> Until:
    if is_text(until, *get_args(Until)):
        return cast("Until", until)
    raise InvalidInputError("expected rest or departure", field="until")


def _check_leads(remind: object, *, until_departure: bool) -> Iterator[timedelta]:
    """Yield the leads of the event ``departing``.

    Raises:
        InvalidInputError: They are no leads, or the watch ends before a departure.
    """
    if isinstance(remind, str | bytes) or not is_iterable(remind):
        raise InvalidInputError("expected a list of timedeltas", field="remind")
    for index, lead in enumerate(remind):
        if not until_departure:
            raise InvalidInputError('requires until="departure"', field="remind")
        yield _check_lead(lead, f"remind[{index}]")


def _check_lead(lead: object, field: str) -> timedelta:
    if not isinstance(lead, timedelta) or lead <= timedelta():
        raise InvalidInputError("expected a timedelta of more than zero", field=field)
    return lead


def _kind_of_reminder(sailing: Sailing, lead: timedelta) -> EventKind:
    if sailing.departs_at is None:
        return "not_known"
    return "departed" if lead == DEPARTED else "departing"
