"""Private SQLite databases, which other users of the machine can neither read nor change.

SQLite trusts the files beside a database. It rolls a ``-journal`` back into the database and reads
changes from a ``-wal``, whoever wrote them. So the mode of the database protects it only if nobody
else can create files in its folder, and nobody else can replace the folder.
"""

from __future__ import annotations

import errno
import os
import sqlite3
import stat
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from ferry_sdk._runtime.access_lists import read_writers
from ferry_sdk._runtime.fork import ProcessLock

StrPath = str | os.PathLike[str]
_SUFFIXES: Final = ("-journal", "-wal", "-shm")
_IDENTITY: Final = """
SELECT application_id, user_version, (SELECT count(*) FROM sqlite_master)
FROM pragma_application_id, pragma_user_version
"""
_MOST_LINKS: Final = 40
"""Links that may follow each other, as in Linux."""
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
    - The same holds for the folders of each link on the way, and the link belongs to this user or
      to root: whoever can replace a link chooses the database.
    - The database and SQLite's files beside it are regular files of this user or of root, and
      nobody else can write to them.

    A group without other members may write: many systems give each user such a group. Users and
    groups of an access control list count as others (on Linux).

    Raises:
        OSError: The path cannot be resolved.
        ValueError: The path contains a null character.
    """
    if os.name != "posix":
        return None
    return _risk_around(database) or _risk_of_file(Path(os.path.realpath(database)))


def _risk_around(database: StrPath) -> str | None:
    """Return how another user could change a database by its folders or the files beside it."""
    if os.name != "posix":
        return None
    file = Path(os.path.realpath(database))
    folders, links = _way_to(database)
    folders_above = {*folders, *file.parents} - {file.parent}

    risks = [_risk_in(file.parent, is_above=False)]
    risks += [_risk_in(folder, is_above=True) for folder in folders_above]
    risks += [_risk_of_link(link) for link in links]
    risks += [_risk_of_file(file.with_name(file.name + suffix)) for suffix in _SUFFIXES]
    return next((risk for risk in risks if risk is not None), None)


def _way_to(database: StrPath) -> tuple[set[Path], list[Path]]:
    """Return the folders and the links that the system passes on the way to a file.

    For example, if ``data`` in ``/home/a/data/x.db`` is a link to ``/srv/data``, they are ``/``,
    ``/home``, ``/home/a``, ``/srv`` and ``/srv/data``, and the link ``/home/a/data``.

    Raises:
        OSError: Too many links follow each other.
    """
    folders: set[Path] = set()
    links: list[Path] = []
    # os.path.abspath would remove `..`, which leads elsewhere behind a link.
    remaining = [*reversed(Path(os.getcwd(), database).parts)]  # noqa: PTH109 -- one call less
    place = Path(remaining.pop())

    while remaining:
        name = remaining.pop()
        if name == "..":
            place = place.parent
            continue

        folders.add(place)
        entry = place / name
        if not entry.is_symlink():
            place = entry
            continue

        links.append(entry)
        if len(links) > _MOST_LINKS:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(entry))

        # The parts of the target come next, from where the link is if they are relative.
        target = Path(os.readlink(entry))  # noqa: PTH115 -- Path.readlink is the same
        if target.is_absolute():
            place = Path(target.anchor)
        remaining += reversed(target.relative_to(target.anchor).parts)
    return folders, links


def _risk_in(folder: Path, *, is_above: bool) -> str | None:
    """Return how another user could change a database by a folder.

    Args:
        folder: The folder.
        is_above: Whether the folder is above that of the database, or on the way to it.
    """
    try:
        status = folder.stat()
    except OSError:
        return None  # SQLite cannot use it either, and reports it

    own = os.geteuid()
    if status.st_uid not in {own, _ROOT} and not (is_above and status.st_uid == _UNMAPPED):
        return f"{folder} belongs to another user; use a folder of your own"

    is_protected = is_above and status.st_mode & stat.S_ISVTX
    command = None if is_protected else _command_against_writers(folder, status)
    if command is None:
        return None
    is_shared = status.st_uid != own or status.st_mode & stat.S_ISVTX  # such as /tmp
    advice = "use a folder of your own" if is_shared else f"run: {command} {folder}"
    return f"other users can write to {folder}; {advice}"


def _command_against_writers(path: Path, status: os.stat_result) -> str | None:
    """Return the command that keeps other users from writing; None if nobody else can write."""
    writers = read_writers(path)
    if writers is None:
        may_group_write = bool(status.st_mode & stat.S_IWGRP)
    else:
        may_group_write = writers.owning_group  # with a list, the bit in the mode is its mask

    if status.st_mode & stat.S_IWOTH:
        return "chmod go-w"
    if may_group_write and not _is_private(status.st_gid, may_lack_name=True):
        return "chmod go-w"
    if writers is None:
        return None

    may_other_user_write = any(user not in {os.geteuid(), _ROOT} for user in writers.users)
    may_other_group_write = any(
        not _is_private(group, may_lack_name=False) for group in writers.groups
    )
    if may_other_user_write or may_other_group_write:
        return "setfacl --remove-all"
    return None


def _risk_of_link(link: Path) -> str | None:
    """Return how another user could replace a link."""
    if link.lstat().st_uid in {os.geteuid(), _ROOT, _UNMAPPED}:
        return None
    return f"the link {link} belongs to another user; use a path without it"


def _is_private(group_id: int, *, may_lack_name: bool) -> bool:
    """Return whether nobody else belongs to a group: it has this user's name.

    Args:
        group_id: The group.
        may_lack_name: The answer for a group without a name. A container's volume may belong to
            such a group.
    """
    import grp  # noqa: PLC0415 -- not available on Windows
    import pwd  # noqa: PLC0415 -- the same

    try:
        group = grp.getgrgid(group_id)
    except KeyError:
        return may_lack_name
    try:
        user = pwd.getpwuid(os.geteuid())
    except KeyError:
        return False
    has_own_name = group.gr_name == user.pw_name
    return has_own_name and set(group.gr_mem) <= {user.pw_name}


def _risk_of_file(file: Path) -> str | None:
    """Return how another user could change a file that SQLite would use; None without a file."""
    try:
        status = file.lstat()
    except OSError:
        return None
    if not stat.S_ISREG(status.st_mode) or status.st_uid not in {os.geteuid(), _ROOT}:
        return f"{file} is not a file of yours, and SQLite would use it; find out whose it is"
    if (command := _command_against_writers(file, status)) is not None:
        return f"other users can write to {file}; run: {command} {file}"
    return None


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
        if (risk := _risk_around(path)) is not None:
            raise FileRefusedError(risk)
        self.path: Path = Path(os.path.realpath(path))
        # Not `abspath`: it takes `link/..` for the folder of the link.
        self._given_path = os.path.join(os.getcwd(), os.fspath(path))  # noqa: PTH109, PTH118 -- see above
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
        risk = find_exposure(status, self.path) or _risk_around(self.path)
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
            raise self.moved_error()

    def moved_error(self) -> FileRefusedError:
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
        application_id, version, table_count = connection.execute(_IDENTITY).fetchone()
        is_empty = (application_id, version, table_count) == (0, 0, 0)
        if is_empty:
            for statement in self._tables:
                connection.execute(statement)
            connection.execute(f"PRAGMA application_id = {self._application_id}")
            connection.execute(f"PRAGMA user_version = {self._version}")
            return

        if application_id != self._application_id:
            raise FileRefusedError(f"{self.path} is not a state file")
        if version != self._version:
            raise FileRefusedError(
                f"{self.path} has version {version}, expected {self._version}; use a new file"
            )
