"""Create the tables on first use, also if several processes open a new journal at once."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import Engine, insert, inspect, literal, select, text
from sqlalchemy.exc import IntegrityError
from sqlalchemy.schema import CreateIndex, CreateTable

from ferry_sdk.errors import ConfigurationError, JournalError
from ferry_sdk.journal.engines import connect
from ferry_sdk.journal.keys import VARIABLE, Key, new_secret
from ferry_sdk.journal.schema import SCHEMA, about, entries, metadata, unresolved_index

if TYPE_CHECKING:
    from sqlalchemy import Connection

_LOCK = 0x66657272796A6E6C
"""An advisory lock of PostgreSQL, whose IF NOT EXISTS is not safe between processes."""


class _About(NamedTuple):
    schema_version: object  # any type: SQLite stores any value in an integer column
    key_check: object
    own_key: bytes | None


def open_journal(engine: Engine, given: Key | None) -> Key:
    """Create or check the tables, and return the journal's key.

    Args:
        engine: An engine that commits every statement.
        given: The caller's key.

    Raises:
        JournalError: The tables are damaged, or of another version.
        ConfigurationError: The journal was created with another key.
    """
    known = _load_about(engine) or _create_journal(engine, given)
    key = given or (None if known.own_key is None else Key(known.own_key))
    if key is None:
        raise ConfigurationError(
            f"missing: key=… or {VARIABLE}; the journal was created with a key"
        )
    if isinstance(known.key_check, str) and key.matches(known.key_check):
        return key
    if given is None:
        raise JournalError("the journal's key is damaged: it does not match its check value")
    raise ConfigurationError(f"key=… or {VARIABLE}: the journal was created with another key")


def _load_about(engine: Engine) -> _About | None:
    with connect(engine) as connection:
        database = inspect(connection)
        if not database.has_table(about.name):
            return None
        known = _fetch_about(connection)
        if known is None:
            return None
        _check_schema(known.schema_version)
        if not database.has_table(entries.name):
            raise JournalError(f"the journal's table {entries.name} is missing")
        if unresolved_index.name not in {one["name"] for one in database.get_indexes(entries.name)}:
            raise JournalError(
                f"the journal's index {unresolved_index.name} is missing, which prevents duplicate "
                "writes"
            )
        return known


def _check_schema(found: object) -> None:
    if found == SCHEMA:
        return
    is_newer = isinstance(found, int) and found > SCHEMA
    raise JournalError(
        f"the journal has schema {found!r:.40}{', made by a newer ferry-sdk' * is_newer}; "
        f"this version supports {SCHEMA}"
    )


def _fetch_about(connection: Connection) -> _About | None:
    columns = (about.c.schema_version, about.c.key_check, about.c.own_key)
    row = connection.execute(select(*columns)).one_or_none()
    return None if row is None else _About(*row)


def _create_journal(engine: Engine, given: Key | None) -> _About:
    secret = new_secret()
    key = given or Key(secret)
    _make_tables(engine)
    row = {
        about.c.id: 1,
        about.c.schema_version: SCHEMA,
        about.c.key_check: key.check_value(),
        about.c.own_key: None if given else secret,
    }
    # If there are entries but no key, the key was lost. With a new key, no earlier write would be
    # recognised, and the same write would be sent twice. So a key is only added to empty tables.
    values = select(*(literal(value, column.type) for column, value in row.items()))
    statement = insert(about).from_select([*row], values.where(~select(entries.c.id).exists()))
    with connect(engine, writes=True) as connection, suppress(IntegrityError):  # another was first
        connection.execute(statement)
    with connect(engine) as connection:
        found = _fetch_about(connection)
    if found is None:
        raise JournalError(
            f"the journal has entries, but their key is missing (the row of {about.name}): restore "
            "it, or start a new journal"
        )
    return found


def _make_tables(engine: Engine) -> None:
    with connect(engine, writes=True) as connection:
        if engine.dialect.name == "postgresql":
            connection.execution_options(isolation_level="READ COMMITTED")
            connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
        for table in metadata.sorted_tables:
            connection.execute(CreateTable(table, if_not_exists=True))
            for index in table.indexes:
                connection.execute(CreateIndex(index, if_not_exists=True))
        connection.commit()
