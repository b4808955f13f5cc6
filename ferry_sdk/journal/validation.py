"""The arguments of a journal's methods."""

from __future__ import annotations

import math
from datetime import datetime, timedelta, timezone
from typing import Any, get_args

from ferry_sdk._engine.safety import SAFETY
from ferry_sdk.errors import InvalidInputError
from ferry_sdk.journal.statements import Filters
from ferry_sdk.types import EntryState, JournalEntry

_MOST = 2**31 - 1
_STATES = (*get_args(EntryState), "unresolved")


def age(older_than: object) -> timedelta:
    """Return an age, given in seconds or as a timedelta."""
    if isinstance(older_than, timedelta):
        span = older_than
    elif isinstance(older_than, bool) or not isinstance(older_than, int | float):
        raise InvalidInputError("expected seconds or a timedelta", field="older_than")
    elif math.isfinite(older_than) and abs(older_than) < timedelta.max.total_seconds():
        span = timedelta(seconds=older_than)
    else:
        raise InvalidInputError("expected a duration", field="older_than")
    if span < timedelta(0):
        raise InvalidInputError("expected 0 or more", field="older_than")
    return span


def check_id(entry_id: object, field: str) -> None:
    """Raise unless this is a text."""
    if not isinstance(entry_id, str):
        raise InvalidInputError("expected the id of an entry", field=field)


def check_subject(value: object, field: str) -> None:
    """Raise unless this can be the id of a booking, a ticket or a request in a journal."""
    if not isinstance(value, str) or not value.strip() or not value.isprintable():
        raise InvalidInputError(f"expected a {field.replace('_', ' ')}", field=field)


# The arguments have any type: callers may have no type checker.
def filters(*wanted: Any) -> Filters:  # noqa: ANN401 -- they are validated here
    """Return the filters of `Journal.entries`, given in their order."""
    since, until, state, operation, booking_id, ticket_id, correlation_id, limit = wanted
    start = since.began_at if isinstance(since, JournalEntry) else moment(since, "since")
    end = moment(until, "until")
    if start is not None and end is not None and end < start:
        raise InvalidInputError("expected a moment that is not before since", field="until")
    if state is not None and state not in _STATES:
        raise InvalidInputError(f"expected one of {', '.join(_STATES)}", field="state")
    row = SAFETY.get(operation) if isinstance(operation, str) else None
    if operation is not None and (row is None or row.is_read):
        raise InvalidInputError(
            "expected the name of a write, such as bookings.create", field="operation"
        )
    ids = {"booking_id": booking_id, "ticket_id": ticket_id, "correlation_id": correlation_id}
    for name, value in ids.items():
        if value is not None:
            check_subject(value, name)
    if limit is not None:
        if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1:
            raise InvalidInputError("expected a whole number, 1 or more", field="limit")
        limit = min(limit, _MOST)
    after = since if isinstance(since, JournalEntry) else start
    return Filters(after, end, state, operation, booking_id, ticket_id, correlation_id, limit)


def moment(value: object, field: str) -> datetime | None:
    """Return a moment in UTC, or None."""
    if value is None:
        return None
    if not isinstance(value, datetime) or value.utcoffset() is None:
        raise InvalidInputError("expected a datetime with a time zone", field=field)
    try:
        return value.astimezone(timezone.utc)
    except OverflowError:
        raise InvalidInputError("outside the years 1 to 9999 in UTC", field=field) from None
