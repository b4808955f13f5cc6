"""Statements on the table of writes; each one is its own transaction."""

from __future__ import annotations

import re
from contextlib import suppress
from copy import copy
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any, Final, cast, get_args
from uuid import uuid4

from sqlalchemy import delete, insert, or_, select, update
from sqlalchemy.exc import DataError, IntegrityError, OperationalError

from ferry_sdk.errors import InvalidInputError, JournalError
from ferry_sdk.journal.engines import is_undecodable
from ferry_sdk.journal.schema import SETTLED, entries, is_unresolved, is_without_fingerprint
from ferry_sdk.types import EntryState, JournalEntry

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import timedelta

    from sqlalchemy import Connection, Select

    from ferry_sdk.types import EndState, Intent

_STATES: Final[tuple[EntryState, ...]] = get_args(EntryState)
_UNRESOLVED: Final[tuple[EntryState, ...]] = ("open", "unknown")

TRANSITIONS: Final[Mapping[EndState, tuple[EntryState, ...]]] = {
    "unknown": ("open",),
    "not_sent": _UNRESOLVED,
    "rejected": _UNRESOLVED,
    "done": (*_UNRESOLVED, "not_sent", "rejected"),
}
"""The states that each outcome replaces. ``done`` is never replaced, so that outcomes may arrive in
any order. A state that is not one of these is damaged, and any outcome replaces it."""

_LONG_AGO: Final = datetime.min.replace(tzinfo=timezone.utc)
_PLACEHOLDERS: Final[Mapping[str, Any]] = {
    "subject": {},
    "state": "unknown",
    "created_at": _LONG_AGO,
    "changed_at": _LONG_AGO,
}
"""Values for damaged columns; for the others, an empty text."""

_FINGERPRINT: Final = re.compile(r"[0-9a-f]{64}", re.ASCII)
_VALUE_ERRORS: Final = (ValueError, TypeError, AttributeError, ArithmeticError, DataError)


def add(connection: Connection, intent: Intent, fingerprint: str) -> str | None:
    """Insert an entry for a write as ``open``, and return its id.

    Returns:
        The id; None if an unresolved entry has the same fingerprint.

    Raises:
        JournalError: An unresolved entry has a damaged fingerprint, and may be the same write.
    """
    query = select(entries.c.id).where(is_unresolved, is_without_fingerprint).limit(1)
    for damaged in connection.execute(query).scalars():
        raise JournalError(
            f"journal entry {damaged} is damaged and may be the same write: settle it first"
        )
    entry_id, now = uuid4().hex, _now()
    statement = insert(entries).values(
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
    try:
        connection.execute(statement)
    except IntegrityError:
        return None
    return entry_id


def duplicate(connection: Connection, fingerprint: str) -> JournalEntry | None:
    """Return the unresolved entry with this fingerprint."""
    return _fetch_first(
        connection, select(entries).where(entries.c.fingerprint == fingerprint, is_unresolved)
    )


def change(connection: Connection, entry_id: str, state: EndState) -> JournalEntry | None:
    """Set an outcome if it may replace the present state, and return the entry."""
    may_change = or_(entries.c.state.in_(TRANSITIONS[state]), entries.c.state.not_in(_STATES))
    connection.execute(
        update(entries)
        .where(entries.c.id == entry_id, may_change)
        .values(state=state, changed_at=_now())
    )
    return find(connection, entry_id)


def find(connection: Connection, entry_id: str) -> JournalEntry | None:
    """Return the entry with this id."""
    return _fetch_first(connection, select(entries).where(entries.c.id == entry_id))


def unresolved(connection: Connection, age: timedelta) -> tuple[JournalEntry, ...]:
    """Return the unresolved entries of at least this age, oldest first.

    Entries with a damaged time are always included, and come first.
    """
    cutoff = _cutoff(age)
    found = _fetch(connection, select(entries).where(is_unresolved))
    old = (entry for entry in found if entry.created_at <= cutoff)
    return tuple(sorted(old, key=lambda entry: (entry.created_at, entry.id)))


def forget(connection: Connection, age: timedelta) -> int:
    """Delete the entries that were settled at least this long ago, and return their number."""
    return connection.execute(
        delete(entries).where(entries.c.state.in_(SETTLED), entries.c.changed_at <= _cutoff(age))
    ).rowcount


def _now() -> datetime:
    return datetime.now(timezone.utc)


def _cutoff(age: timedelta) -> datetime:
    with suppress(OverflowError):
        return _now() - age
    raise InvalidInputError("before the year 1", field="older_than")


def _fetch_first(connection: Connection, query: Select[tuple[object, ...]]) -> JournalEntry | None:
    return next(iter(_fetch(connection, query)), None)


def _fetch(connection: Connection, query: Select[tuple[object, ...]]) -> list[JournalEntry]:
    """Return the entries; of a damaged one, the values that can be read."""
    try:
        # All rows first: SQLite then holds its lock no longer than the query takes.
        return [_make_entry(dict(row)) for row in connection.execute(query).mappings().all()]
    except Exception as error:
        if not _is_value_error(error):
            raise  # else: one damaged value made the whole query fail
    ids = connection.execute(query.with_only_columns(entries.c.id)).scalars().all()
    return [_make_entry(_fetch_values(connection, entry_id)) for entry_id in ids]


def _fetch_values(connection: Connection, entry_id: str) -> dict[str, Any]:
    """Read each value of an entry separately, without those that cannot be read."""
    values: dict[str, Any] = {}
    for column in entries.c:
        try:
            query = select(column).where(entries.c.id == entry_id)
            values[column.name] = connection.execute(query).scalar_one_or_none()
        except Exception as error:
            if not _is_value_error(error):
                raise
    return values


def _is_value_error(error: Exception) -> bool:
    """Return True if the error concerns one value, and not the database."""
    return isinstance(error, _VALUE_ERRORS) or (
        isinstance(error, OperationalError) and is_undecodable(error)
    )


def _make_entry(values: dict[str, Any]) -> JournalEntry:
    names = [column.name for column in entries.c]
    damaged = tuple(name for name in names if not _is_valid(name, values.get(name)))
    placeholders: dict[str, Any] = {name: copy(_PLACEHOLDERS.get(name, "")) for name in damaged}
    return JournalEntry(**values | placeholders, damaged=damaged)


def _is_valid(name: str, value: object) -> bool:
    match name:
        case "subject":
            return isinstance(value, dict) and all(
                isinstance(part, str)
                for pair in cast("dict[object, object]", value).items()
                for part in pair
            )
        case "state":
            return value in _STATES
        case "created_at" | "changed_at":
            return isinstance(value, datetime)
        case "fingerprint":
            return isinstance(value, str) and _FINGERPRINT.fullmatch(value) is not None
        case "correlation_id":  # it is sent in a header again
            return isinstance(value, str) and value.isascii() and value.isprintable()
        case _:
            return isinstance(value, str)
