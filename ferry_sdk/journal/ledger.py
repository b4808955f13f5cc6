"""Single statements on the table of writes; each is a transaction of its own."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import TYPE_CHECKING, Final, get_args
from uuid import uuid4

from sqlalchemy import delete, insert, select, update

from ferry_sdk.errors import InvalidInputError
from ferry_sdk.facts import EntryState, JournalEntry
from ferry_sdk.journal.tables import entries

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import timedelta

    from sqlalchemy import Connection, RowMapping

    from ferry_sdk.recording import EndState, Intent

UNRESOLVED: Final[tuple[EntryState, ...]] = ("open", "unknown")
_SETTLED = tuple(state for state in get_args(EntryState) if state not in UNRESOLVED)

_GIVES_WAY: Final[Mapping[EndState, tuple[EntryState, ...]]] = {
    "unknown": ("open",),
    "not_sent": UNRESOLVED,
    "rejected": UNRESOLVED,
    "done": (*UNRESOLVED, "not_sent", "rejected"),
}
"""Which states a word takes the place of. What is done is never undone, so that any order of
the same words ends in the same state."""


def is_end(state: str) -> bool:
    """Whether a write can end in it."""
    return state in _GIVES_WAY


def add(connection: Connection, intent: Intent, fingerprint: str) -> str:
    """Put a write on record as open, and give its id.

    Raises:
        IntegrityError: Another of the same fingerprint is unresolved.
    """
    entry_id, now = uuid4().hex, _now()
    connection.execute(
        insert(entries).values(
            id=entry_id,
            operation=intent.operation,
            method=intent.method,
            path=intent.path,
            subject=dict(intent.subject),
            correlation_id=intent.correlation_id,
            fingerprint=fingerprint,
            state="open",
            created_at=now,
            changed_at=now,
        )
    )
    return entry_id


def twin(connection: Connection, fingerprint: str) -> JournalEntry | None:
    """The unresolved write of this fingerprint."""
    wanted = select(entries).where(
        entries.c.fingerprint == fingerprint, entries.c.state.in_(UNRESOLVED)
    )
    return _entry_or_none(connection.execute(wanted).mappings().one_or_none())


def change(connection: Connection, entry_id: str, state: EndState) -> JournalEntry | None:
    """Put an end on record, unless there is a stronger word; give what stands then."""
    connection.execute(
        update(entries)
        .where(entries.c.id == entry_id, entries.c.state.in_(_GIVES_WAY[state]))
        .values(state=state, changed_at=_now())
    )
    return find(connection, entry_id)


def find(connection: Connection, entry_id: str) -> JournalEntry | None:
    """The write of this id."""
    wanted = select(entries).where(entries.c.id == entry_id)
    return _entry_or_none(connection.execute(wanted).mappings().one_or_none())


def unresolved(connection: Connection, age: timedelta) -> tuple[JournalEntry, ...]:
    """The writes begun that long ago which nobody knows the outcome of, oldest first."""
    wanted = (
        select(entries)
        .where(entries.c.state.in_(UNRESOLVED), entries.c.created_at <= _before(age))
        .order_by(entries.c.created_at, entries.c.id)
    )
    return tuple(_entry(row) for row in connection.execute(wanted).mappings())


def forget(connection: Connection, age: timedelta) -> int:
    """Delete the writes that were settled that long ago, and count them."""
    return connection.execute(
        delete(entries).where(entries.c.state.in_(_SETTLED), entries.c.changed_at <= _before(age))
    ).rowcount


def _now() -> datetime:
    return datetime.now(timezone.utc)


def _before(age: timedelta) -> datetime:
    try:
        return _now() - age
    except OverflowError:
        pass
    raise InvalidInputError("before the first year", field="older_than")


def _entry_or_none(row: RowMapping | None) -> JournalEntry | None:
    return None if row is None else _entry(row)


def _entry(row: RowMapping) -> JournalEntry:
    return JournalEntry(**row)
