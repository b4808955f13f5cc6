"""The arguments of a journal's methods."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any, Final, Literal, get_args

from ferry_sdk._engine.safety import SAFETY
from ferry_sdk.errors import InvalidInputError
from ferry_sdk.types import EntryState, JournalEntry

_STATES: Final = (*get_args(EntryState), "unresolved")
_WRITES: Final = tuple(name for name, row in SAFETY.items() if not row.is_read)


@dataclass(frozen=True)
class Filters:
    """What `Journal.entries` selects by; None selects everything.

    Raises:
        InvalidInputError: A value has no meaning; `field` names it.
    """

    since: datetime | JournalEntry | None
    until: datetime | None
    state: EntryState | Literal["unresolved"] | None
    operation: str | None
    booking_id: str | None
    ticket_id: str | None
    correlation_id: str | None
    limit: int | None

    def __post_init__(self) -> None:
        """Check the values: callers may have no type checker."""
        start = self.since.began_at if isinstance(self.since, JournalEntry) else self.since
        check_moment(start, "since")
        check_moment(self.until, "until")
        if start is not None and self.until is not None and self.until < start:
            raise InvalidInputError("expected a moment that is not before since", field="until")
        if self.state not in (None, *_STATES):
            raise InvalidInputError(f"expected one of {', '.join(_STATES)}", field="state")
        if self.operation not in (None, *_WRITES):
            raise InvalidInputError(
                "expected the name of a write, such as bookings.create", field="operation"
            )
        for name in ("booking_id", "ticket_id", "correlation_id"):
            value = getattr(self, name)
            if value is not None:
                check_id(value, name)
        limit: Any = self.limit
        if limit is not None and (not isinstance(limit, int) or limit is True or limit < 1):
            raise InvalidInputError("expected a whole number, 1 or more", field="limit")


def cutoff(older_than: Any) -> datetime:  # noqa: ANN401 -- it is validated here
    """Return the moment at which an entry of this age was made."""
    with suppress(TypeError, ValueError, OverflowError):
        age = older_than if isinstance(older_than, timedelta) else timedelta(seconds=older_than)
        if age >= timedelta(0) and not isinstance(older_than, bool):
            return datetime.now(timezone.utc) - age
    raise InvalidInputError("expected seconds or a timedelta, 0 or more", field="older_than")


def check_id(value: object, field: str) -> None:
    """Raise unless this can be an id in a journal."""
    if not isinstance(value, str) or not value.strip() or not value.isprintable():
        raise InvalidInputError("expected an id", field=field)


def check_moment(value: object, field: str) -> None:
    """Raise unless this is None, or a moment that can be converted to UTC."""
    if value is None:
        return
    with suppress(OverflowError):
        if isinstance(value, datetime) and value.utcoffset() is not None:
            value.astimezone(timezone.utc)
            return
    raise InvalidInputError("expected a datetime with a time zone", field=field)
