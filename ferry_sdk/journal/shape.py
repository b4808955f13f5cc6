"""The tables as they are in the database: what a later version has added, and what is missing.

A later version adds tables and nullable columns only, and keeps the number of the schema. So an
earlier program goes on using the journal: it names its columns, and does not see the others. A
later one adds what is missing when it opens the journal. Any other shape is refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from sqlalchemy import inspect
from sqlalchemy.exc import DBAPIError
from sqlalchemy.schema import CreateColumn

from ferry_sdk.errors import JournalError
from ferry_sdk.journal.connections import connect, exclusive_transaction
from ferry_sdk.journal.schema import metadata

if TYPE_CHECKING:
    from sqlalchemy import Column, Connection, Engine, Table
    from sqlalchemy.engine.interfaces import ReflectedColumn

_READ_ONLY: Final = frozenset({"25006", "42501"})
"""What PostgreSQL says if it can only be read, or if the role may not change the tables."""


class Missing(NamedTuple):
    """What this version has and the database has not."""

    tables: list[Table]
    columns: list[Column[Any]]


def find_missing(connection: Connection) -> Missing:
    """Return the tables and columns that are missing.

    Raises:
        JournalError: A column that cannot be added is missing, or one that this version does not
            fill is required.
    """
    missing = Missing([], [])
    found = inspect(connection).get_multi_columns(filter_names=[*metadata.tables])
    columns_of = {name: columns for (_, name), columns in found.items()}
    for table in metadata.sorted_tables:
        columns = columns_of.get(table.name)
        if not columns:
            missing.tables.append(table)
            continue
        names = {column["name"] for column in columns}
        absent = [column for column in table.c if column.name not in names]
        for column in absent:
            if not column.nullable:
                raise _unknown_shape(f"{table.name}.{column.name} is missing")
        missing.columns.extend(absent)
        for present in columns:
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


def is_read_only(failure: DBAPIError) -> bool:
    """Return whether the database can only be read, or its tables may not be changed."""
    code = getattr(failure.orig, "sqlstate", None)
    return code in _READ_ONLY or "readonly" in str(failure.orig)


def _unknown_shape(problem: str) -> JournalError:
    return JournalError(
        f"the journal's column {problem}: settle its unresolved writes with the ferry-sdk that "
        "made it, then start a new journal"
    )
