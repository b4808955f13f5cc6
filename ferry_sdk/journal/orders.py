"""Statements on the table of orders."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sqlalchemy import insert, inspect, select, update

from ferry_sdk.errors import JournalError
from ferry_sdk.journal.engines import exclusive_transaction
from ferry_sdk.journal.schema import orders
from ferry_sdk.journal.statements import add, find
from ferry_sdk.types import OrderRecord

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from ferry_sdk.types import Intent


_OF_RECORD: Final = [column for column in orders.c if column is not orders.c.changed_at]


def begin(
    connection: Connection, intent: Intent, fingerprint: str, order: OrderRecord | None
) -> str | None:
    """Insert an entry for a write, and in the same transaction save the order it belongs to.

    Return the id of the entry; None if an unresolved entry has the same fingerprint.

    Raises:
        JournalError: Another program has saved the order, or an entry is damaged.
    """
    if order is None:
        return add(connection, intent, fingerprint)
    with exclusive_transaction(connection):
        entry_id = add(connection, intent, fingerprint)
        if entry_id is not None:  # else PostgreSQL rolls back, although a COMMIT follows
            _update(connection, order, entry_id)
    return entry_id


def save(connection: Connection, order: OrderRecord) -> None:
    """Insert an order of revision 0, or replace the revision that was read.

    Raises:
        JournalError: Another program has saved the order.
    """
    if order.revision:
        _update(connection, order, order.entry_id)
        return
    values = {"id": order.id, "kind": order.kind, **_values(order, order.entry_id)}
    with exclusive_transaction(connection):
        orders.create(connection, checkfirst=True)  # in a journal of an earlier version
        connection.execute(insert(orders).values(values))


def load(
    connection: Connection, order_id: str | None, *, only_unfinished: bool
) -> tuple[OrderRecord, ...]:
    """Return one order or all, oldest first, each with the entry of its last write."""
    if not inspect(connection).has_table(orders.name):
        return ()
    query = select(*_OF_RECORD).order_by(orders.c.created_at, orders.c.id)
    if order_id is not None:
        query = query.where(orders.c.id == order_id)
    if only_unfinished:
        query = query.where(orders.c.is_finished.is_(False))
    rows = connection.execute(query).mappings().all()
    return tuple(OrderRecord(**row, entry=find(connection, row["entry_id"])) for row in rows)


def _update(connection: Connection, order: OrderRecord, entry_id: str | None) -> None:
    changed = connection.execute(
        update(orders)
        .where(orders.c.id == order.id, orders.c.revision == order.revision)
        .values(_values(order, entry_id))
    )
    if not changed.rowcount:
        raise JournalError(f"another program has changed order {order.id}: read it again")


def _values(order: OrderRecord, entry_id: str | None) -> dict[str, object]:
    return {
        "content": order.content,
        "entry_id": entry_id,
        "is_finished": order.is_finished,
        "revision": order.revision + 1,
    }
