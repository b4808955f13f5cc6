"""Private SQLite databases, which other users of the machine can neither read nor change.

SQLite trusts the files beside a database. It rolls a ``-journal`` back into the database and reads
changes from a ``-wal``, whoever wrote them. So the mode of the database protects it only if nobody
else can create files in its folder, and nobody else can replace the folder.
"""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from ferry_sdk._runtime.fork import ProcessLock

StrPath = str | os.PathLike[str]
_SUFFIXES: Final = ("-journal", "-wal", "-shm")
_IDENTITY: Final = """
SELECT application_id, user_version, (SELECT count(*) FROM sqlite_master)
FROM pragma_application_id, pragma_user_version
"""
_CREATION: Final = ProcessLock()
_ROOT: Final = 0
_UNMAPPED: Final = 65_534
"""The owner that Linux shows for root's folders in a user namespace without an id for root."""


def find_risk(database: StrPath) -> str | None:
    """Return how another user could change a SQLite database, and what to do; None if nobody can.

    The database need not exist. On Windows, nothing is checked.

    - Its folder belongs to this user or to root, and nobody else can create files in it. The sticky
      bit does not help.
    - Nobody else can rename entries of the folders above. There, the sticky bit is enough.
    - SQLite's files beside the database are regular files of this user or of root.

    A group without other members may write: many systems give each user such a group.

    Raises:
        OSError: The path cannot be resolved.
        ValueError: The path contains a null character.
    """
    if os.name != "posix":
        return None
    file = Path(os.path.realpath(database))
    # The path may lead through links, and whoever can replace a link chooses the database.
    unresolved = Path(os.path.abspath(os.fspath(database)))  # noqa: PTH100 -- keeps the links
    above = {*file.parents, *unresolved.parents} - {file.parent}
    risks = (
        _risk_in(file.parent, is_above=False),
        *(_risk_in(folder, is_above=True) for folder in above),
        *(_risk_beside(file.with_name(file.name + suffix)) for suffix in _SUFFIXES),
    )
    return next(filter(None, risks), None)


def _risk_in(folder: Path, *, is_above: bool) -> str | None:
    try:
        status = folder.stat()
    except OSError:
        return None  # SQLite cannot use it either, and reports it
    own = os.geteuid()
    if status.st_uid not in {own, _ROOT} and not (is_above and status.st_uid == _UNMAPPED):
        return f"{folder} belongs to another user; use a folder of your own"
    is_protected = is_above and status.st_mode & stat.S_ISVTX
    is_open = status.st_mode & stat.S_IWOTH or (
        status.st_mode & stat.S_IWGRP and not _is_private(status.st_gid)
    )
    if is_protected or not is_open:
        return None
    is_shared = status.st_uid != own or status.st_mode & stat.S_ISVTX  # such as /tmp
    advice = "use a folder of your own" if is_shared else f"run: chmod go-w {folder}"
    return f"other users can write to {folder}; {advice}"


def _is_private(group_id: int) -> bool:
    """Return whether nobody else belongs to a group: it has this user's name, or no name at all.

    A container's volume may belong to a group that has no name.
    """
    import grp  # noqa: PLC0415 -- not available on Windows
    import pwd  # noqa: PLC0415 -- the same

    try:
        group = grp.getgrgid(group_id)
    except KeyError:
        return True
    try:
        user = pwd.getpwuid(os.geteuid())
    except KeyError:
        return False
    return group.gr_name == user.pw_name and {*group.gr_mem} <= {user.pw_name}


def _risk_beside(file: Path) -> str | None:
    try:
        status = file.lstat()
    except OSError:
        return None
    if stat.S_ISREG(status.st_mode) and status.st_uid in {os.geteuid(), _ROOT}:
        return None
    return f"{file} is not a file of yours, and SQLite would use it; find out whose it is"


def find_exposure(status: os.stat_result, path: Path) -> str | None:
    """Return why a file is not a regular one that only this user can use; None if it is."""
    if not stat.S_ISREG(status.st_mode):
        return f"{path} is not a file"
    if os.name != "posix":
        return None
    if status.st_uid != os.geteuid():
        return f"{path} belongs to another user"
    if status.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        return f"other users can use {path}; run: chmod 600 {path}"
    return None


class FileRefusedError(OSError):
    """A file is of another kind or version, or other users can use it; the message says which."""


class PrivateDatabase:
    """A SQLite file of one application and version, with mode 0600.

    It is created if it does not exist.

    Attributes:
        path: Its real path.

    Raises:
        FileRefusedError: Other users can change its folder.
        OSError: It cannot be created.
        ValueError: The path is not one of a file.
    """

    def __init__(
        self, path: StrPath, *, application_id: int, version: int, tables: Sequence[str]
    ) -> None:
        if (risk := find_risk(path)) is not None:
            raise FileRefusedError(risk)
        self.path: Path = Path(os.path.realpath(path))
        self._given_path = os.path.abspath(os.fspath(path))  # noqa: PTH100 -- keeps the links
        self._identity: tuple[int, int] | None = None
        self._application_id = application_id
        self._version = version
        self._tables = tables
        # Closing a file releases the locks that this process has on it: never open one again.
        with _CREATION.current, suppress(FileExistsError):
            os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))

    def connect(self, timeout: float) -> sqlite3.Connection:
        """Open the file, if it is still private.

        Args:
            timeout: Seconds to wait for another process.

        Raises:
            FileRefusedError: It is not a regular file, or other users can use it or its folder.
            OSError: It cannot be read.
            sqlite3.Error: SQLite cannot open it.
        """
        status = self.path.stat()
        risk = find_exposure(status, self.path) or find_risk(self.path)
        if risk is not None:
            raise FileRefusedError(risk)
        self._identity = self._identity or (status.st_dev, status.st_ino)
        self.check_identity()
        # mode=rw: SQLite must not create a file that was deleted, with other permissions.
        uri = f"{self.path.as_uri()}?mode=rw"
        return sqlite3.connect(
            uri, timeout=timeout, isolation_level=None, check_same_thread=False, uri=True
        )

    def check_identity(self) -> None:
        """Check that the path leads to the same file as at the first connection.

        Another process looks for the file by its path. It does not see what is written to a file
        that was removed, replaced or moved.

        Raises:
            FileRefusedError: The path leads to another file, or to none.
        """
        try:
            status = os.stat(self._given_path)  # noqa: PTH116 -- before each write
        except OSError:
            status = None
        if status is None or (status.st_dev, status.st_ino) != self._identity:
            raise self.refusal()

    def refusal(self) -> FileRefusedError:
        """Return the error of a file that is no longer where its path leads."""
        return FileRefusedError(
            f"{self._given_path} was removed, replaced or moved while it was in use; put it back, "
            "or start again"
        )

    def prepare(self, connection: sqlite3.Connection) -> None:
        """Create the tables of an empty file, in the transaction of the caller.

        Raises:
            FileRefusedError: The file is of another application or version.
            sqlite3.Error: It cannot be read, or is not a database.
        """
        application_id, version, tables = connection.execute(_IDENTITY).fetchone()
        if (application_id, version, tables) == (0, 0, 0):
            for statement in self._tables:
                connection.execute(statement)
            connection.execute(f"PRAGMA application_id = {self._application_id}")
            connection.execute(f"PRAGMA user_version = {self._version}")
        elif application_id != self._application_id:
            raise FileRefusedError(f"{self.path} is not a state file")
        elif version != self._version:
            raise FileRefusedError(
                f"{self.path} has version {version}, expected {self._version}; use a new file"
            )
