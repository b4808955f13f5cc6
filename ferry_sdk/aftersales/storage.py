"""What a journal has of the bookings that are watched, so that the next watch goes on from there.

An event counts as given when the caller asks for the next one, so the new state of a booking is
recorded after its events:

- Until then, the journal has the state before the events. If the process is killed in between, the
  next watch compares with that state and gives the same events again.
- A booking that the journal does not have is recorded before its first events. Without that, the
  next watch would have no state to compare with, and give no event ``changed``.

A watch until departure also records when it read a booking at rest. The next watch does not read
the booking before its next read is due, unless the journal has a new write of it: a program that
starts every few minutes reads it as seldom as one that runs for weeks. For example:

| Watch         | Journal                            | What the watch does                       |
|---------------|------------------------------------|-------------------------------------------|
| Monday 9:00   | has nothing                        | reads, gives ``ticketed``, records        |
| Monday 9:05   | read on Monday 9:00, two writes    | nothing until Tuesday 9:00                |
| Monday 9:10   | the same, and a cancellation since | reads, gives ``voided``, records          |
| Monday 9:15   | finished                           | nothing                                   |
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Final

from ferry_sdk._engine.effects import Flow, RunBlocking
from ferry_sdk.aftersales.departures import (
    AT_REST,
    ENDED,
    StoredDepartures,
    last_departure,
    parse_departures,
)
from ferry_sdk.aftersales.events import BookingSnapshot, parse_snapshot
from ferry_sdk.aftersales.schedule import Entry
from ferry_sdk.models.enums import Stage

if TYPE_CHECKING:
    from ferry_sdk.journal import Journal

logger: logging.Logger = logging.getLogger("ferry_sdk")

_LONGEST_BREAK: Final = timedelta(days=2)
"""How long no program may watch without missing the departure of a listed booking."""


class Storage:
    """Loads the state of watched bookings from a journal, and saves it.

    Args:
        journal: The journal; None: nothing is stored.
        until_departure: Whether the bookings are watched until departure.
    """

    def __init__(self, journal: Journal | None, *, until_departure: bool) -> None:
        self._journal = journal
        self._until_departure = until_departure

    def list_departing(self, now: datetime) -> Flow[list[str]]:
        """List the bookings that have not departed, or whose event ``departed`` may be missing."""
        journal = self._journal
        if journal is None:
            return []

        def list_ids() -> list[str]:
            return [*journal.booking_ids(departs_after=now - _LONGEST_BREAK)]

        return (yield from RunBlocking(list_ids, may_be_interrupted=True))

    def load(self, entries: Mapping[str, Entry]) -> Flow[dict[str, StoredDepartures]]:
        """Load what the journal has of bookings.

        Returns:
            What is known of the departures of the bookings that need not be read at once, by id.
        """
        resting: dict[str, StoredDepartures] = {}
        if self._journal is not None:
            yield from self._load_snapshots(self._journal, entries)
            if self._until_departure:
                resting = yield from self._load_departures(self._journal, entries)
        return resting

    def _load_snapshots(self, journal: Journal, entries: Mapping[str, Entry]) -> Flow[None]:
        load = partial(journal.load_snapshots, [*entries])
        texts = yield from RunBlocking(load, may_be_interrupted=True)
        for booking_id, text in texts.items():
            stored = parse_snapshot(text)
            if stored is None:
                _warn_of_damage(booking_id)
                continue

            entry = entries[booking_id]
            entry.before = stored.snapshot
            entry.reported_stage = stored.reported_stage
            entry.reminded = stored.reminded
            entry.is_recorded = True

    def _load_departures(
        self, journal: Journal, entries: Mapping[str, Entry]
    ) -> Flow[dict[str, StoredDepartures]]:
        resting: dict[str, StoredDepartures] = {}
        load = partial(journal.load_departures, [*entries])
        saved = yield from RunBlocking(load, may_be_interrupted=True)
        for booking_id, departures in saved.items():
            entry = entries[booking_id]
            entry.writes = departures.writes
            if departures.content is None:
                continue
            stored = parse_departures(departures.content)
            if stored is None:
                _warn_of_damage(booking_id)
                continue

            entry.sailings = [*stored.sailings]
            entry.is_not_known = stored.is_not_known
            if stored.writes == entry.writes and _is_at_rest(entry):
                resting[booking_id] = stored
        return resting

    def save_before_events(self, entry: Entry, snapshot: BookingSnapshot) -> Flow[None]:
        """Record the state that the events of a booking follow, unless the journal has it."""
        if not entry.is_recorded:
            yield from self._save_snapshot(entry, snapshot)

    def save(self, entry: Entry, read_at: datetime) -> Flow[None]:
        """Record the state of a booking after its events.

        Args:
            entry: The booking; what was given of it counts as given.
            read_at: When it was read, by the service's clock.
        """
        if self._journal is None:
            return
        if not self._until_departure:
            if entry.before is not None:
                yield from self._save_snapshot(entry, entry.before)
            return

        snapshot = None
        if entry.before is not None:
            snapshot = entry.before.to_text(entry.reported_stage, entry.reminded)
        departures = StoredDepartures(
            read_at=read_at,
            writes=entry.writes,
            is_finished=is_finished(entry),
            is_not_known=entry.is_not_known,
            sailings=tuple(entry.sailings),
        )
        save = partial(
            self._journal.save_departures,
            entry.booking_id,
            departures.to_text(),
            ends_at=_end_of(entry, read_at),
            snapshot=snapshot,
        )
        yield from RunBlocking(save, may_be_interrupted=True)
        entry.is_recorded = snapshot is not None

    def _save_snapshot(self, entry: Entry, snapshot: BookingSnapshot) -> Flow[None]:
        if self._journal is not None:
            text = snapshot.to_text(entry.reported_stage, entry.reminded)
            save = partial(self._journal.save_snapshot, entry.booking_id, text)
            yield from RunBlocking(save, may_be_interrupted=True)
            entry.is_recorded = True


def is_finished(entry: Entry) -> bool:
    """Return whether a booking that is watched until departure has nothing left to watch."""
    stage = None if entry.before is None else entry.before.stage
    if stage in ENDED:
        return True
    if stage not in AT_REST or not entry.sailings:
        return False
    return all(sailing.has_departed for sailing in entry.sailings)


def _is_at_rest(entry: Entry) -> bool:
    """Return whether a booking was at rest when it was read, and that was given as an event.

    A booking that was never readable counts as one: it is not asked for each time again.
    """
    if entry.before is None:
        return entry.is_not_known
    return entry.before.stage in AT_REST and entry.before.stage == entry.reported_stage


def _end_of(entry: Entry, read_at: datetime) -> datetime | None:
    """Return the moment after which a booking need not be watched; None if it is not known."""
    before = entry.before
    if before is None:
        return None
    if before.stage in ENDED:
        return read_at
    if before.stage in AT_REST and before.stage != Stage.REJECTED:
        return last_departure(entry.sailings)
    return before.departures[-1] if before.departures else None


def _warn_of_damage(booking_id: str) -> None:
    logger.warning(
        "what the journal has of booking %s is damaged: events may come again", booking_id
    )
