"""A journal's tables made on first use, by one of all the processes that want them."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import Engine, insert, inspect, select, text
from sqlalchemy.exc import IntegrityError
from sqlalchemy.schema import CreateIndex, CreateTable

from ferry_sdk.errors import ConfigurationError, JournalError
from ferry_sdk.journal.keys import VARIABLE, Key, new_secret
from ferry_sdk.journal.tables import SCHEMA, about, metadata

if TYPE_CHECKING:
    from sqlalchemy import Connection

_LOCK = 0x66657272796A6E6C
"""Held in PostgreSQL while tables are made: there, IF NOT EXISTS does not settle a race."""


class _About(NamedTuple):
    schema_version: int
    key_check: str
    own_key: bytes | None


def opened(engine: Engine, given: Key | None) -> Key:
    """The journal's key, after its tables are there and fit.

    Args:
        engine: Commits every statement.
        given: The caller's key.

    Raises:
        JournalError: The tables are a newer version's.
        ConfigurationError: The journal was made with another key.
    """
    known = _known(engine) or _founded(engine, given)
    if known.schema_version > SCHEMA:
        raise JournalError(
            f"the journal has schema {known.schema_version}, made by a newer ferry-sdk; "
            f"this one knows {SCHEMA}"
        )
    key = given or (None if known.own_key is None else Key(known.own_key))
    if key is None:
        raise ConfigurationError(f"missing: key=… or {VARIABLE}; the journal was made with a key")
    if not key.fits(known.key_check):
        raise ConfigurationError(f"key=… or {VARIABLE}: the journal was made with another key")
    return key


def _known(engine: Engine) -> _About | None:
    with engine.connect() as connection:
        if not inspect(connection).has_table(about.name):
            return None
        return _read(connection)


def _read(connection: Connection) -> _About | None:
    columns = (about.c.schema_version, about.c.key_check, about.c.own_key)
    row = connection.execute(select(*columns)).one_or_none()
    return None if row is None else _About(*row)


def _founded(engine: Engine, given: Key | None) -> _About:
    secret = new_secret()
    key = given or Key(secret)
    _make_tables(engine)
    row = insert(about).values(
        id=1,
        schema_version=SCHEMA,
        key_check=key.check(),
        own_key=None if given else secret,
    )
    with engine.connect() as connection, suppress(IntegrityError):  # another was first
        connection.execute(row)
    with engine.connect() as connection:
        found = _read(connection)
    if found is None:
        raise JournalError("the journal's tables were taken away while they were made")
    return found


def _make_tables(engine: Engine) -> None:
    with engine.connect() as connection:
        if engine.dialect.name == "postgresql":
            connection.execution_options(isolation_level="READ COMMITTED")
            connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
        for table in metadata.sorted_tables:
            connection.execute(CreateTable(table, if_not_exists=True))
            for index in table.indexes:
                connection.execute(CreateIndex(index, if_not_exists=True))
        connection.commit()
