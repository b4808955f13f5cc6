"""Keep the state of a toolkit in memory, or in a file that several processes share.

The file is a SQLite database with one table of JSON values. A `transaction` is one of SQLite
(``BEGIN IMMEDIATE``), so that two processes cannot both read a total and then both add to it. Each
transaction has a connection of its own, which threads and forks cannot share by mistake.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import secrets
import sqlite3
from collections import OrderedDict
from collections.abc import Generator, ItemsView, Iterator, MutableMapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

from pydantic import TypeAdapter, ValidationError
from pydantic_core import to_jsonable_python

from ferry_sdk._runtime.fork import ProcessLock
from ferry_sdk._runtime.private_files import FileRefusedError, PrivateDatabase
from ferry_sdk.errors import ConfigurationError

logger: logging.Logger = logging.getLogger("ferry_sdk")

K = TypeVar("K")
V = TypeVar("V")
Table = MutableMapping[str, V]
"""The values of a table by their keys."""

_APPLICATION: Final = 0x46657272
"""SQLite's ``application_id`` of these files."""
_VERSION: Final = 1
_TIMEOUT: Final = 10.0
"""Seconds to wait for another process."""
_TABLES: Final = (
    """CREATE TABLE entries (
        place INTEGER PRIMARY KEY AUTOINCREMENT,
        kind TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, UNIQUE (kind, key))""",
    "CREATE INDEX recent ON entries (kind, place)",
)
_KEY: Final = "SELECT value FROM entries WHERE kind = 'key' AND key = 'key'"
_FORGET_OLDEST: Final = (
    "DELETE FROM entries WHERE kind = ? AND place <= "
    "(SELECT place FROM entries WHERE kind = ? ORDER BY place DESC LIMIT 1 OFFSET ?)"
)


_USED: Final[set[Path]] = set()
"""The files that this process has used.

A file that is gone must not be made anew unnoticed: nothing would count as spent, and every write
could be made again.
"""
_IF_GONE: Final = "put it back, or use another file to begin with nothing spent"


class Recent(OrderedDict[K, V]):
    """A dict that keeps only its `most` recent entries; it is changed with a lock held."""

    def __init__(self, most: int | None, lock: ProcessLock) -> None:
        super().__init__()
        self._most = most
        self._lock = lock

    def __setitem__(self, key: K, value: V) -> None:
        with self._lock.current:
            super().__setitem__(key, value)
            self.move_to_end(key)
            while self._most is not None and len(self) > self._most:
                self.popitem(last=False)


class State:
    """The state of one toolkit in memory; safe to share between threads.

    To read or set one entry of a table needs no `transaction`: it is one by itself.
    """

    def __init__(self) -> None:
        self._lock = ProcessLock()
        self._key = secrets.token_bytes(32)

    @contextmanager
    def transaction(self) -> Generator[object, None, None]:
        """Keep others from the state during the block; transactions may be nested."""
        with self._lock.current:
            yield None

    def table(self, name: str, kind: type[V], most: int | None = None) -> Table[V]:
        """Return a mapping of texts to values of a type, which keeps the `most` recent ones."""
        del name, kind  # only a file needs them
        return Recent[str, V](most, self._lock)

    def fingerprint(self, *values: object) -> str:
        """Return a hash that is equal for equal values, and useless without this state."""
        canonical = json.dumps(to_jsonable_python(values), sort_keys=True).encode()
        return hashlib.blake2b(canonical, key=self._key).hexdigest()


class AgentState(State):
    """The state of several toolkits, in a private file.

    Attributes:
        added: How many entries to keep, by the kind that the transaction has added to. Its end
            removes the older ones.

    Raises:
        ConfigurationError: The file cannot be used, is not a state file or one of another version,
            others can use it or change its folder, or this process has used it and it is gone.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        super().__init__()
        self._connection: sqlite3.Connection | None = None
        self._is_open = False
        self.added: dict[str, int] = {}
        try:
            is_new = _is_new(path)
            self._database = PrivateDatabase(
                path, application_id=_APPLICATION, version=_VERSION, tables=_TABLES
            )
        except FileRefusedError as error:
            raise ConfigurationError(f"state: {error}") from None
        except (OSError, TypeError, ValueError):
            raise ConfigurationError(f"state: {path!s} cannot be created") from None

        with self.transaction() as connection:
            self._database.prepare(connection)
            keys = self.table("key", str)
            self._key = bytes.fromhex(keys.setdefault("key", self._key.hex()))

        self._is_open = True
        _USED.add(self._database.path)
        if is_new:
            logger.info("a new state file was made, in which nothing counts as spent: %s", path)

    @contextmanager
    def transaction(self) -> Generator[sqlite3.Connection, None, None]:
        """Keep all threads and processes from the file during the block; write it at the end.

        An exception undoes the changes of the whole transaction.

        Raises:
            ConfigurationError: The file cannot be read or written.
        """
        with self._lock.current:
            if self._connection is not None:  # the transaction is nested
                yield self._connection
                return

            try:
                with closing(self._database.connect(_TIMEOUT)) as self._connection:
                    self.execute("BEGIN IMMEDIATE")
                    self._check_key()
                    yield self._connection

                    for kind, most in self.added.items():
                        self.execute(_FORGET_OLDEST, kind, kind, most)
                    self._database.check_identity()
                    self.execute("COMMIT")
            except FileRefusedError as error:
                raise ConfigurationError(f"state: {error}") from None
            except (sqlite3.Error, OSError, ValidationError) as error:
                problem = f"cannot be used ({type(error).__name__})"
                if "not a database" in str(error) or isinstance(error, ValidationError):
                    problem = "is not a state file"
                raise ConfigurationError(f"state: {self._database.path} {problem}") from None
            finally:
                self._connection = None
                self.added.clear()

    def _check_key(self) -> None:
        """Check that it is still the same file, also if a new one has got its inode."""
        key = json.dumps(self._key.hex())
        if self._is_open and self.execute(_KEY) != [(key,)]:
            raise self._database.moved_error()

    def execute(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        """Run a statement in the current transaction or one of its own; return its rows."""
        with self.transaction() as connection:
            return connection.execute(statement, values).fetchall()

    def table(self, name: str, kind: type[V], most: int | None = None) -> Table[V]:
        """Return a mapping whose values are stored as JSON."""
        return _Table(self, name, TypeAdapter(kind), most)


def _is_new(path: str | os.PathLike[str]) -> bool:
    """Return whether a state file is not there yet, or empty.

    Raises:
        FileRefusedError: It is, although this process has used it.
    """
    file = Path(os.path.realpath(path))
    is_new = not file.exists() or file.stat().st_size == 0
    if is_new and file in _USED:
        raise FileRefusedError(f"{path!s} is gone or empty: {_IF_GONE}")
    return is_new


@dataclass(frozen=True, eq=False)
class _Table(MutableMapping[str, V]):
    """The entries of one kind in a file, oldest first."""

    file: AgentState
    name: str
    adapter: TypeAdapter[V]
    most: int | None

    def _rows(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        return self.file.execute(statement, self.name, *values)

    def __getitem__(self, key: str) -> V:
        with self.file.transaction():  # it also reports a value that is invalid
            rows = self._rows("SELECT value FROM entries WHERE kind = ? AND key = ?", key)
            if not rows:
                raise KeyError(key)
            return self.adapter.validate_json(rows[0][0])

    def __setitem__(self, key: str, value: V) -> None:
        text = self.adapter.dump_json(value).decode()
        with self.file.transaction():
            self._rows(
                "INSERT OR REPLACE INTO entries (kind, key, value) VALUES (?, ?, ?)", key, text
            )
            if self.most is not None:
                self.file.added[self.name] = self.most

    def __delitem__(self, key: str) -> None:
        with self.file.transaction():
            if key not in self:
                raise KeyError(key)
            self._rows("DELETE FROM entries WHERE kind = ? AND key = ?", key)

    def __iter__(self) -> Iterator[str]:
        rows = self._rows("SELECT key FROM entries WHERE kind = ? ORDER BY place")
        return iter([key for (key,) in rows])

    def items(self) -> ItemsView[str, V]:
        """Return all entries, read by one query."""
        with self.file.transaction():
            rows = self._rows("SELECT key, value FROM entries WHERE kind = ? ORDER BY place")
            return {key: self.adapter.validate_json(value) for key, value in rows}.items()

    def __len__(self) -> int:
        return int(self._rows("SELECT count(*) FROM entries WHERE kind = ?")[0][0])
