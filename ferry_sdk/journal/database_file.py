"""The file of a SQLite journal: it must stay where the next process looks for it.

SQLite goes on writing to a file that was removed, replaced or moved while it is open. Another
process that opens the path does not see those entries, and may send the same write again. So before
each use the file is compared with the one that the path leads to now. The same holds for the files
beside it: the ``-wal`` has the last commits, and the ``-shm`` the locks of all processes.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote, urlsplit

from sqlalchemy import event

from ferry_sdk.errors import JournalError
from ferry_sdk.journal.schema import about

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

Identity = tuple[int, int]
"""The device and the inode of a file."""

_OPTION: Final = "ferry_journal_file"
_CHECK_VALUE: Final = f"SELECT key_check FROM {about.name}"  # noqa: S608 -- a constant
_OPENED: Final = "ferry_journal_opened"


class DatabaseFile:
    """The file that one journal uses, from its first connection on.

    Attributes:
        path: Where it is; it may lead through links.
        identity: The file itself; None before the first connection.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.identity: Identity | None = None
        self._check_value: object = None

    def check(self) -> None:
        """Raise `JournalError` if the path leads to another file than it did, or to none."""
        if self.identity is not None and find_identity(self.path) != self.identity:
            raise _lost(self.path)

    def check_before_connecting(self, *_: object) -> None:
        """Check it before SQLite creates a new file in the place of one that is gone."""
        self.check()

    def open(self, connection: Connection) -> dict[str, Identity]:
        """Return the files beside the database that a new connection has opened.

        Raises:
            JournalError: The connection has opened another file than the earlier ones.
        """
        driver: Any = connection.connection.driver_connection
        check_value: object = None
        with suppress(sqlite3.Error):  # a new file; one that is damaged is reported elsewhere
            row = driver.execute(_CHECK_VALUE).fetchone()
            if row is not None:
                (check_value,) = row
        self._check_value = self._check_value or check_value

        self.identity = self.identity or find_identity(self.path)
        self.check()
        # While no connection was open, a new file may have got the inode of one that was removed.
        if check_value != self._check_value:
            raise _lost(self.path)

        real_path = os.path.realpath(self.path)
        files_beside: dict[str, Identity] = {}
        for path in (f"{real_path}-wal", f"{real_path}-shm"):
            identity = find_identity(path)
            if identity is not None:
                files_beside[path] = identity
        return files_beside


def file_of(engine: Engine) -> DatabaseFile | None:
    """Return the file of an engine; None for a database in memory, or one of a server."""
    if engine.dialect.name != "sqlite":
        return None
    arguments, options = engine.dialect.create_connect_args(engine.url)
    path: str = arguments[0]
    if options.get("uri"):
        parts = urlsplit(path)
        path = "" if "mode=memory" in parts.query else unquote(parts.path)
    if path in {"", ":memory:"}:
        return None
    return DatabaseFile(path)


def guard_file(engine: Engine) -> None:
    """Keep an engine of the journal's own from making its file again where it is gone."""
    file = file_of(engine)
    if file is not None:
        engine.update_execution_options(**{_OPTION: file})
        event.listen(engine, "do_connect", file.check_before_connecting)


def remember_file(engine: Engine) -> Engine:
    """Return the engine with its file, for `check_file`."""
    if _OPTION in engine.get_execution_options():
        return engine
    return engine.execution_options(**{_OPTION: file_of(engine)})


def check_file(connection: Connection) -> None:
    """Raise `JournalError` if the path no longer leads to the file of a connection."""
    file: DatabaseFile | None = connection.get_execution_options().get(_OPTION)
    if file is None:
        return

    file.check()
    opened: dict[str, Identity] | None = connection.info.get(_OPENED)
    if opened is None:  # the first use of this connection
        opened = connection.info[_OPENED] = file.open(connection)
    for path, identity in opened.items():
        if find_identity(path) != identity:
            raise _lost(path)


def find_identity(path: str) -> Identity | None:
    """Return the device and the inode of the file that a path leads to; None if there is none."""
    try:
        status = os.stat(path)  # noqa: PTH116 -- before each write
    except (OSError, ValueError):
        return None
    return status.st_dev, status.st_ino


def _lost(path: str) -> JournalError:
    return JournalError(
        f"the journal's file {path} was removed, replaced or moved while it was open: put it back, "
        "or open a new journal"
    )
