"""Statements on the table of idempotency keys: a key has one booking, or one order.

What a key stands for is decided here, and only here, in the transaction that records a write:

1. `require_free` looks for the first try of the key that counts. The try of a booking counts unless
   its entry is ``rejected`` or ``not_sent``; the try of an order counts until `release` deletes it,
   because the order was refused and all of it was cancelled.
2. If a try counts, the write is refused: with an `IdempotencyError` if it is for another booking,
   else with an `UnresolvedWriteError`. The engine then reads a booking that is made, and
   `orders.hold` resumes an order that has ended. Nothing else is decided from this error.
3. If none counts, the write gets its entry, and `add` adds the next try of the key.

For example, the key ``order-4711`` after each call of `bookings.create`:

| Call                           | Tries of the key          | What the call does         |
|--------------------------------|---------------------------|----------------------------|
| the service refuses it         | 1: ``rejected``           | raises the refusal         |
| repeated; the reply is lost    | 1, 2: ``unknown``         | raises OutcomeUnknownError |
| repeated                       | 1, 2                      | raises 2 as unresolved     |
| repeated after `settle`, done  | 1, 2: ``done``            | reads the booking of 2     |
| repeated for another traveller | 1, 2                      | raises IdempotencyError    |

Tries are kept, because the outcome of an early one may change: if a person settles try 1 as not
happened, and its reply arrives after try 2 was rejected, try 1 is ``done`` and counts again.

The transaction is exclusive, and (key, number) is unique. So of programs that use a key at the same
time, one adds the next try, and the others find it. The key and the booking are stored as keyed
hashes; the key's includes the address of the service.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from sqlalchemy import bindparam, delete, func, insert, inspect, or_, select

from ferry_sdk.errors import IdempotencyError, JournalError, UnresolvedWriteError
from ferry_sdk.journal.compilation import run
from ferry_sdk.journal.schema import entries, is_without_effect, keys, orders
from ferry_sdk.journal.statements import find

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy import Connection


class Claim(NamedTuple):
    """A key and what it is to be used for, as the journal stores both.

    Attributes:
        key_hash: The hash of the key and the service's address.
        booking_hash: The hash of the booking.
    """

    key_hash: str
    booking_hash: str


_counts: Final = or_(keys.c.order_id.is_not(None), entries.c.id.is_(None), ~is_without_effect)
"""Selects the tries that count. One whose entry is missing may have made a booking."""
_FIRST_TRY: Final = (
    select(
        keys.c.booking_hash,
        keys.c.order_id,
        func.coalesce(orders.c.entry_id, keys.c.entry_id).label("entry_id"),
    )
    .select_from(
        keys.outerjoin(entries, entries.c.id == keys.c.entry_id).outerjoin(
            orders, orders.c.id == keys.c.order_id
        )
    )
    .where(keys.c.key_hash == bindparam("key_hash"), _counts)
    .order_by(keys.c.number)
    .limit(1)
)
"""The first try that counts. Of an order, with the entry of the write that was begun last."""
_LAST_NUMBER: Final = select(func.max(keys.c.number)).where(
    keys.c.key_hash == bindparam("key_hash")
)
_ADD: Final = insert(keys).inline()


def require_free(connection: Connection, claim: Claim) -> None:
    """Raise if a try of the key counts.

    Raises:
        IdempotencyError: It is for another booking.
        UnresolvedWriteError: It is for the same booking, which is made or may have been made.
        JournalError: Its entry is missing.
    """
    first_try = connection.execute(_FIRST_TRY, {"key_hash": claim.key_hash}).one_or_none()
    if first_try is None:
        return
    entry = find(connection, first_try.entry_id)
    if entry is None:
        raise JournalError(
            f"the journal lacks entry {first_try.entry_id}, which has this idempotency key: "
            "restore it, or use another key"
        )
    if first_try.booking_hash != claim.booking_hash:
        raise IdempotencyError(entry)
    raise UnresolvedWriteError(entry, order_id=first_try.order_id)


def add(connection: Connection, claim: Claim, *, entry_id: str, order_id: str | None) -> None:
    """Add the next try of a key."""
    last_number = connection.execute(_LAST_NUMBER, {"key_hash": claim.key_hash}).scalar_one()
    number = 1 if last_number is None else last_number + 1
    run(
        connection,
        _ADD,
        claim._asdict() | {"number": number, "entry_id": entry_id, "order_id": order_id},
    )


def release(connection: Connection, order_id: str) -> None:
    """Free the key of an order."""
    if inspect(connection).has_table(keys.name):
        connection.execute(delete(keys).where(keys.c.order_id == order_id))


def forget(connection: Connection, until: datetime, page: int) -> int:
    """Delete tries whose entries have had no effect since, at most a page; return their number."""
    if not inspect(connection).has_table(keys.name):
        return 0
    old = select(entries.c.id).where(is_without_effect, entries.c.changed_at <= until)
    ids = select(keys.c.entry_id).where(keys.c.order_id.is_(None), keys.c.entry_id.in_(old))
    return connection.execute(delete(keys).where(keys.c.entry_id.in_(ids.limit(page)))).rowcount
