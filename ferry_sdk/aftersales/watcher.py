"""Watch bookings: which events a read gives, and what is recorded of them.

`Watcher` repeats these steps until the deadline, or until no booking has a further read:

1. The schedule says when the next read is. The watcher sleeps until then.
2. It reads the most urgent bookings at the same time.
3. Each read is compared with the last one (`BookingSnapshot`), which gives the events.
4. The booking is scheduled again, unless it has come to rest.

With a journal, the next watch continues where this one stopped. An event counts as given when the
caller asks for the next one, so the new state is recorded after the events:

- Until then, the journal has the state before the events. If the process is killed in between, the
  next watch compares with that state and gives the same events again.
- A booking that the journal does not have is recorded before its first events. Without that, the
  next watch would have no state to compare with, and give no event ``changed``.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Generator, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Final, cast, overload

from ferry_sdk._engine.batch import Batch, BatchAnswer, all_answers
from ferry_sdk._engine.effects import Flow, Item, RunBlocking, Sleep, Steps
from ferry_sdk._engine.http import RawResponse, parse_date
from ferry_sdk._engine.retry import failure_kind
from ferry_sdk._engine.validation import seconds as check_seconds
from ferry_sdk._transport.streams import stream, stream_async
from ferry_sdk.aftersales.events import (
    FINAL,
    LAPSING,
    STAGE_EVENTS,
    BookingEvent,
    BookingSnapshot,
    EventKind,
    is_unreadable,
    parse_snapshot,
)
from ferry_sdk.aftersales.schedule import Entry, Schedule
from ferry_sdk.client import AsyncFerry, Ferry, transport_of
from ferry_sdk.errors import (
    APIError,
    AuthenticationError,
    ConfigurationError,
    FerryError,
    InvalidInputError,
)
from ferry_sdk.models.bookings import Booking, BookingCreated
from ferry_sdk.resources.arguments import identifier
from ferry_sdk.resources.bookings import BookingsGroup

if TYPE_CHECKING:
    from ferry_sdk.journal import Journal

logger: logging.Logger = logging.getLogger("ferry_sdk")

_READ_TIMEOUT: Final = 20.0
"""Seconds for one read, waits for the limiter included. A longer read fails and is repeated."""
_REFUSALS: Final = 3
"""Refusals, or unreadable replies, in a row after which a booking counts as not known.

One is not enough: a service may need a moment until it shows a new booking.
"""
_MOST_DOUBLINGS: Final = 6
"""A failed read is repeated after two seconds. So many further failures double the time each."""

BookingOrId = str | Booking | BookingCreated


@overload
def watch(
    ferry: Ferry,
    bookings: Iterable[BookingOrId],
    *,
    deadline: float,
    journal: Journal | None = None,
) -> Generator[BookingEvent, None, None]: ...
@overload
def watch(
    ferry: AsyncFerry,
    bookings: Iterable[BookingOrId],
    *,
    deadline: float,
    journal: Journal | None = None,
) -> AsyncGenerator[BookingEvent, None]: ...
def watch(
    ferry: Ferry | AsyncFerry,
    bookings: Iterable[BookingOrId],
    *,
    deadline: float,
    journal: Journal | None = None,
) -> Generator[BookingEvent, None, None] | AsyncGenerator[BookingEvent, None]:
    """Poll bookings and give an event for each change, until all have come to rest.

    A booking has come to rest when it is ticketed, voided, lapsed or rejected. It is read when a
    deadline of its own passes, more often before that, and else with growing gaps of up to 15
    minutes. Reads that fail are tried again later and do not end the watch. A booking that the
    service refuses to show three times in a row gives the event ``not_known``, and is no longer
    watched. If a field of a booking cannot be read three times in a row, the booking gives the same
    event, but it is still watched: the field may become readable.

    Each event is given at least once. An event counts as given when the next one is asked for;
    with a journal that is recorded, so that the next watch continues where this one stopped. A
    stage that no watch has given before is an event too, even if the booking was in it from the
    start. Interface: GET /api/booking/{id}.

    Args:
        ferry: The client. With an `AsyncFerry`, the result is an async iterator.
        bookings: Ids, or bookings, with which the first read is compared.
        deadline: Maximum time in seconds.
        journal: Records which events were given.

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
        from ferry_sdk.sandbox import Sandbox

        from crossing import crossing

        with Sandbox() as sandbox, Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
            booking = ferry.bookings.create(**crossing(ferry))
            ferry.bookings.confirm(booking.booking_id)
            for event in watch(ferry, [booking], deadline=60):
                print(event.kind)
                # > ticketed
        ```
    """
    watcher = Watcher(bookings, deadline=check_seconds(deadline, "deadline"), journal=journal)
    if isinstance(ferry, AsyncFerry):
        return stream_async(transport_of(ferry), watcher.steps())
    return stream(transport_of(ferry), watcher.steps())


class Watcher:
    """The decisions of a watch.

    Args:
        bookings: Ids, or bookings.
        deadline: Maximum time in seconds.
        journal: Records which events were given.
        schedule: Says when to read which booking.
    """

    def __init__(
        self,
        bookings: Iterable[BookingOrId],
        *,
        deadline: float,
        journal: Journal | None = None,
        schedule: Schedule | None = None,
    ) -> None:
        self._schedule = schedule or Schedule()
        self._journal = journal
        self._deadline = self._schedule.clock() + deadline
        self._entries = {entry.booking_id: entry for entry in _entries_of(bookings)}
        self._rounds_failed = 0
        self._paused_until = 0.0

    def steps(self) -> Steps[BookingEvent]:
        """Yield the effects, and the events."""
        yield from self._load()
        while (wake := self._schedule.next_read()) is not None:
            now = self._schedule.clock()
            if now >= self._deadline:
                return
            wake = min(max(wake, self._paused_until), self._deadline)
            if wake > now:
                yield from Sleep(wake - now)
            else:
                yield from self._read(min(self._deadline - now, _READ_TIMEOUT))

    def _load(self) -> Steps[BookingEvent]:
        """Schedule the first read of each booking, with what the journal knows of it."""
        if self._journal is not None:
            load = self._journal.load_snapshots
            texts = yield from RunBlocking(partial(load, [*self._entries]), may_be_interrupted=True)
            for booking_id, text in texts.items():
                stored = parse_snapshot(text)
                if stored is None:
                    logger.warning(
                        "what the journal has of booking %s is damaged: events may come again",
                        booking_id,
                    )
                    continue
                entry = self._entries[booking_id]
                entry.before = stored.snapshot
                entry.reported_stage = stored.reported_stage
                entry.reminded = stored.reminded
                entry.is_recorded = True

        for entry in self._entries.values():
            self._schedule.add(entry)
        self._entries.clear()

    def _read(self, seconds: float) -> Steps[BookingEvent]:
        """Read the most urgent bookings."""
        batch = Batch[Entry, RawResponse[Booking]]()
        for entry in self._schedule.pop(batch.limit):
            # The watch repeats reads itself, so that one booking does not keep the others waiting.
            read = BookingsGroup.get(None, entry.booking_id)
            batch.add_raw(entry, read, max_retries=0, deadline=seconds)

        answers = yield from all_answers(batch)
        self._pause(answers)
        for answer in answers:
            if answer.error is not None:
                yield from self._handle_failure(answer.key, answer.error)
            elif answer.value is not None:
                yield from self._compare(answer.key, answer.value)

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
        pause = self._retry_delay(self._rounds_failed)
        for error in failures:
            if isinstance(error, APIError) and error.retry_after is not None:
                pause = max(pause, error.retry_after)
        self._paused_until = self._schedule.clock() + pause

    def _retry_delay(self, failures: int) -> float:
        """Return the seconds to wait after so many failures in a row."""
        return self._schedule.jitter() * 2.0 ** min(failures, _MOST_DOUBLINGS)

    def _compare(self, entry: Entry, response: RawResponse[Booking]) -> Steps[BookingEvent]:
        """Give the events of a booking, record them, and schedule the next read."""
        date = parse_date(response.headers.get("date", ""))
        if date is not None:
            self._schedule.set_time(date)
        entry.failures = 0
        entry.refusals = 0
        entry.unreadable = 0

        at = self._schedule.now()
        booking = response.parse()
        before = entry.before
        after = BookingSnapshot.of(booking)
        if before is not None and len(after.departures) < len(before.departures):
            after = replace(after, departures=before.departures)  # a reply that left some out
        kinds = self._kinds_of_events(entry, after, at)

        # See the head of the module for why this comes before the events, and what comes after.
        if kinds and not entry.is_recorded:
            yield from self._save(entry, before or after)
        for kind in kinds:
            event = BookingEvent(
                booking_id=entry.booking_id,
                kind=kind,
                stage=after.stage,
                at=at,
                booking=booking,
                before=before,
            )
            yield Item(event)

        is_unchanged = entry.is_recorded and not kinds and before == after
        entry.before = after
        entry.reported_stage = after.stage
        if "lapsing" in kinds:
            entry.reminded = after.lapses_at
        if not is_unchanged:
            yield from self._save(entry, after)

        if before is None or before.stage != after.stage:
            entry.gap = entry.gaps[0]
        if after.stage not in FINAL:
            entry.limits = _limits_of(booking, after)
            self._schedule.add_next(entry)

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
        # Not `lapses_at - LAPSING <= at`, because the calendar ends before some of these moments.
        is_lapsing = lapses_at is not None and at < lapses_at and lapses_at - at <= LAPSING
        if is_lapsing and lapses_at != entry.reminded:
            kinds.append("lapsing")
        return kinds

    def _save(self, entry: Entry, snapshot: BookingSnapshot) -> Flow[None]:
        """Record a snapshot in the journal, if there is one."""
        if self._journal is not None:
            text = snapshot.to_text(entry.reported_stage, entry.reminded)
            save = partial(self._journal.save_snapshot, entry.booking_id, text)
            yield from RunBlocking(save, may_be_interrupted=True)
            entry.is_recorded = True

    def _handle_failure(self, entry: Entry, error: FerryError) -> Steps[BookingEvent]:
        """Read the booking again later, or give it up."""
        if isinstance(error, AuthenticationError | ConfigurationError | InvalidInputError):
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
        yield self._not_known_event(entry, error)

    def _handle_unreadable(self, entry: Entry, error: FerryError) -> Steps[BookingEvent]:
        """Read the booking again, soon at first; give an event when it stays unreadable."""
        entry.unreadable += 1
        if entry.unreadable < _REFUSALS:
            self._schedule.add_next(entry, at_most=self._retry_delay(entry.unreadable))
            return
        if entry.unreadable == _REFUSALS:
            yield self._not_known_event(entry, error)
        self._schedule.add_next(entry)

    def _not_known_event(self, entry: Entry, error: FerryError) -> Item[BookingEvent]:
        event = BookingEvent(
            booking_id=entry.booking_id,
            kind="not_known",
            stage=None,
            at=self._schedule.now(),
            before=entry.before,
            error=error,
        )
        return Item(event)


def _entries_of(bookings: Iterable[BookingOrId]) -> Iterator[Entry]:
    """Yield the entry of each booking.

    Raises:
        InvalidInputError: The bookings are no list, or one is neither a booking nor an id.
    """
    if isinstance(bookings, str | bytes) or not isinstance(bookings, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance] -- of callers without a type checker
        raise InvalidInputError("expected a list of bookings or ids", field="bookings")
    for index, booking in enumerate(bookings):
        if isinstance(booking, Booking | BookingCreated):
            yield Entry(booking.booking_id, BookingSnapshot.of(booking))
        else:
            yield Entry(identifier(cast("object", booking), f"bookings[{index}]"))


def _limits_of(booking: Booking, snapshot: BookingSnapshot) -> tuple[float, ...]:
    """Return when the booking may change, or `lapsing` is due, in seconds since the epoch."""
    moments = [action.time_limit for action in booking.possible_actions.values()]
    limits: set[float] = set()
    if snapshot.lapses_at is not None:
        moments.append(booking.expire_at)
        limits.add(snapshot.lapses_at.timestamp() - LAPSING.total_seconds())
    limits.update(moment.timestamp() for moment in moments if isinstance(moment, datetime))
    return tuple(limits)
