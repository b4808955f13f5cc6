"""The key of a journal, and its tables: created on first use, and checked on every other.

Several processes may do so at once. One transaction under a lock creates the tables, so a process
that is killed leaves nothing that the next one does not complete.
"""

from __future__ import annotations

import os
from hashlib import blake2b
from secrets import token_bytes
from typing import TYPE_CHECKING, Any, NoReturn

from sqlalchemy import Engine, exists, insert, inspect, or_, select

from ferry_sdk.errors import ConfigurationError, InvalidInputError, JournalError
from ferry_sdk.journal.engines import connect, exclusive_transaction
from ferry_sdk.journal.schema import SCHEMA, about, entries, metadata, unresolved_index

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

    def check_value(self) -> str:
        """Return a value that is equal for equal keys, and does not reveal the key."""
        return self._digest(b"", b"check")

    def _digest(self, content: bytes, purpose: bytes) -> str:
        return blake2b(content, digest_size=32, key=self._secret, person=purpose).hexdigest()

    def __repr__(self) -> str:
        return "Key(…)"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a key cannot be pickled")


def load_key(key: object) -> Key | None:
    """Return the caller's key, else the environment's, else None."""
    value = key if key is not None else os.environ.get(VARIABLE) or None
    if value is None:
        return None
    # A lone surrogate is encoded too: an error of it would contain the key.
    secret = value.encode(errors="surrogatepass") if isinstance(value, str) else value
    if isinstance(secret, bytes) and len(secret) >= _SHORTEST:
        return Key(secret)
    problem = f"expected text or bytes, at least {_SHORTEST} bytes"
    if key is None:
        raise ConfigurationError(f"{VARIABLE}: {problem}")
    raise InvalidInputError(problem, field="key")


def open_journal(engine: Engine, callers_key: Key | None) -> Key:
    """Create or check the tables, and return the journal's key.

    Args:
        engine: An engine that commits every statement.
        callers_key: The caller's key.

    Raises:
        JournalError: The tables are damaged, or of another version.
        ConfigurationError: The journal was created with another key.
    """
    about_journal = _load_about(engine) or _create_journal(engine, callers_key)
    key = callers_key or (None if about_journal.own_key is None else Key(about_journal.own_key))
    if key is None:
        raise ConfigurationError(
            f"missing: key=… or {VARIABLE}; the journal was created with a key"
        )
    if key.check_value() == about_journal.key_check:
        return key
    if callers_key is None:
        raise JournalError("the journal's key is damaged: it does not match its check value")
    raise ConfigurationError(f"key=… or {VARIABLE}: the journal was created with another key")


def _load_about(engine: Engine) -> Row[Any] | None:
    with connect(engine) as connection:
        database = inspect(connection)
        if not database.has_table(about.name):
            return None
        about_journal = connection.execute(select(about)).one_or_none()
        if about_journal is None:
            return None
        version = about_journal.schema_version  # any type, as SQLite stores any value in a column
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
        return about_journal


def _create_journal(engine: Engine, callers_key: Key | None) -> Row[Any]:
    secret = token_bytes(32)
    key = callers_key or Key(secret)
    with connect(engine, writes=True) as connection, exclusive_transaction(connection):
        metadata.create_all(connection)
        # If there are entries but no key, the key was lost. With a new key, no earlier write would
        # be recognised, and the same write would be sent twice.
        has_rows = or_(exists().select_from(about), exists().select_from(entries))
        if not connection.execute(select(has_rows)).scalar():
            own_key = None if callers_key else secret
            row = insert(about).values(id=1, schema_version=SCHEMA, own_key=own_key)
            connection.execute(row.values(key_check=key.check_value()))
    about_journal = _load_about(engine)
    if about_journal is None:
        raise JournalError(
            f"the journal has entries, but their key is missing (the row of {about.name}): restore "
            "it, or start a new journal"
        )
    return about_journal
