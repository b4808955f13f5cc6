"""Statements on the table of snapshots; each one is its own transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sqlalchemy import bindparam, delete, select, text

from ferry_sdk.journal.schema import UtcDateTime, snapshots, utc_now

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from sqlalchemy import Connection

_AT_ONCE: Final = 500
"""Fewer than the parameters that SQLite accepts in one statement."""

# SQLAlchemy has this statement for each database only; they share its text.
_SAVE: Final = text(
    f"INSERT INTO {snapshots.name} (booking_id, content, saved_at) "  # noqa: S608 -- a constant
    "VALUES (:booking_id, :content, :saved_at) ON CONFLICT (booking_id) "
    "DO UPDATE SET content = excluded.content, saved_at = excluded.saved_at"
).bindparams(bindparam("saved_at", type_=UtcDateTime))


def load(connection: Connection, booking_ids: Sequence[str]) -> dict[str, str]:
    """Return the snapshots of these bookings, by id."""
    contents: dict[str, str] = {}
    for start in range(0, len(booking_ids), _AT_ONCE):
        page = booking_ids[start : start + _AT_ONCE]
        query = select(snapshots.c.booking_id, snapshots.c.content)
        rows = connection.execute(query.where(snapshots.c.booking_id.in_(page))).all()
        contents.update((booking_id, content) for booking_id, content in rows)
    return contents


def save(connection: Connection, booking_id: str, content: str) -> None:
    """Replace the snapshot of a booking."""
    values = {"booking_id": booking_id, "content": content, "saved_at": utc_now()}
    connection.execute(_SAVE, values)


def forget(connection: Connection, until: datetime, page: int) -> int:
    """Delete snapshots that were saved by this moment, at most a page; return their number."""
    old = select(snapshots.c.booking_id).where(snapshots.c.saved_at <= until).limit(page)
    return connection.execute(delete(snapshots).where(snapshots.c.booking_id.in_(old))).rowcount
