"""The journal that a client writes to and a person reads."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import timedelta
from types import TracebackType
from typing import NoReturn, TypeVar

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import IntegrityError
from typing_extensions import Self

from ferry_sdk.errors import (
    ConfigurationError,
    FerryError,
    InvalidInputError,
    JournalError,
    UnresolvedWriteError,
)
from ferry_sdk.journal import statements
from ferry_sdk.journal.engines import connect, display_url, engine_of, is_in_memory, journal_error
from ferry_sdk.journal.fork import FORK_LOCK, leave_to_parent, notify_after_fork
from ferry_sdk.journal.keys import Key, load_key
from ferry_sdk.journal.migrations import open_journal
from ferry_sdk.types import EndState, Intent, JournalEntry

T = TypeVar("T")

_ATTEMPTS = 5


class Journal:
    """A record of writes: an intent before each leaves, its outcome after.

    ``Ferry(journal=Journal("sqlite:///ferry.db"))`` writes to it. After a crash `unresolved`
    lists what may have happened; ``ferry.recover(entry)`` settles what can be read back, and
    `settle` what a person has found out. Until then the same write is refused.

    One journal may be shared by threads, clients, processes and the children of a fork. It
    belongs to one service: the same write to two services has one fingerprint. Its tables are
    made on first use. SQLite is kept in WAL mode and flushed at every commit.

    No traveller's data is stored, only a keyed fingerprint of it beside operation, path, ids,
    correlation id, state and times. Without ``key=`` and FERRY_JOURNAL_KEY the journal makes a
    key and keeps it in the same database. That protects entries that leave the database, in
    logs, errors and exports: without the key their fingerprints say nothing. It does not
    protect against those who have the whole database: they can tell whether a booking that they
    guess in every detail is among them. Where that matters, keep a key of your own elsewhere.
    Only a new journal takes one, and one that is lost cannot be replaced.

    Args:
        url: ``sqlite:///file.db``, ``sqlite://`` (in memory, for one process) or
            ``postgresql://…`` (through psycopg); or a SQLAlchemy `Engine`, whose settings and
            life stay the caller's.
        key: What fingerprints are made with, 16 bytes or more; else FERRY_JOURNAL_KEY.

    Raises:
        InvalidInputError: The URL, the engine or the key cannot be used.
        ConfigurationError: What the database needs is not installed.

    Example:
        ```python
        from ferry_sdk import Ferry
        from ferry_sdk.journal import Journal
        from ferry_sdk.sandbox import Sandbox

        from crossing import crossing

        with (
            Sandbox() as sandbox,
            Journal("sqlite:///ferry.db") as journal,
            Ferry(sandbox.token, base_url=sandbox.base_url, journal=journal) as ferry,
        ):
            ferry.bookings.create(**crossing(ferry))
            print(len(journal.unresolved()), "unresolved")
            # > 0 unresolved
        ```
    """

    def __init__(self, url: str | Engine, *, key: str | bytes | None = None) -> None:
        engine = engine_of(url)
        self._owns_engine = not isinstance(url, Engine)
        self._address = display_url(engine.url)
        self._is_in_memory = is_in_memory(engine.url)
        self._engine = engine.execution_options(isolation_level="AUTOCOMMIT")
        self._given_key = load_key(key)
        self._key: Key | None = None
        self._unusable: str | None = None
        notify_after_fork(self)

    def begin(self, intent: Intent) -> str:
        """Commit a write that is about to leave as ``open``, and give its entry's id.

        Where the commit itself is interrupted, the entry may stand although `JournalError` was
        raised and nothing was sent: it is listed as unresolved then.

        Raises:
            UnresolvedWriteError: The same write is on record and unresolved.
            JournalError: It cannot be committed.
        """
        fingerprint = self._open().fingerprint(intent.effect, intent.identity)
        for _ in range(_ATTEMPTS):
            entry_id = self._run(lambda connection: _add(connection, intent, fingerprint))
            if entry_id is not None:
                return entry_id
            duplicate = self._run(lambda connection: statements.duplicate(connection, fingerprint))
            if duplicate is not None:
                raise UnresolvedWriteError(duplicate)
        raise JournalError("the journal does not say why it refuses the write")

    def end(self, entry_id: str, state: EndState) -> None:
        """Commit the outcome of a write.

        ``unknown`` changes an entry that is ``open``; ``rejected`` and ``not_sent`` one that is
        unresolved; ``done`` any. So what was seen or said to be done stays done, whoever comes
        later, and a write that a person gave up is done after all if its reply says so.

        Raises:
            InvalidInputError: A write cannot end in this state.
            JournalError: It cannot be committed, or there is no such entry.
        """
        if not statements.is_end_state(state):
            raise InvalidInputError(
                "unknown, done, rejected or not_sent is expected", field="state"
            )
        self._open()
        if self._run(lambda connection: statements.change(connection, entry_id, state)) is None:
            raise JournalError("the journal has no entry of this id")

    def unresolved(self, *, older_than: float | timedelta = 0) -> tuple[JournalEntry, ...]:
        """The writes that may have happened and nobody knows, oldest first.

        Args:
            older_than: Seconds since each was begun. An ``open`` one may be under way in another
                process at this moment; more than the longest call leaves those out.

        Raises:
            InvalidInputError: `older_than` is not a length of time.
            JournalError: The journal cannot be read.
        """
        age = _age(older_than)
        self._open()
        return self._run(lambda connection: statements.unresolved(connection, age))

    def entry(self, entry_id: str) -> JournalEntry:
        """The entry of this id, as it is now.

        Raises:
            InvalidInputError: There is none.
            JournalError: The journal cannot be read.
        """
        _check_id(entry_id, "entry_id")
        self._open()
        return _require(
            self._run(lambda connection: statements.find(connection, entry_id)), "entry_id"
        )

    def settle(self, entry_or_id: JournalEntry | str, *, happened: bool) -> JournalEntry:
        """Say what became of an unresolved write; the same write may be made again then.

        To say it twice changes nothing. A write that was settled otherwise meanwhile is only
        ever corrected to ``done``.

        Args:
            entry_or_id: The entry, or its id.
            happened: ``done`` if it did, ``rejected`` if it did not.

        Returns:
            The entry as it is now.

        Raises:
            InvalidInputError: There is no such entry, or it is known to be done.
            JournalError: It cannot be committed.
        """
        entry_id = entry_or_id.id if isinstance(entry_or_id, JournalEntry) else entry_or_id
        _check_id(entry_id, "entry_or_id")
        if not isinstance(happened, bool):  # pyright: ignore[reportUnnecessaryIsInstance] -- of callers without a type checker
            raise InvalidInputError("True or False is expected", field="happened")
        self._open()
        state: EndState = "done" if happened else "rejected"
        changed = self._run(lambda connection: statements.change(connection, entry_id, state))
        entry = _require(changed, "entry_or_id")
        if (entry.state == "done") != happened:
            raise InvalidInputError("it is on record as done", field="happened")
        return entry

    def forget(self, *, older_than: float | timedelta) -> int:
        """Delete entries that were settled long ago; unresolved ones stay.

        Args:
            older_than: Seconds since each was settled.

        Returns:
            How many were deleted.

        Raises:
            InvalidInputError: `older_than` is not a length of time.
            JournalError: It cannot be committed.
        """
        age = _age(older_than)
        self._open()
        return self._run(lambda connection: statements.forget(connection, age))

    def close(self) -> None:
        """Close the connections, but for those of an engine of the caller's own."""
        self._unusable = "the journal is closed"
        if self._owns_engine:
            with FORK_LOCK.use():
                self._engine.dispose()

    def after_fork(self) -> None:
        """Leave the parent's connections alone, in a child process; called by itself there."""
        if self._is_in_memory:
            self._unusable = "a journal in memory does not follow into another process"
        else:
            leave_to_parent(self._engine)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Journal({self._address!r})"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a journal is not pickled: give the other process its URL")

    def _open(self) -> Key:
        """The key, after the tables are there."""
        if self._unusable is not None:
            raise ConfigurationError(self._unusable)
        key = self._key
        if key is None:  # threads that come here together find the same
            key = self._key = _guard(lambda: open_journal(self._engine, self._given_key))
        return key

    def _run(self, work: Callable[[Connection], T]) -> T:
        def working() -> T:
            with connect(self._engine) as connection:
                return work(connection)

        return _guard(working)


def _guard(work: Callable[[], T]) -> T:
    """The work's result; what a database fails with becomes a `JournalError`."""
    try:
        with FORK_LOCK.use():
            return work()
    except (FerryError, MemoryError):
        raise
    except Exception as error:  # noqa: BLE001 -- what is at rest may be damaged in any way
        failure = journal_error(error)
    raise failure  # outside, so that the database's own words do not come along


def _add(connection: Connection, intent: Intent, fingerprint: str) -> str | None:
    """The id of a new entry; None where there is a twin."""
    try:
        return statements.add(connection, intent, fingerprint)
    except IntegrityError:
        return None


def _age(older_than: float | timedelta) -> timedelta:
    if isinstance(older_than, timedelta):
        age = older_than
    elif isinstance(older_than, bool) or not isinstance(older_than, int | float):  # pyright: ignore[reportUnnecessaryIsInstance] -- of callers without a type checker
        raise InvalidInputError("seconds or a timedelta are expected", field="older_than")
    elif math.isfinite(older_than) and abs(older_than) < timedelta.max.total_seconds():
        age = timedelta(seconds=older_than)
    else:
        raise InvalidInputError("a length of time is expected", field="older_than")
    if age < timedelta(0):
        raise InvalidInputError("0 or more are expected", field="older_than")
    return age


def _check_id(entry_id: object, field: str) -> None:
    if not isinstance(entry_id, str):
        raise InvalidInputError("an entry's id is expected", field=field)


def _require(entry: JournalEntry | None, field: str) -> JournalEntry:
    if entry is None:
        raise InvalidInputError("the journal has no such entry", field=field)
    return entry
