"""Read the entries of a query, also those of a damaged database.

SQLite stores any value in a column, and a file may be damaged. A damaged entry hides no other one,
and stays visible itself, because it may be a write that happened.

1. All rows are read at once. If a value has another type than its column, the entry is damaged:
   `_make_entry` takes the values that are right, and names the other fields in
   `JournalEntry.damaged`.
2. If the driver or SQLAlchemy cannot decode a value, such as a text that is not UTF-8, the whole
   query fails. Then the ids are read alone, and each value of each entry by a query of its own.

A column that the database does not have (`ABSENT`) counts as null.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from pydantic import BaseModel, Field, ValidationError
from sqlalchemy import select
from sqlalchemy.exc import DataError, OperationalError

from ferry_sdk._runtime.clock import Datetime
from ferry_sdk.journal.engines import is_undecodable
from ferry_sdk.journal.schema import entries
from ferry_sdk.types import EntryState, JournalEntry

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlalchemy import Connection, Select

ABSENT: Final = "ferry_journal_absent"
"""The option of an engine that names the columns of entries which its database has not."""
SETTLED_BY_HAND: Final = "SETTLED"
"""The code of an entry that a person settled as done. Its booking may be corrected, because no
reply named it. Entries hide it."""

_LONG_AGO: Final = datetime.min.replace(tzinfo=UTC)
_VALUE_ERRORS: Final = (ValueError, TypeError, AttributeError, ArithmeticError, DataError)


class _Row(BaseModel, strict=True):
    """The columns of an entry, with the values that stand for damaged ones."""

    id: str = ""
    operation: str = ""
    method: str = ""
    path: str = ""
    subject: dict[str, str] = {}
    correlation_id: str = Field("", pattern=r"^[ -~]*$")  # it is sent in a header again
    fingerprint: str = Field("", pattern=r"^[0-9a-f]{64}$")
    state: EntryState = "unknown"
    created_at: Datetime = _LONG_AGO
    changed_at: Datetime = _LONG_AGO
    booking_id: str | None = None
    ticket_ids: list[str] | None = None
    status_code: int | None = None
    code: str | None = None


def fetch_first(
    connection: Connection, query: Select[Any], parameters: Mapping[str, object]
) -> JournalEntry | None:
    """Return the first entry of a query."""
    found = fetch(connection, query, parameters)
    return found[0] if found else None


def fetch(
    connection: Connection, query: Select[Any], parameters: Mapping[str, object] | None = None
) -> list[JournalEntry]:
    """Return the entries of a query; of a damaged one, the values that can be read."""
    absent: Sequence[str] = connection.get_execution_options().get(ABSENT, ())
    if absent:
        query = query.with_only_columns(*(each for each in entries.c if each.name not in absent))
    nulls = dict.fromkeys(absent)

    try:
        # All rows first: SQLite then holds its lock no longer than the query takes.
        result = connection.execute(query, parameters)
        names = tuple(result.keys())
        rows = result.all()
        return [_make_entry(dict(zip(names, row, strict=True)) | nulls) for row in rows]
    except Exception as error:
        if not _is_value_error(error):
            raise

    # One damaged value made the whole query fail.
    ids = connection.execute(query.with_only_columns(entries.c.id), parameters).scalars().all()
    return [_make_entry(_fetch_values(connection, entry_id, absent) | nulls) for entry_id in ids]


def _fetch_values(connection: Connection, entry_id: str, absent: Sequence[str]) -> dict[str, Any]:
    """Read each value of an entry separately, without those that cannot be read."""
    values: dict[str, Any] = {}
    for column in entries.c:
        if column.name in absent:
            continue
        query = select(column).where(entries.c.id == entry_id)
        try:
            values[column.name] = connection.execute(query).scalar_one_or_none()
        except Exception as error:
            if not _is_value_error(error):
                raise
    return values


def _is_value_error(error: Exception) -> bool:
    """Return True if the error concerns one value, and not the database."""
    if isinstance(error, OperationalError):
        return is_undecodable(error)
    return isinstance(error, _VALUE_ERRORS)


def _make_entry(values: dict[str, Any]) -> JournalEntry:
    try:
        row = _Row.model_validate(values)
    except ValidationError as error:
        wrong = {problem["loc"][0] for problem in error.errors()}
        row = _Row.model_validate({name: values[name] for name in values.keys() - wrong})
    damaged: tuple[str, ...] = ()
    if len(row.model_fields_set) < len(_Row.model_fields):
        damaged = tuple(name for name in _Row.model_fields if name not in row.model_fields_set)

    tickets = row.ticket_ids
    if tickets is None and "ticket_id" in row.subject:
        tickets = [row.subject["ticket_id"]]

    fields: dict[str, Any] = vars(row).copy()  # `dict(row)` takes as long as all the rest
    fields["ticket_ids"] = None if tickets is None else tuple(tickets)
    fields["booking_id"] = row.booking_id or row.subject.get("booking_id")
    fields["code"] = None if row.code == SETTLED_BY_HAND else row.code
    return JournalEntry(**fields, damaged=damaged)
