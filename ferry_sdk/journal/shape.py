"""The tables as they are in the database: what a later version has added, and what is missing.

A later version adds tables, nullable columns and indexes only, and keeps the number of the schema.
So an earlier program goes on using the journal: it names its columns, and does not see the others.
A later one adds what is missing when it opens the journal. Any other shape is refused.
"""

from __future__ import annotations

from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from sqlalchemy import func, inspect, select
from sqlalchemy.exc import DBAPIError
from sqlalchemy.schema import CreateColumn

from ferry_sdk._runtime.clock import monotonic
from ferry_sdk.errors import JournalError
from ferry_sdk.journal.connections import connect, exclusive_transaction
from ferry_sdk.journal.schema import entries, metadata

if TYPE_CHECKING:
    from collections.abc import Generator

    from sqlalchemy import Column, Connection, Engine, Index, Table
    from sqlalchemy.engine.interfaces import ReflectedColumn

_MOST_ENTRIES: Final = 2_000_000
"""In a larger journal, an index that is missing is left to its owner."""
_MOST_SECONDS: Final = 4
"""Seconds that an index may take; others wait ten for their turn, and two may be missing."""
_STEPS: Final = 10_000
"""Steps of SQLite, a small part of a second, between two looks at the clock."""
_READ_ONLY: Final = frozenset({"25006", "42501"})
"""What PostgreSQL says if it can only be read, or if the role may not change the tables."""


class Missing(NamedTuple):
    """What this version has and the database has not."""

    tables: list[Table]
    columns: list[Column[Any]]
    indexes: list[Index]


def find_missing(connection: Connection) -> Missing:
    """Return the tables, columns and indexes that are missing.

    Raises:
        JournalError: A column that cannot be added is missing, or one that this version does not
            fill is required.
    """
    missing = Missing(tables=[], columns=[], indexes=[])
    database = inspect(connection)
    reflected = database.get_multi_columns(filter_names=[*metadata.tables])
    columns_by_table = {name: columns for (_, name), columns in reflected.items()}

    for table in metadata.sorted_tables:
        present_columns = columns_by_table.get(table.name)
        if not present_columns:
            missing.tables.append(table)
            continue

        column_names = {column["name"] for column in present_columns}
        for column in table.c:
            if column.name in column_names:
                continue
            if not column.nullable:
                raise _unknown_shape(f"{table.name}.{column.name} is missing")
            missing.columns.append(column)

        index_names = {index["name"] for index in database.get_indexes(table.name)}
        missing.indexes.extend(index for index in table.indexes if index.name not in index_names)

        for present in present_columns:
            if _is_required(present) and not _is_filled(table, present["name"]):
                raise _unknown_shape(f"{table.name}.{present['name']} is required and unknown")
    return missing


def _is_required(column: ReflectedColumn) -> bool:
    fills_itself = column["default"] is not None or "computed" in column or "identity" in column
    return not column["nullable"] and not fills_itself


def _is_filled(table: Table, name: str) -> bool:
    """Return whether this version gives each row a value for a column."""
    return name in table.c and not table.c[name].nullable


def add_missing(engine: Engine) -> None:
    """Create the tables and columns that are missing, in one transaction.

    Raises:
        JournalError: The tables have another shape.
        DBAPIError: They cannot be changed.
    """
    with connect(engine, writes=True) as connection, exclusive_transaction(connection):
        metadata.create_all(connection)
        for column in find_missing(connection).columns:  # another process may have added some
            definition = CreateColumn(column).compile(dialect=connection.dialect)
            connection.exec_driver_sql(f"ALTER TABLE {column.table.name} ADD COLUMN {definition}")


def add_index(engine: Engine, index: Index) -> None:
    """Create an index, unless that takes longer than other writers may have to wait for it.

    It takes about two seconds for a million entries. Without it, `entries` reads every entry.
    """
    with (
        suppress(DBAPIError),
        connect(engine, writes=True) as connection,
        exclusive_transaction(connection),
    ):
        if not _is_large(connection):
            with _statement_limit(connection):
                index.create(connection, checkfirst=True)  # another process may have added it


def _is_large(connection: Connection) -> bool:
    """Return whether there are so many entries that an index would hardly be ready in time.

    Each process that opens the journal would try again, and hold up the writers meanwhile.
    """
    some = select(entries.c.id).limit(_MOST_ENTRIES + 1).subquery()
    return connection.execute(select(func.count()).select_from(some)).scalar_one() > _MOST_ENTRIES


@contextmanager
def _statement_limit(connection: Connection) -> Generator[None]:
    """End a statement of the block with an error if it takes too long."""
    if connection.dialect.name == "postgresql":  # the setting ends with the transaction
        connection.exec_driver_sql(f"SET LOCAL statement_timeout = '{_MOST_SECONDS}s'")
        yield
        return

    driver: Any = connection.connection.driver_connection
    until = monotonic() + _MOST_SECONDS

    def is_late() -> bool:
        return monotonic() > until

    driver.set_progress_handler(is_late, _STEPS)
    try:
        yield
    finally:
        driver.set_progress_handler(None, _STEPS)


def is_read_only(failure: DBAPIError) -> bool:
    """Return whether the database can only be read, or its tables may not be changed."""
    code = getattr(failure.orig, "sqlstate", None)
    return code in _READ_ONLY or "readonly" in str(failure.orig)


def _unknown_shape(problem: str) -> JournalError:
    return JournalError(
        f"the journal's column {problem}: settle its unresolved writes with the ferry-sdk that "
        "made it, then start a new journal"
    )
