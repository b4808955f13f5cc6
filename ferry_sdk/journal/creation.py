"""The key of a journal, and its tables: created on first use, completed and checked on every other.

Several processes may do so at once. One transaction under a lock creates the tables, so a process
that is killed leaves nothing that the next one does not complete.
"""

from __future__ import annotations

import os
from contextlib import suppress
from hashlib import blake2b
from hmac import compare_digest
from secrets import token_bytes
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from sqlalchemy import Engine, insert, inspect, literal, select
from sqlalchemy.exc import DBAPIError, IntegrityError

from ferry_sdk.errors import ConfigurationError, InvalidInputError, JournalError
from ferry_sdk.journal.connections import connect
from ferry_sdk.journal.schema import SCHEMA, about, entries, unresolved_index
from ferry_sdk.journal.shape import add_index, add_missing, find_missing, is_read_only

if TYPE_CHECKING:
    from sqlalchemy import Row

VARIABLE = "FERRY_JOURNAL_KEY"
_SHORTEST = 16


class Key:
    """The key for fingerprints; hidden in its repr, and not picklable."""

    __slots__ = ("_secret",)

    def __init__(self, secret: bytes) -> None:
        self._secret = blake2b(secret, digest_size=32, person=b"ferry journal").digest()

    def fingerprint(self, effect: str, identity: bytes) -> str:
        """Return a hash that is equal for equal writes, and useless without the key."""
        return self._digest(effect.encode() + b"\0" + identity, b"write")

    def idempotency_key(self, address: str, text: str) -> str:
        """Return a hash of a caller's key, which belongs to one address of a service."""
        return self._digest(address.encode() + b"\0" + text.encode(), b"key")

    def booking(self, content: bytes) -> str:
        """Return a hash that is equal for equal bookings."""
        return self._digest(content, b"booking")

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
    value = key
    if value is None:
        value = os.environ.get(VARIABLE)
        if not value:
            return None

    secret = value if isinstance(value, bytes) else None
    if isinstance(value, str):
        with suppress(UnicodeEncodeError):  # the error would contain the key
            secret = value.encode()
    if secret is not None and len(secret) >= _SHORTEST:
        return Key(secret)

    problem = "UTF-8 text or bytes" if secret is None else f"at least {_SHORTEST} bytes"
    if key is None:
        raise ConfigurationError(f"{VARIABLE}: expected {problem}")
    raise InvalidInputError(f"expected {problem}", field="key")


class OpenedJournal(NamedTuple):
    """What is known of a journal whose tables can be used."""

    key: Key
    absent: tuple[str, ...]
    """The columns of entries that are missing, and could not be added: it can only be read."""


def open_journal(engine: Engine, callers_key: Key | None) -> OpenedJournal:
    """Create, complete or check the tables, and return the journal's key.

    Args:
        engine: An engine that commits every statement.
        callers_key: The caller's key.

    Raises:
        JournalError: The tables are damaged, or of another version.
        ConfigurationError: The journal was created with another key.
    """
    absent = _complete(engine) if _exists(engine) else ()
    about_journal = _load_about(engine) or _create_journal(engine, callers_key)

    key = callers_key
    if key is None and about_journal.own_key is not None:
        key = Key(about_journal.own_key)
    if key is None:
        raise ConfigurationError(
            f"missing: key=… or {VARIABLE}; the journal was created with a key"
        )

    if isinstance(about_journal.key_check, str) and key.matches(about_journal.key_check):
        return OpenedJournal(key, absent)
    if callers_key is None:
        raise JournalError("the journal's key is damaged: it does not match its check value")
    raise ConfigurationError(f"key=… or {VARIABLE}: the journal was created with another key")


def _exists(engine: Engine) -> bool:
    """Return whether the journal was created before, in tables that this version can use."""
    with connect(engine) as connection:
        database = inspect(connection)
        if not database.has_table(about.name):
            return False

        # Of any type, because SQLite stores any value in a column.
        version = connection.execute(select(about.c.schema_version)).scalar_one_or_none()
        if version is None:
            return False
        if version != SCHEMA:
            raise JournalError(
                f"the journal has schema {version!r:.40}, and this ferry-sdk supports {SCHEMA}: "
                "settle its unresolved writes with the ferry-sdk that made it, then start a new "
                "journal"
            )

        if not database.has_table(entries.name):
            raise JournalError(f"the journal's table {entries.name} is missing")
        index_names = [index["name"] for index in database.get_indexes(entries.name)]
        if unresolved_index.name not in index_names:
            raise JournalError(
                f"the journal's index {unresolved_index.name} is missing, which prevents duplicate "
                "writes"
            )
        return True


def _complete(engine: Engine) -> tuple[str, ...]:
    """Add what this version has and the database has not.

    Returns:
        The columns of entries that could not be added.
    """
    with connect(engine) as connection:
        missing = find_missing(connection)
    absent = _add_columns(engine) if missing.tables or missing.columns else ()
    for index in missing.indexes:
        add_index(engine, index)
    return absent


def _add_columns(engine: Engine) -> tuple[str, ...]:
    try:
        add_missing(engine)
    except DBAPIError as failure:
        if not is_read_only(failure):
            raise
    with connect(engine) as connection:
        missing = find_missing(connection)
    return tuple(column.name for column in missing.columns)


def _load_about(engine: Engine) -> Row[Any] | None:
    with connect(engine) as connection:
        if not inspect(connection).has_table(about.name):
            return None
        return connection.execute(select(about)).one_or_none()


def _create_journal(engine: Engine, callers_key: Key | None) -> Row[Any]:
    own_secret: bytes | None = None
    key = callers_key
    if key is None:
        own_secret = token_bytes(32)
        key = Key(own_secret)
    add_missing(engine)
    row = {
        about.c.id: 1,
        about.c.schema_version: SCHEMA,
        about.c.key_check: key.check_value(),
        about.c.own_key: own_secret,
    }

    # If there are entries but no key, the key was lost. With a new key, no earlier write would be
    # recognised, and the same write would be sent twice. So a key is only added to empty tables.
    values = select(*(literal(value, column.type) for column, value in row.items()))
    statement = insert(about).from_select([*row], values.where(~select(entries.c.id).exists()))
    with suppress(IntegrityError), connect(engine, writes=True) as connection:  # another was first
        connection.execute(statement)

    about_journal = _load_about(engine)
    if about_journal is None:
        raise JournalError(
            f"the journal has entries, but their key is missing (the row of {about.name}): restore "
            "it, or start a new journal"
        )
    return about_journal
