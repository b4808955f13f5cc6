"""The arguments of a journal's methods.

They are checked as values of any type, because callers may have no type checker.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final, get_args

from ferry_sdk._engine.safety import SAFETY
from ferry_sdk._runtime.values import is_a
from ferry_sdk.errors import InvalidInputError
from ferry_sdk.journal.statements import Filters
from ferry_sdk.types import EntryState, JournalEntry

_LARGEST_LIMIT: Final = 2**31 - 1
_STATES: Final = (*get_args(EntryState), "unresolved")


def age(older_than: object) -> timedelta:
    """Return an age, given in seconds or as a timedelta."""
    span = older_than if isinstance(older_than, timedelta) else _span_of(older_than)
    if span < timedelta(0):
        raise InvalidInputError("expected 0 or more", field="older_than")
    return span


def _span_of(seconds: object) -> timedelta:
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        raise InvalidInputError("expected seconds or a timedelta", field="older_than")
    # Not `isfinite` first, which converts an `int` of any size to a `float`.
    if not abs(seconds) < timedelta.max.total_seconds():  # nor is NaN
        raise InvalidInputError("expected a duration", field="older_than")
    return timedelta(seconds=seconds)


def check_id(entry_id: object, field: str) -> None:
    """Raise unless this is a text."""
    if not isinstance(entry_id, str):
        raise InvalidInputError("expected the id of an entry", field=field)


def check_subject(value: object, field: str) -> None:
    """Raise unless this can be the id of a booking, a ticket or a request in a journal."""
    if not isinstance(value, str) or not value.strip() or not value.isprintable():
        raise InvalidInputError(f"expected a {field.replace('_', ' ')}", field=field)


def check_filters(filters: Filters) -> Filters:
    """Return the filters of `Journal.entries` as `entries_by` takes them; their moments are UTC.

    Raises:
        InvalidInputError: A filter has no meaning.
    """
    since = filters.since
    if not isinstance(since, JournalEntry):
        since = moment(since, "since")
    until = moment(filters.until, "until")
    start = since.began_at if isinstance(since, JournalEntry) else since
    if start is not None and until is not None and until < start:
        raise InvalidInputError("expected a moment that is not before since", field="until")

    if filters.state is not None and filters.state not in _STATES:
        raise InvalidInputError(f"expected one of {', '.join(_STATES)}", field="state")
    if filters.operation is not None:
        _check_write(filters.operation)

    if filters.booking_id is not None:
        check_subject(filters.booking_id, "booking_id")
    if filters.ticket_id is not None:
        check_subject(filters.ticket_id, "ticket_id")
    if filters.correlation_id is not None:
        check_subject(filters.correlation_id, "correlation_id")

    limit = None if filters.limit is None else _row_limit(filters.limit)
    return filters._replace(since=since, until=until, limit=limit)


def _check_write(operation: object) -> None:
    safety = SAFETY.get(operation) if isinstance(operation, str) else None
    if safety is None or safety.is_read:
        raise InvalidInputError(
            "expected the name of a write, such as bookings.create", field="operation"
        )


def _row_limit(limit: object) -> int:
    """Return a number of rows that a database accepts."""
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1:
        raise InvalidInputError("expected a whole number, 1 or more", field="limit")
    return min(limit, _LARGEST_LIMIT)


def moment(value: object, field: str) -> datetime | None:
    """Return a moment in UTC, or None."""
    if value is None:
        return None
    if not is_a(value, datetime) or value.utcoffset() is None:
        raise InvalidInputError("expected a datetime with a time zone", field=field)
    try:
        return value.astimezone(UTC)
    except OverflowError:
        raise InvalidInputError("outside the years 1 to 9999 in UTC", field=field) from None
