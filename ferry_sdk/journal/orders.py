"""Statements on the table of orders."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import bindparam, delete, insert, inspect, select, update

from ferry_sdk.errors import JournalError
from ferry_sdk.journal import idempotency
from ferry_sdk.journal.compilation import run
from ferry_sdk.journal.connections import exclusive_transaction
from ferry_sdk.journal.schema import keys, orders, utc_now
from ferry_sdk.journal.statements import add, find
from ferry_sdk.types import OrderRecord

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy import Connection

    from ferry_sdk.journal.idempotency import Claim
    from ferry_sdk.types import Intent


# They are built once, like the statements of the entries.
_ADD: Final = insert(orders).inline()
_REPLACE: Final = update(orders).where(
    orders.c.id == bindparam("order_id"), orders.c.revision == bindparam("revision_read")
)


def begin(
    connection: Connection,
    intent: Intent,
    fingerprint: str,
    *,
    order: OrderRecord | None,
    claim: Claim | None,
) -> str:
    """Insert an entry for a write, save its order and claim its key, in one transaction.

    Raises:
        IdempotencyError: The key is used for another booking.
        UnresolvedWriteError: The key is used for the same booking.
        DuplicateWriteError: An unresolved entry has the same fingerprint.
        JournalError: Another program has saved the order, or an entry is damaged.
    """
    if order is None and claim is None:
        return add(connection, intent, fingerprint)

    with exclusive_transaction(connection):
        if claim is not None:
            idempotency.require_free(connection, claim)

        entry_id = add(connection, intent, fingerprint)
        if order is not None:
            _save(connection, order, entry_id)
        if claim is not None:
            order_id = None if order is None else order.id
            idempotency.add(connection, claim, entry_id=entry_id, order_id=order_id)
    return entry_id


def save(connection: Connection, order: OrderRecord) -> None:
    """Insert an order of revision 0, or replace the revision that was read.

    Raises:
        JournalError: Another program has saved the order.
    """
    if order.frees_key:
        with exclusive_transaction(connection):
            _save(connection, order, order.entry_id)
            idempotency.release(connection, order.id)
        return

    # A journal that could only be read when it was opened may lack the table.
    if not inspect(connection).has_table(orders.name):
        with exclusive_transaction(connection):
            orders.create(connection, checkfirst=True)
    _save(connection, order, order.entry_id)


def load(
    connection: Connection, order_id: str | None, *, only_unfinished: bool
) -> tuple[OrderRecord, ...]:
    """Return one order or all, oldest first, each with the entry of its last write."""
    if not inspect(connection).has_table(orders.name):
        return ()

    query = select(orders).order_by(orders.c.created_at, orders.c.id)
    if order_id is not None:
        query = query.where(orders.c.id == order_id)
    if only_unfinished:
        query = query.where(orders.c.is_finished.is_(False))
    rows = [dict(row) for row in connection.execute(query).mappings().all()]
    return tuple(_make_record(connection, row) for row in rows)


def forget(connection: Connection, until: datetime, page: int) -> int:
    """Delete orders that were finished by this moment, at most a page; return their number."""
    if not inspect(connection).has_table(orders.name):
        return 0
    old = select(orders.c.id).where(orders.c.is_finished.is_(True), orders.c.changed_at <= until)
    if inspect(connection).has_table(keys.name):  # a key gives its order for ever
        kept = select(keys.c.order_id).where(keys.c.order_id.is_not(None))
        old = old.where(orders.c.id.not_in(kept))
    return connection.execute(delete(orders).where(orders.c.id.in_(old.limit(page)))).rowcount


def _make_record(connection: Connection, row: dict[str, Any]) -> OrderRecord:
    entry_id = row["entry_id"]
    entry = None if entry_id is None else find(connection, entry_id)
    del row["changed_at"]
    return OrderRecord(**row, entry=entry)


def _save(connection: Connection, order: OrderRecord, entry_id: str | None) -> None:
    """Insert an order of revision 0, or replace the revision that the program has read."""
    if not order.revision:
        values = _values(order, entry_id)
        constant = {"id": order.id, "kind": order.kind, "created_at": values["changed_at"]}
        run(connection, _ADD, constant | values)
        return

    condition = {"order_id": order.id, "revision_read": order.revision}
    if not run(connection, _REPLACE, condition | _values(order, entry_id)):
        raise JournalError(f"another program has changed order {order.id}: read it again")


def _values(order: OrderRecord, entry_id: str | None) -> dict[str, object]:
    return {
        "content": order.content,
        "entry_id": entry_id,
        "is_finished": order.is_finished,
        "revision": order.revision + 1,
        "changed_at": utc_now(),
    }
