"""The tables of a journal: about itself, of writes, keys, orders, watches and offers."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Date,
    DateTime,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    TypeDecorator,
    func,
    literal_column,
    text,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import ColumnElement, Dialect, TextClause
    from sqlalchemy.types import TypeEngine

    from ferry_sdk.types import EntryState

SCHEMA = 2
"""The version of the tables below. No release had version 1.

It stays the same when a table, a nullable column or an index is added: see `shape`."""


class UtcDateTime(TypeDecorator[datetime]):
    """A time, aware and in UTC in Python, whatever the database stores."""

    impl: TypeEngine[Any] | type[TypeEngine[Any]] = DateTime(timezone=True)
    cache_ok: bool | None = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002 -- SQLAlchemy's signature
        """Return the value to store."""
        return None if value is None else value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002 -- SQLAlchemy's signature
        """Return the value in UTC; SQLite stores no offset."""
        if value is None:
            return None
        if value.tzinfo is None:
            return value.replace(tzinfo=UTC)
        return value.astimezone(UTC)


def utc_now() -> datetime:
    """Return the time, aware and in UTC."""
    return datetime.now(UTC)


metadata: MetaData = MetaData()

_ROW_NUMBER: Final = BigInteger().with_variant(Integer, "sqlite")
"""The type of a column that numbers the rows; SQLite numbers integers only."""

about: Table = Table(
    "ferry_journal_about",
    metadata,
    Column("id", Integer, CheckConstraint("id = 1"), primary_key=True, autoincrement=False),
    Column("schema_version", Integer, nullable=False),
    Column("key_check", String(64), nullable=False),
    Column("own_key", LargeBinary, nullable=True),
)

entries: Table = Table(
    "ferry_journal",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("operation", Text, nullable=False),
    Column("method", Text, nullable=False),
    Column("path", Text, nullable=False),
    Column("subject", JSON, nullable=False),
    Column("correlation_id", Text, nullable=False),
    Column("fingerprint", String(64), nullable=False),
    Column("state", String(16), nullable=False),
    Column("created_at", UtcDateTime, nullable=False),
    Column("changed_at", UtcDateTime, nullable=False),
    Column("booking_id", Text, nullable=True),
    Column("ticket_ids", JSON(none_as_null=True), nullable=True),
    Column("status_code", Integer, nullable=True),
    Column("code", Text, nullable=True),
    Index("ferry_journal_began", "created_at", "id"),
    Index("ferry_journal_booking", "booking_id"),
)

snapshots: Table = Table(
    "ferry_journal_snapshots",
    metadata,
    Column("booking_id", Text, primary_key=True),
    Column("content", Text, nullable=False),
    Column("saved_at", UtcDateTime, nullable=False),
)

departures: Table = Table(
    "ferry_journal_departures",
    metadata,
    Column("booking_id", Text, primary_key=True),
    Column("content", Text, nullable=False),
    Column("ends_at", UtcDateTime, nullable=True),
    Column("saved_at", UtcDateTime, nullable=False),
)

orders: Table = Table(
    "ferry_journal_orders",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("kind", String(16), nullable=False),
    Column("content", Text, nullable=False),
    Column("entry_id", String(32), nullable=True),
    Column("is_finished", Boolean, nullable=False),
    Column("revision", Integer, nullable=False),
    Column("created_at", UtcDateTime, nullable=False),
    Column("changed_at", UtcDateTime, nullable=False),
)

keys: Table = Table(
    "ferry_journal_keys",
    metadata,
    Column("key_hash", String(64), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("booking_hash", String(64), nullable=False),
    Column("entry_id", String(32), nullable=False),
    Column("order_id", String(32), nullable=True),
    Index("ferry_journal_keys_order", "order_id"),
)

# The tables of `ferry_sdk.offers`. What they mean is in `offers`, beside the statements.
wishes: Table = Table(
    "ferry_offers_wishes",
    metadata,
    Column("key", Text, primary_key=True),
    Column("content", Text, nullable=False),
    Column("last_day", Date, nullable=False),
    Column("looked_up_at", UtcDateTime, nullable=True),
    Column("ended_at", UtcDateTime, nullable=True),
)

searches: Table = Table(
    "ferry_offers_searches",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("content", Text, nullable=False),
    Column("day", Date, nullable=False),
    Column("asked_at", UtcDateTime, nullable=False),
    Column("may_be_repeated", Boolean, nullable=False),
    Index("ferry_offers_asked", "asked_at", "id"),
)

rule_states: Table = Table(
    "ferry_offers_rule_states",
    metadata,
    Column("search_id", String(32), primary_key=True),
    Column("wish_key", Text, primary_key=True),
    Column("content", Text, nullable=True),
    Index("ferry_offers_rule_states_wish", "wish_key"),
)

answers: Table = Table(
    "ferry_offers_answers",
    metadata,
    Column("id", _ROW_NUMBER, primary_key=True, autoincrement=True),
    Column("depart_code", Text, nullable=False),
    Column("arrive_code", Text, nullable=False),
    Column("seen_at", UtcDateTime, nullable=False),
    Column("content", Text, nullable=False),
    Index("ferry_offers_answers_route", "depart_code", "arrive_code", "seen_at"),
    Index("ferry_offers_answers_seen", "seen_at"),
)

offer_events: Table = Table(
    "ferry_offers_events",
    metadata,
    Column("number", _ROW_NUMBER, primary_key=True, autoincrement=True),
    Column("id", String(32), nullable=False, unique=True),
    Column("wish_key", Text, nullable=False),
    Column("content", Text, nullable=False),
    Column("seen_at", UtcDateTime, nullable=False),
    Column("taken_at", UtcDateTime, nullable=True),
)

counted_calls: Table = Table(
    "ferry_offers_calls",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("counts_until", UtcDateTime, nullable=False),
    Index("ferry_offers_calls_until", "counts_until"),
)

offer_ports: Table = Table(
    "ferry_offers_ports",
    metadata,
    Column("code", Text, primary_key=True),
    Column("name", Text, nullable=False),
)

SETTLED: Final[tuple[EntryState, ...]] = ("done", "rejected", "not_sent")
WITHOUT_EFFECT: Final[tuple[EntryState, ...]] = ("rejected", "not_sent")
LONGEST: Final = 200
"""Characters of an id or a code; PostgreSQL cannot index much longer texts."""


def literals(words: Sequence[str]) -> list[ColumnElement[str]]:
    """Return states or codes as parts of a statement, not as parameters.

    SQLite uses a partial index only for a condition that it recognises.
    """
    return [literal_column(f"'{word}'") for word in words]


is_unresolved: ColumnElement[bool] = entries.c.state.not_in(literals(SETTLED))
"""An unknown state also counts as unresolved."""
is_without_effect: ColumnElement[bool] = entries.c.state.in_(literals(WITHOUT_EFFECT))
is_short: ColumnElement[bool] = func.length(entries.c.correlation_id) <= literal_column(
    str(LONGEST)
)
"""A correlation id that can be found by an index; it may be longer, as a header may."""

# Bytes in SQLite are above "g"; the other two conditions read them as a text.
is_without_fingerprint: TextClause = text(
    "(length(fingerprint) != 64 OR ltrim(fingerprint, '0123456789abcdef') != ''"
    " OR fingerprint >= 'g')"
)
"""A damaged fingerprint: the write that it belongs to cannot be identified."""


def _partial_index(
    name: str, *columns: Column[Any], where: ColumnElement[bool], unique: bool = False
) -> Index:
    """Return an index that has only the entries with a condition."""
    return Index(name, *columns, unique=unique, sqlite_where=where, postgresql_where=where)


unresolved_index: Index = _partial_index(
    "ferry_journal_unresolved", entries.c.fingerprint, where=is_unresolved, unique=True
)
"""Refuses a second unresolved entry for the same write."""

# For `Journal.entries`. They are in its order, so that a page of many entries is found at once.
# Nearly all entries are done, and an index of these would cost each write more than it is worth.
without_effect_index: Index = _partial_index(
    "ferry_journal_without_effect",
    entries.c.state,
    entries.c.created_at,
    entries.c.id,
    where=is_without_effect,
)
correlation_index: Index = _partial_index(
    "ferry_journal_correlation",
    entries.c.correlation_id,
    entries.c.created_at,
    entries.c.id,
    where=is_short,
)
