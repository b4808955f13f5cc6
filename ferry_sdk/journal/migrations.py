"""The key of a journal, and its tables: created or migrated on first use.

Several processes may do so at once. One transaction under a lock brings the tables to the present
version: it adds the tables, columns and indexes that are missing, and sets the version last. So a
process that is killed, or that finds tables of an older version half created, leaves nothing that
the next one does not complete.

All changes are additions. A process of an older version that has the journal open keeps recording
writes in it, and one that opens it later is refused by the version.
"""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from hashlib import blake2b
from hmac import compare_digest
from secrets import token_bytes
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from sqlalchemy import Engine, insert, inspect, literal, select, text, update
from sqlalchemy.exc import IntegrityError, SQLAlchemyError
from sqlalchemy.schema import CreateColumn, CreateIndex, CreateTable

from ferry_sdk.errors import ConfigurationError, InvalidInputError, JournalError
from ferry_sdk.journal.engines import connect, describe
from ferry_sdk.journal.schema import SCHEMA, about, entries, metadata, unresolved_index

if TYPE_CHECKING:
    from collections.abc import Generator

    from sqlalchemy import Connection

VARIABLE = "FERRY_JOURNAL_KEY"
_SHORTEST = 16
_LOCK = 0x66657272796A6E6C
"""An advisory lock of PostgreSQL, whose IF NOT EXISTS is not safe between processes."""
_OLDEST = 1
_COPY_IDS = {
    "sqlite": """
        UPDATE ferry_journal SET booking_id = json_extract(subject, '$.booking_id')
        WHERE booking_id IS NULL AND typeof(subject) = 'text' AND length(subject) < 200
        AND CASE WHEN json_valid(subject) THEN json_type(subject, '$.booking_id') = 'text' END
    """,
    "postgresql": """
        UPDATE ferry_journal SET booking_id = subject ->> 'booking_id'
        WHERE booking_id IS NULL AND length(subject::text) < 200
        AND CASE WHEN strpos(subject::text, chr(92)) = 0
            THEN subject ->> 'booking_id' IS NOT NULL END
    """,
}
"""Copy the ids of bookings from the subjects, for the index. A subject with a long or an escaped id
is left alone; it is still found by its text."""


class Key:
    """The key for fingerprints; hidden in its repr, and not picklable."""

    __slots__ = ("_secret",)

    def __init__(self, secret: bytes) -> None:
        self._secret = blake2b(secret, digest_size=32, person=b"ferry journal").digest()

    def fingerprint(self, effect: str, identity: bytes) -> str:
        """Return a hash that is equal for equal writes, and useless without the key."""
        return self._digest(effect.encode() + b"\0" + identity, b"write")

    def check_value(self) -> str:
        """Return a value that is equal for equal keys, and does not reveal the key."""
        return self._digest(b"", b"check")

    def matches(self, check_value: str) -> bool:
        """Return True if the check value was made with this key."""
        return compare_digest(self.check_value().encode(), check_value.encode())

    def _digest(self, content: bytes, purpose: bytes) -> str:
        return blake2b(content, digest_size=32, key=self._secret, person=purpose).hexdigest()

    def __repr__(self) -> str:
        return "Key(…)"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a key cannot be pickled")


def load_key(key: str | bytes | None) -> Key | None:
    """Return the caller's key, else the environment's, else None."""
    if key is None:
        variable = os.environ.get(VARIABLE)
        if not variable:
            return None
        if len(variable.encode()) < _SHORTEST:
            raise ConfigurationError(f"{VARIABLE}: expected at least {_SHORTEST} bytes")
        return Key(variable.encode())
    secret = key.encode() if isinstance(key, str) else key
    if not isinstance(secret, bytes):  # pyright: ignore[reportUnnecessaryIsInstance] -- of callers without a type checker
        raise InvalidInputError("expected text or bytes", field="key")
    if len(secret) < _SHORTEST:
        raise InvalidInputError(f"expected at least {_SHORTEST} bytes", field="key")
    return Key(secret)


class _About(NamedTuple):
    schema_version: object  # any type: SQLite stores any value in an integer column
    key_check: object
    own_key: bytes | None


def open_journal(engine: Engine, given: Key | None) -> Key:
    """Create, migrate or check the tables, and return the journal's key.

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
        if known.schema_version != SCHEMA:
            _migrate(engine)
            _load_about(engine)
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
        found = known.schema_version
        if found not in range(_OLDEST, SCHEMA + 1):
            is_newer = isinstance(found, int) and found > SCHEMA
            raise JournalError(
                f"the journal has schema {found!r:.40}{', made by a newer ferry-sdk' * is_newer}; "
                f"this version supports {SCHEMA} and migrates older ones"
            )
        if not database.has_table(entries.name):
            raise JournalError(f"the journal's table {entries.name} is missing")
        if unresolved_index.name not in {one["name"] for one in database.get_indexes(entries.name)}:
            raise JournalError(
                f"the journal's index {unresolved_index.name} is missing, which prevents duplicate "
                "writes"
            )
        return known


def _fetch_about(connection: Connection) -> _About | None:
    columns = (about.c.schema_version, about.c.key_check, about.c.own_key)
    row = connection.execute(select(*columns)).one_or_none()
    return None if row is None else _About(*row)


def _create_journal(engine: Engine, given: Key | None) -> _About:
    secret = token_bytes(32)
    key = given or Key(secret)
    with _lock(engine) as connection:
        _add_missing_parts(connection)
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


def _migrate(engine: Engine) -> None:
    try:
        with _lock(engine) as connection:
            _add_missing_parts(connection)
            connection.exec_driver_sql(_COPY_IDS[engine.dialect.name])
            connection.execute(
                update(about).where(about.c.schema_version < SCHEMA).values(schema_version=SCHEMA)
            )
            return
    except SQLAlchemyError as error:
        problem = describe(error)
    # Outside `except`, so that the database's error is not attached.
    raise JournalError(
        f"the journal has an older schema and cannot be migrated to schema {SCHEMA}: {problem}"
    )


@contextmanager
def _lock(engine: Engine) -> Generator[Connection]:
    """Lend a connection in a transaction that changes the tables, one process at a time.

    If it fails, the connection is rolled back when it returns to its pool.
    """
    is_sqlite = engine.dialect.name == "sqlite"
    with connect(engine, writes=True) as connection:
        # The engine commits every statement, so the transaction is made by statements.
        connection.exec_driver_sql(
            "BEGIN IMMEDIATE" if is_sqlite else "BEGIN ISOLATION LEVEL READ COMMITTED"
        )
        if not is_sqlite:
            connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
        yield connection
        connection.exec_driver_sql("COMMIT")


def _add_missing_parts(connection: Connection) -> None:
    for table in metadata.sorted_tables:
        connection.execute(CreateTable(table, if_not_exists=True))
    present = {column["name"] for column in inspect(connection).get_columns(entries.name)}
    for column in entries.c:
        if column.name not in present:
            definition = CreateColumn(column).compile(connection)
            connection.exec_driver_sql(f"ALTER TABLE {entries.name} ADD COLUMN {definition}")
    for index in entries.indexes:
        connection.execute(CreateIndex(index, if_not_exists=True))
