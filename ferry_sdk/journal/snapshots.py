"""Statements on the tables of snapshots and of departures, in which watches save bookings.

A watch until departure saves both at once. The table of departures has when a booking need not be
watched any more (``ends_at``), which is usually when its last ship leaves. It is null if that is
not known.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from sqlalchemy import bindparam, case, delete, func, inspect, or_, select, text

from ferry_sdk.journal.connections import exclusive_transaction
from ferry_sdk.journal.schema import (
    WITHOUT_EFFECT,
    UtcDateTime,
    departures,
    entries,
    snapshots,
    utc_now,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from sqlalchemy import Connection

_AT_ONCE: Final = 500
"""Fewer than the parameters that SQLite accepts in one statement."""

# SQLAlchemy has these statements for each database only; they share their texts.
_SAVE: Final = text(
    f"INSERT INTO {snapshots.name} (booking_id, content, saved_at) "  # noqa: S608 -- a constant
    "VALUES (:booking_id, :content, :saved_at) ON CONFLICT (booking_id) "
    "DO UPDATE SET content = excluded.content, saved_at = excluded.saved_at"
).bindparams(bindparam("saved_at", type_=UtcDateTime))
_SAVE_DEPARTURES: Final = text(
    f"INSERT INTO {departures.name} (booking_id, content, ends_at, saved_at) "  # noqa: S608 -- a constant
    "VALUES (:booking_id, :content, :ends_at, :saved_at) ON CONFLICT (booking_id) "
    "DO UPDATE SET content = excluded.content, ends_at = excluded.ends_at, "
    "saved_at = excluded.saved_at"
).bindparams(
    bindparam("ends_at", type_=UtcDateTime),
    bindparam("saved_at", type_=UtcDateTime),
)


class SavedDepartures(NamedTuple):
    """What the journal has of a booking that is watched until departure.

    Attributes:
        content: What the watch saved; None if it saved nothing.
        writes: How many writes of the booking are done.
    """

    content: str | None
    writes: int


def load(connection: Connection, booking_ids: Sequence[str]) -> dict[str, str]:
    """Return the snapshots of these bookings, by id."""
    contents: dict[str, str] = {}
    for page in _pages(booking_ids):
        query = select(snapshots.c.booking_id, snapshots.c.content)
        rows = connection.execute(query.where(snapshots.c.booking_id.in_(page))).all()
        contents.update((booking_id, content) for booking_id, content in rows)
    return contents


def save(connection: Connection, booking_id: str, content: str) -> None:
    """Replace the snapshot of a booking."""
    values = {"booking_id": booking_id, "content": content, "saved_at": utc_now()}
    connection.execute(_SAVE, values)


def load_departures(
    connection: Connection, booking_ids: Sequence[str]
) -> dict[str, SavedDepartures]:
    """Return what is known of these bookings, by id; without those that the journal lacks."""
    contents: dict[str, str] = {}
    writes: dict[str, int] = {}
    has_departures = _has_departures(connection)
    is_done = case((entries.c.state == "done", 1), else_=0)
    for page in _pages(booking_ids):
        if has_departures:
            saved = select(departures.c.booking_id, departures.c.content)
            rows = connection.execute(saved.where(departures.c.booking_id.in_(page))).all()
            contents.update((booking_id, content) for booking_id, content in rows)

        counted = select(entries.c.booking_id, func.sum(is_done)).group_by(entries.c.booking_id)
        rows = connection.execute(counted.where(entries.c.booking_id.in_(page))).all()
        writes.update((booking_id, int(count)) for booking_id, count in rows)

    return {
        booking_id: SavedDepartures(contents.get(booking_id), writes.get(booking_id, 0))
        for booking_id in contents.keys() | writes.keys()
    }


def save_departures(
    connection: Connection,
    booking_id: str,
    content: str,
    *,
    ends_at: datetime | None,
    snapshot: str | None,
) -> None:
    """Replace the departures of a booking and, if there is one, its snapshot."""
    values = {
        "booking_id": booking_id,
        "content": content,
        "ends_at": ends_at,
        "saved_at": utc_now(),
    }
    with exclusive_transaction(connection):
        # A journal whose tables could not be changed when it was opened may lack this one.
        departures.create(connection, checkfirst=True)
        connection.execute(_SAVE_DEPARTURES, values)
        if snapshot is not None:
            save(connection, booking_id, snapshot)


def departing_ids(
    connection: Connection, after: object, limit: int, *, departs_after: datetime
) -> Sequence[object]:
    """Return the next ids of bookings that depart later and of which no entry is left."""
    if not _has_departures(connection):
        return ()
    column = departures.c.booking_id
    has_entry = (
        select(entries.c.id)
        .where(entries.c.booking_id == column, entries.c.state.not_in(WITHOUT_EFFECT))
        .exists()
    )
    query = select(column).where(departures.c.ends_at > departs_after, column > after, ~has_entry)
    return connection.execute(query.order_by(column).limit(limit)).scalars().all()


def forget(connection: Connection, until: datetime, page: int) -> int:
    """Delete what was saved by this moment, at most a page; return the number of snapshots.

    What was saved of a booking that departs later stays.
    """
    old = select(snapshots.c.booking_id).where(snapshots.c.saved_at <= until)
    if _has_departures(connection):
        is_ahead = departures.c.ends_at > until
        departing = select(departures.c.booking_id).where(is_ahead)
        old = old.where(snapshots.c.booking_id.not_in(departing))
    deletion = delete(snapshots).where(snapshots.c.booking_id.in_(old.limit(page)))
    return connection.execute(deletion).rowcount


def forget_departures(connection: Connection, until: datetime, page: int) -> int:
    """Delete what is known of departures as `forget` deletes snapshots, and return the number."""
    if not _has_departures(connection):
        return 0
    ends_at = departures.c.ends_at
    old = select(departures.c.booking_id).where(
        departures.c.saved_at <= until, or_(ends_at.is_(None), ends_at <= until)
    )
    deletion = delete(departures).where(departures.c.booking_id.in_(old.limit(page)))
    return connection.execute(deletion).rowcount


def _has_departures(connection: Connection) -> bool:
    """Return whether there is the table; a journal that can only be read may lack it."""
    return inspect(connection).has_table(departures.name)


def _pages(booking_ids: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(booking_ids), _AT_ONCE):
        yield booking_ids[start : start + _AT_ONCE]
