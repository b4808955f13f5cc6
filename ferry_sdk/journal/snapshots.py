"""Statements on the table of snapshots."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sqlalchemy import delete, insert, select

from ferry_sdk.journal.engines import exclusive_transaction
from ferry_sdk.journal.schema import snapshots

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection

_AT_ONCE: Final = 500
"""Fewer than the parameters that SQLite accepts in one statement."""


def load(connection: Connection, booking_ids: Sequence[str]) -> dict[str, str]:
    """Return the snapshots of these bookings, by id."""
    contents: dict[str, str] = {}
    for start in range(0, len(booking_ids), _AT_ONCE):
        some = booking_ids[start : start + _AT_ONCE]
        query = select(snapshots.c.booking_id, snapshots.c.content)
        rows = connection.execute(query.where(snapshots.c.booking_id.in_(some))).all()
        contents.update((booking_id, content) for booking_id, content in rows)
    return contents


def save(connection: Connection, booking_id: str, content: str) -> None:
    """Replace the snapshot of a booking."""
    with exclusive_transaction(connection):
        connection.execute(delete(snapshots).where(snapshots.c.booking_id == booking_id))
        connection.execute(insert(snapshots).values(booking_id=booking_id, content=content))
