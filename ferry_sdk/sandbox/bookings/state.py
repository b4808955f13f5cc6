"""The state file: what a restart of the service needs, in an SQLite file private to its user.

Each change is one transaction, committed to the disk before the reply is sent. So after a crash the
file has every booking whose reply could have arrived, and no half of one.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Mapping

from pydantic import TypeAdapter

from ferry_sdk._runtime.private_files import PrivateDatabase
from ferry_sdk.sandbox.clock import ClockState

_APPLICATION = 0x46455253
_VERSION = 3
_TIMEOUT = 1.0
"""Seconds to wait for another service."""
_TABLES = (
    "CREATE TABLE bookings (number INTEGER PRIMARY KEY, id TEXT UNIQUE NOT NULL, record TEXT)",
    "CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
)
_SAVE_BOOKING = """
INSERT INTO bookings (id, record) VALUES (?, ?)
ON CONFLICT (id) DO UPDATE SET record = excluded.record WHERE record <> excluded.record
"""
_SAVE_SETTING = """
INSERT INTO settings (name, value) VALUES (?, ?)
ON CONFLICT (name) DO UPDATE SET value = excluded.value WHERE value <> excluded.value
"""
_CLOCK = TypeAdapter(ClockState)


class SandboxState:
    """The state file of one running service; thread-safe."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Open the file, or create it.

        Raises:
            OSError: It cannot be opened, another service uses it, it is another kind of file, or
                other users can change its folder.
        """
        self._lock = threading.Lock()
        try:
            file = PrivateDatabase(
                path, application_id=_APPLICATION, version=_VERSION, tables=_TABLES
            )
        except ValueError:
            raise OSError(f"{path!r} is not a valid file name") from None
        if not file.path.is_file():
            raise OSError(f"{path} is not a state file")
        file.path.chmod(0o600)

        try:
            self._database = file.connect(_TIMEOUT)
            self._file = file
        except sqlite3.Error as error:
            raise OSError(f"{path}: {error}") from None

        try:
            # Until the file is closed, no other service can use it.
            self._database.execute("PRAGMA locking_mode = EXCLUSIVE")
            self._database.execute("BEGIN EXCLUSIVE")
            file.prepare(self._database)
            self._database.execute("COMMIT")
        except (sqlite3.Error, OSError) as error:
            self._database.close()
            if isinstance(error, sqlite3.OperationalError):
                problem = f"{path}: {error}; another service may use this state file"
                raise OSError(problem) from None
            if isinstance(error, sqlite3.DatabaseError):
                raise OSError(f"{path} is not a state file") from None
            raise

    def bookings(self) -> list[str]:
        """Return the records of the bookings, oldest first."""
        with self._lock:
            rows = self._database.execute("SELECT record FROM bookings ORDER BY number").fetchall()
        return [record for (record,) in rows]

    @property
    def used_ids(self) -> int:
        """How many ids the bookings have used."""
        return int(self._setting("used_ids") or 0)

    @property
    def clock(self) -> ClockState | None:
        """The saved clock; None in a new file."""
        saved = self._setting("clock")
        return None if saved is None else _CLOCK.validate_json(saved)

    def check_place(self) -> None:
        """Check that the file is where its path leads, before anything is done.

        Raises:
            OSError: It was removed, replaced or moved, so a restart would not find the bookings.
        """
        self._file.check_identity()

    def save_bookings(self, records: Mapping[str, str], used_ids: int) -> None:
        """Save the records of bookings by id, and the number of ids in use."""
        changes = [(_SAVE_BOOKING, record) for record in records.items()]
        self._save(*changes, (_SAVE_SETTING, ("used_ids", str(used_ids))))

    def save_clock(self, clock: ClockState) -> None:
        """Save the clock."""
        self._save((_SAVE_SETTING, ("clock", _CLOCK.dump_json(clock).decode())))

    def clear(self) -> None:
        """Forget the bookings."""
        self._save(("DELETE FROM bookings", ()), (_SAVE_SETTING, ("used_ids", "0")))

    def close(self) -> None:
        """Close the file, so that another service can use it."""
        with self._lock:
            self._database.close()

    def _setting(self, name: str) -> str | None:
        query = "SELECT value FROM settings WHERE name = ?"
        with self._lock:
            row = self._database.execute(query, (name,)).fetchone()
        return None if row is None else row[0]

    def _save(self, *changes: tuple[str, tuple[str, ...]]) -> None:
        with self._lock, self._database:  # which commits the changes, or rolls them back
            self._file.check_identity()
            self._database.execute("BEGIN")
            for statement, values in changes:
                self._database.execute(statement, values)
