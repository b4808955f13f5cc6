"""Statements on the table of writes; each one is its own transaction.

A write that may have happened is not made again. This is how `add` refuses it, in every process:

1. The fingerprint of an entry is equal for equal writes, and for these alone.
2. A unique index (`schema.unresolved_index`) has the fingerprints of all unresolved entries. So the
   database refuses a second one, however many processes insert at once.
3. An entry leaves this index when its write is settled; then the same write can be made again.

For example, if the reply to a ``bookings.create`` is lost:

| Call of the journal      | State of the entry | The same create again           |
|--------------------------|--------------------|---------------------------------|
| `begin`                  | ``open``           | `DuplicateWriteError`           |
| `end`, as ``unknown``    | ``unknown``        | `DuplicateWriteError`           |
| `settle`, not happened   | ``rejected``       | a new entry                     |

An unresolved entry with a damaged fingerprint may be any write, so `add` inserts nothing beside it.

An outcome is one UPDATE, whose condition has the states that it may replace (`TRANSITIONS`). So
outcomes may arrive in any order, and from several processes.
"""

from __future__ import annotations

import json
from contextlib import suppress
from functools import lru_cache
from secrets import token_hex
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, get_args

from sqlalchemy import (
    Text,
    and_,
    bindparam,
    delete,
    func,
    insert,
    inspect,
    or_,
    select,
    true,
    tuple_,
    update,
)
from sqlalchemy.exc import IntegrityError

from ferry_sdk.errors import InvalidInputError, JournalError
from ferry_sdk.journal.compilation import run
from ferry_sdk.journal.connections import exclusive_transaction
from ferry_sdk.journal.rows import SETTLED_BY_HAND, fetch, fetch_first
from ferry_sdk.journal.schema import (
    LONGEST,
    SETTLED,
    WITHOUT_EFFECT,
    departures,
    entries,
    is_short,
    is_unresolved,
    is_without_effect,
    is_without_fingerprint,
    keys,
    literals,
    orders,
    utc_now,
)
from ferry_sdk.types import EntryState, JournalEntry, OutcomeDetails

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime, timedelta

    from sqlalchemy import Column, ColumnElement, Connection, Select, Update

    from ferry_sdk.types import EndState, Intent

_STATES: Final[tuple[EntryState, ...]] = get_args(EntryState)
_UNRESOLVED: Final[tuple[EntryState, ...]] = ("open", "unknown")
CREATES: Final = frozenset({"bookings.create", "mcp.create_booking"})

TRANSITIONS: Final[Mapping[EndState, tuple[EntryState, ...]]] = {
    "unknown": ("open",),
    "not_sent": _UNRESOLVED,
    "rejected": _UNRESOLVED,
    "done": (*_UNRESOLVED, *WITHOUT_EFFECT),
}
"""The states that each outcome replaces. ``done`` is never replaced, so that outcomes may arrive in
any order. A state that is not one of these is damaged, and any outcome replaces it."""

# The statements of a write, and those that it needs if it is refused. They are built once, because
# building one takes ten times as long as it takes SQLite. An UPDATE sets the columns for which
# `execute` gets a parameter.

_is_this: Final = entries.c.id == bindparam("entry_id")
_is_damaged: Final = and_(is_unresolved, is_without_fingerprint)

_FILLED: Final = (
    "id",
    "operation",
    "method",
    "path",
    "subject",
    "correlation_id",
    "fingerprint",
    "state",
    "created_at",
    "changed_at",
    "booking_id",
)
"""The columns that a new entry fills."""

_ADD: Final = insert(entries).from_select(
    _FILLED,
    select(*(bindparam(name, type_=entries.c[name].type) for name in _FILLED)).where(
        ~select(entries.c.id).where(_is_damaged).exists()
    ),
)
"""Inserts an entry, unless one that may be the same write is damaged."""
_DAMAGED: Final = select(entries.c.id).where(_is_damaged).limit(1)
_DUPLICATE: Final = select(entries).where(
    entries.c.fingerprint == bindparam("fingerprint"), is_unresolved
)
_FIND: Final = select(entries).where(_is_this)
_LOOK_UP: Final = select(entries.c.id).where(_is_this)


def _update_of(replaced_states: Sequence[EntryState]) -> Update:
    """Return the statement that replaces these states of an entry, and any that is damaged."""
    other_states = [state for state in _STATES if state not in replaced_states]
    return update(entries).where(_is_this, entries.c.state.not_in(literals(other_states)))


_REPLACE: Final = {outcome: _update_of(replaced) for outcome, replaced in TRANSITIONS.items()}
"""Sets an outcome, unless the entry has one that stays."""
_COMPLETE: Final = update(entries).where(_is_this, entries.c.state.in_(literals(["done"])))
"""Adds to an entry what a late reply named."""
_CORRECT: Final = _COMPLETE.where(
    or_(entries.c.code.in_(literals([SETTLED_BY_HAND])), entries.c.booking_id.is_(None))
)
"""Adds to an entry what a person says, unless a reply named the booking."""

_UNRESOLVED_IDS: Final = select(entries.c.id).where(is_unresolved).correlate(None)
"""SQLite reads them by their index. With the condition in the query that sorts the entries, it
would use the index that has all entries in order."""

_MOST_QUERIES: Final = 100
"""Queries that are kept, one for each combination of filters."""

_WRITES_OF_A_BOOKING: Final = 4
"""Writes of one booking that `newest_booking_ids` expects at most."""


class DuplicateWriteError(Exception):
    """An unresolved entry has the same fingerprint; the transaction is rolled back.

    `Journal.begin` raises an `UnresolvedWriteError` with that entry instead.
    """


class Filters(NamedTuple):
    """What `entries` selects by; None selects everything."""

    since: datetime | JournalEntry | None
    until: datetime | None
    state: EntryState | Literal["unresolved"] | None
    operation: str | None
    booking_id: str | None
    ticket_id: str | None
    correlation_id: str | None
    limit: int | None


def add(connection: Connection, intent: Intent, fingerprint: str) -> str:
    """Insert an entry for a write as ``open``, and return its id.

    Raises:
        DuplicateWriteError: An unresolved entry has the same fingerprint.
        InvalidInputError: The id of the booking cannot be stored.
        JournalError: An unresolved entry has a damaged fingerprint, and may be the same write.
    """
    booking_id = intent.subject.get("booking_id")
    if booking_id is not None and storable(booking_id) is None:
        raise InvalidInputError("the journal cannot store this id", field="booking_id")

    entry_id = token_hex(16)
    now = utc_now()
    values = {
        "id": entry_id,
        "operation": intent.operation,
        "method": intent.method,
        "path": intent.path,
        "subject": dict(intent.subject),
        "correlation_id": intent.correlation_id,
        "fingerprint": fingerprint,
        "state": "open",
        "created_at": now,
        "changed_at": now,
        "booking_id": booking_id,
    }
    try:
        is_added = run(connection, _ADD, values)
    except IntegrityError:
        raise DuplicateWriteError from None

    if is_added:
        return entry_id
    damaged_id = connection.execute(_DAMAGED).scalars().first()
    if damaged_id is not None:
        raise JournalError(
            f"journal entry {damaged_id} is damaged and may be the same write: settle it first"
        )
    raise DuplicateWriteError  # a damaged entry was settled in the meantime


def duplicate(connection: Connection, fingerprint: str) -> JournalEntry | None:
    """Return the unresolved entry with this fingerprint."""
    return fetch_first(connection, _DUPLICATE, {"fingerprint": fingerprint})


def change(
    connection: Connection, entry_id: str, state: EndState, details: OutcomeDetails | None = None
) -> bool:
    """Set an outcome if it may replace the present state, and return whether there is an entry.

    An entry that is ``done`` already, because a person settled it, still gets the ids of a late
    reply, and those by which a person corrects it.
    """
    details = details or OutcomeDetails()
    code = storable(details.code)
    ids = _storable_ids(details)
    parameters: dict[str, object] = {"entry_id": entry_id, "code": code, **ids}

    outcome = {"state": state, "changed_at": utc_now(), "status_code": details.status_code}
    if run(connection, _REPLACE[state], parameters | outcome):
        return True

    if ids and state == "done":
        addition = _CORRECT if code == SETTLED_BY_HAND else _COMPLETE
        run(connection, addition, parameters)
    return connection.execute(_LOOK_UP, {"entry_id": entry_id}).first() is not None


def settle(
    connection: Connection, entry_id: str, state: EndState, details: OutcomeDetails
) -> JournalEntry | None:
    """Set an outcome as `change` does, and return the entry."""
    change(connection, entry_id, state, details=details)
    return find(connection, entry_id)


def settle_create(
    connection: Connection, entry_id: str, state: EndState, details: OutcomeDetails
) -> JournalEntry | None:
    """Set the outcome and the booking of a ``create`` as `settle` does, and return the entry.

    Raises:
        InvalidInputError: Another ``create`` made the booking.
    """
    makers = select(entries.c.id).where(
        entries.c.booking_id == details.booking_id,
        entries.c.operation.in_(CREATES),
        entries.c.state == "done",
        entries.c.id != entry_id,
    )
    with exclusive_transaction(connection):
        if connection.execute(makers.limit(1)).first() is not None:
            raise InvalidInputError("another write made this booking", field="booking_id")
        return settle(connection, entry_id, state, details=details)


def find(connection: Connection, entry_id: str) -> JournalEntry | None:
    """Return the entry with this id."""
    return fetch_first(connection, _FIND, {"entry_id": entry_id})


def unresolved(connection: Connection, age: timedelta) -> tuple[JournalEntry, ...]:
    """Return the unresolved entries of at least this age, oldest first.

    Entries with a damaged time are always included, and come first. So are those of a later moment
    than now: the clock was set back, or another machine's is ahead, so their age is not known.
    """
    latest = cutoff(age)
    now = utc_now()
    unresolved_entries = fetch(connection, select(entries).where(is_unresolved))
    old = (entry for entry in unresolved_entries if not latest < entry.created_at <= now)
    return tuple(sorted(old, key=lambda entry: (entry.created_at, entry.id)))


def entries_by(connection: Connection, filters: Filters) -> tuple[JournalEntry, ...]:
    """Return the entries that pass the filters, ordered by time and id."""
    parameters: dict[str, object] = filters._asdict()
    if isinstance(filters.since, JournalEntry):
        parameters |= {"since": filters.since.created_at, "since_id": filters.since.id}
    names = tuple(name for name, value in parameters.items() if value is not None)
    is_short_id = len(filters.correlation_id or "") <= LONGEST
    query = _query(names, filters.state, is_short_id=is_short_id)

    if filters.booking_id is not None:
        query = query.where(_concerns(connection, filters.booking_id))
    if filters.ticket_id is not None:
        is_issued = _contains(entries.c.ticket_ids, json.dumps(filters.ticket_id))
        query = query.where(or_(_changes_ticket(filters.ticket_id), is_issued))
    return tuple(fetch(connection, query, parameters))


@lru_cache(_MOST_QUERIES)
def _query(names: tuple[str, ...], state: str | None, *, is_short_id: bool) -> Select[Any]:
    """Build the query of `entries_by` for these filters.

    The values of the filters are parameters, so that the query is built once for all values. The
    state is no parameter, because SQLite chooses the index by it. `entries_by` adds the filters by
    booking and by ticket.

    Args:
        names: The filters.
        state: The value of the filter by state.
        is_short_id: Whether the correlation id is short enough for the index.
    """
    order = (entries.c.created_at, entries.c.id)
    query = select(entries).order_by(*order)

    since = bindparam("since", type_=entries.c.created_at.type)
    if "since_id" in names:
        # The value in the database, because one that is damaged cannot be read.
        since_id = bindparam("since_id", type_=entries.c.id.type)
        began = select(entries.c.created_at).where(entries.c.id == since_id).scalar_subquery()
        query = query.where(tuple_(*order) > tuple_(func.coalesce(began, since), since_id))
    elif "since" in names:
        query = query.where(entries.c.created_at >= since)
    if "until" in names:
        query = query.where(entries.c.created_at < bindparam("until"))

    if "operation" in names:
        query = query.where(entries.c.operation == bindparam("operation"))
    if "correlation_id" in names:
        query = query.where(entries.c.correlation_id == bindparam("correlation_id"))
        if is_short_id:
            query = query.where(is_short)
    if "limit" in names:
        query = query.limit(bindparam("limit"))

    if state is not None:
        has_better_index = "booking_id" in names or "correlation_id" in names
        query = query.where(*_has_state(state, by_index=not has_better_index))
    return query


def _has_state(state: str, *, by_index: bool) -> list[ColumnElement[bool]]:
    """Return the conditions of a state.

    SQLite cannot tell which of two indexes has fewer entries, and uses a partial index only for a
    query that has its condition. So a second condition, which changes no result, chooses the index.
    """
    is_wanted: ColumnElement[bool] = is_unresolved
    if state != "unresolved":
        is_wanted = entries.c.state.in_(literals([state]))

    if not by_index or state == "done":  # nearly all entries are done: the order finds them
        return [is_wanted]
    if state in WITHOUT_EFFECT:
        return [is_wanted, is_without_effect]
    return [is_wanted, entries.c.id.in_(_UNRESOLVED_IDS)]


def _concerns(connection: Connection, booking_id: str) -> ColumnElement[bool]:
    """Select the entries that name a booking, or only a ticket of it.

    For example, the entry of a confirmation names booking b1 and its ticket t1, and that of a
    cancellation only t1: both concern b1.
    """
    names_booking = entries.c.booking_id == booking_id
    names_no_booking = entries.c.booking_id.is_(None)

    tickets: set[str] = set()
    for entry in fetch(connection, select(entries).where(names_booking)):
        tickets.update(entry.ticket_ids or ())
    names_ticket = [_changes_ticket(ticket) for ticket in sorted(tickets)]
    return or_(names_booking, *(and_(names_no_booking, condition) for condition in names_ticket))


def _changes_ticket(ticket_id: str) -> ColumnElement[bool]:
    """Select the entries whose subject, a JSON text, has ``"ticket_id": "t1"``."""
    return _contains(entries.c.subject, json.dumps({"ticket_id": ticket_id})[1:-1])


def _contains(column: Column[Any], text: str) -> ColumnElement[bool]:
    # Not LIKE, which ignores the case of letters in SQLite.
    whole = column.cast(Text)
    return func.replace(whole, text, "") != whole


def booking_ids(
    connection: Connection,
    after: object,
    limit: int,
    *,
    since: datetime | None,
    departs_after: datetime | None,
) -> Sequence[object]:
    """Return the next ids of bookings, in the database's order; a damaged one has any type."""
    column = entries.c.booking_id
    query = select(column).distinct().order_by(column).limit(limit)
    query = query.where(column > after, entries.c.state.not_in(WITHOUT_EFFECT))
    is_wanted: list[ColumnElement[bool]] = []
    if since is not None:
        is_wanted.append(entries.c.created_at >= since)
    if departs_after is not None:
        is_wanted.append(_departs_later(connection, departs_after))
    if is_wanted:
        query = query.where(or_(*is_wanted))
    return connection.execute(query).scalars().all()


def newest_booking_ids(connection: Connection, *, since: datetime | None, limit: int) -> list[str]:
    """Return the ids of the bookings with the newest writes, newest first.

    Few writes are of one booking, so that a multiple of the limit usually has enough bookings.
    """
    query = select(entries.c.booking_id).where(
        entries.c.booking_id.is_not(None), entries.c.state.not_in(WITHOUT_EFFECT)
    )
    if since is not None:
        query = query.where(entries.c.created_at >= since)
    query = query.order_by(entries.c.created_at.desc(), entries.c.id.desc())

    rows = limit
    while True:
        rows *= _WRITES_OF_A_BOOKING
        read = connection.execute(query.limit(rows)).scalars().all()
        ids = dict.fromkeys(each for each in read if isinstance(each, str))
        if len(ids) >= limit or len(read) < rows:
            return [*ids][:limit]


def _departs_later(connection: Connection, moment: datetime) -> ColumnElement[bool]:
    """Select the entries of bookings that depart later than a moment, or perhaps do."""
    if not inspect(connection).has_table(departures.name):
        return true()
    departs_earlier = select(departures.c.booking_id).where(
        departures.c.booking_id == entries.c.booking_id, departures.c.ends_at <= moment
    )
    return ~departs_earlier.exists()


def forget(connection: Connection, until: datetime, page: int) -> int:
    """Delete entries that were settled by this moment, at most a page; return their number."""
    old = [entries.c.state.in_(SETTLED), entries.c.changed_at <= until]
    database = inspect(connection)
    if database.has_table(orders.name):  # an order needs the entry of its last write
        needed = select(orders.c.entry_id).where(orders.c.entry_id.is_not(None))
        old.append(entries.c.id.not_in(needed))
    if database.has_table(keys.name):  # an idempotency key gives its booking for ever
        old.append(entries.c.id.not_in(select(keys.c.entry_id)))

    # Entries of about the same time are near each other on the disk.
    ids = select(entries.c.id).where(*old).order_by(entries.c.created_at, entries.c.id)
    return connection.execute(delete(entries).where(entries.c.id.in_(ids.limit(page)))).rowcount


def _storable_ids(details: OutcomeDetails) -> dict[str, object]:
    tickets = [ticket for ticket in details.ticket_ids or () if storable(ticket)]
    ids = {"booking_id": storable(details.booking_id), "ticket_ids": tickets}
    return {name: value for name, value in ids.items() if value}


def storable(text: str | None) -> str | None:
    """Return an id or a code; None for one that a database could refuse with its outcome."""
    if text and len(text) <= LONGEST and text.isprintable():
        return text
    return None


def cutoff(age: timedelta) -> datetime:
    """Return the moment at which an entry of this age was made."""
    with suppress(OverflowError):
        return utc_now() - age
    raise InvalidInputError("before the year 1", field="older_than")
