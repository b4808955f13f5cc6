"""The journal: a client writes to it, and a program or a person reads it.

Each method checks its arguments, and runs a function of `statements`, `orders` or `snapshots` with
a connection (`Journal._use`). For example, ``journal.entry("e1")`` is
``_use("read", statements.find, "e1")``:

1. The time of the call begins (`time_limits`), unless it is part of another call.
2. On first use, the tables are created, completed or checked, and the key is read (`creation`).
3. A connection is taken from the pool (`connections`), and the function runs.
4. Whatever the database raises becomes a `JournalError` (`_guard`).
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial
from itertools import chain
from typing import Concatenate, Literal, NoReturn, ParamSpec, Self, TypeVar

from sqlalchemy import Connection, Engine, event

from ferry_sdk._runtime.clock import monotonic
from ferry_sdk._runtime.fork import FORK_LOCK
from ferry_sdk.errors import (
    ConfigurationError,
    FerryError,
    InvalidInputError,
    JournalError,
    UnresolvedWriteError,
)
from ferry_sdk.journal import idempotency, offers, orders, snapshots, statements
from ferry_sdk.journal.connections import close_returned, connect
from ferry_sdk.journal.creation import Key, load_key, open_journal
from ferry_sdk.journal.database_file import remember_file
from ferry_sdk.journal.engines import describe, engine_of, is_in_memory
from ferry_sdk.journal.fork import JOURNALS, leave_to_parent
from ferry_sdk.journal.offer_store import OfferStore
from ferry_sdk.journal.rows import ABSENT, SETTLED_BY_HAND
from ferry_sdk.journal.snapshots import SavedDepartures
from ferry_sdk.journal.time_limits import limit_time
from ferry_sdk.journal.validation import age, check_filters, check_id, check_subject, moment
from ferry_sdk.types import EndState, EntryState, Intent, JournalEntry, OrderRecord, OutcomeDetails

T = TypeVar("T")
P = ParamSpec("P")

_ATTEMPTS = 5
"""How often a write is begun whose duplicate other programs settle meanwhile."""
_PAGE = 1000
"""Rows that are read or deleted at once."""
_LONGEST_PAUSE = 1.0
"""Seconds between two pages that are deleted; usually as long as a page takes."""


class Journal:
    """A record of writes: each write is recorded before it is sent, and its outcome after.

    ``Ferry(journal=Journal("sqlite:///ferry.db"))`` writes to it. After a crash, `unresolved` lists
    the writes that may have happened. ``ferry.recover(entry)`` resolves a write whose effect can be
    read back, `settle` one that a person has checked. Until then the same write is refused.

    Threads, clients, processes and forked children may share one journal. Use one journal for each
    service: the same write to two services has one fingerprint. The tables are created on first
    use. SQLite runs in WAL mode and is flushed at every commit.

    The journal stores no traveller's data, only a keyed fingerprint of it, with the operation, the
    path, ids, the correlation id, the state, times, and status and code of a rejection. Without
    ``key=`` and FERRY_JOURNAL_KEY the journal makes a key and stores it in the same database. This
    protects entries in logs, errors and exports, but not from someone who has the whole database:
    they can test whether it holds a booking that they guess in every detail. If that matters, keep
    your own key elsewhere. Only a new journal accepts a key, and a lost key cannot be replaced.

    Args:
        url: ``sqlite:///file.db``, ``sqlite://`` (in memory, for one process) or
            ``postgresql://…`` (with psycopg); or a SQLAlchemy `Engine`, which the caller
            configures and closes.
        key: The key for fingerprints, at least 16 bytes; default: FERRY_JOURNAL_KEY.

    Attributes:
        accepts_keys: That `idempotency_key` may be used with this recorder of writes.

    Raises:
        InvalidInputError: The URL, the engine or the key is invalid.
        ConfigurationError: The driver of the database is not installed.

    Example:
        ```python
        from ferry_sdk import Ferry
        from ferry_sdk.journal import Journal
        from ferry_sdk.sandbox import Sandbox, crossing

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

    accepts_keys: bool = True

    def __init__(self, url: str | Engine, *, key: str | bytes | None = None) -> None:
        engine = engine_of(url)
        self._owns_engine = not isinstance(url, Engine)
        if not self._owns_engine:  # the journal's own has this setting from the start
            engine = engine.execution_options(isolation_level="AUTOCOMMIT")
        self._engine = remember_file(engine)
        self._callers_key = load_key(key)

        # Known after the first use:
        self._key: Key | None = None
        self._absent: tuple[str, ...] = ()
        """The columns that the database lacks, so that it can only be read."""

        self._unusable: str | None = None
        """Why the journal cannot be used any more; None: it can."""
        JOURNALS.add(self)

    def begin(self, intent: Intent, order: OrderRecord | None = None) -> str:
        """Record a write as ``open`` before it is sent, and return the id of its entry.

        If the commit itself is interrupted, the entry may exist although `JournalError` was raised
        and nothing was sent. It is then listed as unresolved.

        Args:
            intent: The write.
            order: The order that it belongs to; it is saved in the same transaction.

        Raises:
            IdempotencyError: The idempotency key was used for another booking.
            UnresolvedWriteError: The same write is recorded and unresolved, or the key was used for
                the same booking, whose entry may be ``done``.
            JournalError: The entry cannot be committed, or another program has saved the order.
        """
        with limit_time():
            key = self._open()
            fingerprint = key.fingerprint(intent.effect, intent.identity)
            claim = _claim_of(intent, key)

            for _ in range(_ATTEMPTS):
                with suppress(statements.DuplicateWriteError):
                    return self._use(
                        "write", orders.begin, intent, fingerprint, order=order, claim=claim
                    )
                duplicate = self._use("read", statements.duplicate, fingerprint)
                if duplicate is not None:
                    raise UnresolvedWriteError(duplicate)
                # Another program has settled the duplicate meanwhile, so `begin` may succeed now.
        raise JournalError("the journal refuses the write and holds no entry for it")

    def end(self, entry_id: str, state: EndState, details: OutcomeDetails | None = None) -> None:
        """Record the outcome of a write, and what it named.

        ``unknown`` replaces ``open``; ``rejected`` and ``not_sent`` replace an unresolved state;
        ``done`` replaces any state. So ``done`` is never overwritten, and a late reply can turn a
        write that a person had given up into ``done``.

        Ids and a code that are empty, longer than 200 characters or not printable are left out.

        Raises:
            InvalidInputError: A write cannot end in this state.
            JournalError: The change cannot be committed, or no entry has this id.
        """
        if state not in statements.TRANSITIONS:
            raise InvalidInputError("expected unknown, done, rejected or not_sent", field="state")
        if not self._use("write", statements.change, entry_id, state, details):
            raise JournalError("the journal has no entry with this id")

    def unresolved(self, *, older_than: float | timedelta = 0) -> tuple[JournalEntry, ...]:
        """Return the writes that may have happened, oldest first.

        Args:
            older_than: The least age in seconds. An ``open`` write may be in progress in another
                process; pass more than your longest call takes to leave those out. A write whose
                time is later than now counts as old: a clock was set back, or is ahead.

        Raises:
            InvalidInputError: `older_than` is not a duration.
            JournalError: The journal cannot be read.

        Example:
            ```python
            from contextlib import suppress

            from ferry_sdk import Ferry, OutcomeUnknownError
            from ferry_sdk.journal import Journal
            from ferry_sdk.sandbox import Sandbox, crossing

            with (
                Sandbox() as sandbox,
                Journal("sqlite:///ferry.db") as journal,
                Ferry(sandbox.token, base_url=sandbox.base_url, journal=journal) as ferry,
            ):
                sandbox.faults.add("cut_before", "bookings.create")
                with suppress(OutcomeUnknownError):
                    ferry.bookings.create(**crossing(ferry))
                for entry in journal.unresolved():
                    print(entry.operation, entry.state)
                    # > bookings.create unknown
            ```
        """
        return self._use("read", statements.unresolved, age(older_than))

    def entries(
        self,
        *,
        since: datetime | JournalEntry | None = None,
        until: datetime | None = None,
        state: EntryState | Literal["unresolved"] | None = None,
        operation: str | None = None,
        booking_id: str | None = None,
        ticket_id: str | None = None,
        correlation_id: str | None = None,
        limit: int | None = None,
    ) -> tuple[JournalEntry, ...]:
        """Return the entries that pass all filters, oldest first.

        The order is by `began_at`, and by `id` for entries of one moment, so it never changes. To
        read a large journal in pages, pass a `limit`, and then the last entry of each page as
        `since` of the next one: no entry is skipped or repeated. Ranges of moments that follow each
        other do not overlap either. An entry becomes visible up to some seconds after its
        `began_at`, so read the last minute again if you follow a journal that is being written.

        Args:
            since: Entries that began at this moment or later; or an entry: those after it.
            until: Entries that began before this moment.
            state: Entries in this state; ``unresolved``: those that are open or unknown.
            operation: Entries of this operation, such as ``bookings.create``. The same action over
                MCP is another operation, such as ``mcp.create_booking``.
            booking_id: Entries that name this booking, or only a ticket that another entry of this
                booking names. A confirmation names all tickets if it had an
                `expect_total` or was read back, else one: ask for the others by `ticket_id`.
            ticket_id: Entries that name this ticket. It has no index: every entry is read.
            correlation_id: Entries whose request carried this id, such as your own of a
                `correlation`. One of more than 200 characters has no index.
            limit: The most entries to return; None: all.

        Raises:
            InvalidInputError: An argument has no meaning; `field` names it.
            JournalError: The journal cannot be read.

        Example:
            ```python
            from ferry_sdk import Ferry
            from ferry_sdk.journal import Journal
            from ferry_sdk.sandbox import Sandbox, crossing

            with (
                Sandbox() as sandbox,
                Journal("sqlite:///ferry.db") as journal,
                Ferry(sandbox.token, base_url=sandbox.base_url, journal=journal) as ferry,
            ):
                booking = ferry.bookings.create(**crossing(ferry))
                for entry in journal.entries(booking_id=booking.booking_id):
                    print(entry.operation, entry.state)
                    # > bookings.create done
            ```
        """
        filters = statements.Filters(
            since=since,
            until=until,
            state=state,
            operation=operation,
            booking_id=booking_id,
            ticket_id=ticket_id,
            correlation_id=correlation_id,
            limit=limit,
        )
        return self._use("read", statements.entries_by, check_filters(filters))

    def booking_ids(
        self, *, since: datetime | None = None, departs_after: datetime | None = None
    ) -> Iterator[str]:
        """Iterate over the bookings that the writes name, each once, in no particular order.

        Writes that were rejected or not sent do not count. With both arguments, one that a booking
        meets is enough. The ids are read in pages, so a journal of any size needs little memory. In
        async code, iterate in a thread: ``await asyncio.to_thread(list, journal.booking_ids())``.

        Args:
            since: Bookings with a write that began at this moment or later.
            departs_after: Bookings whose last departure is later than this moment, as far as a
                watch until departure knows it; also those of which `forget` deleted the writes. A
                booking that no such watch has read counts, and one without a moment of departure.
                One that is cancelled or has lapsed departs when the watch saw that.

        Raises:
            InvalidInputError: `since` or `departs_after` is no moment.
            JournalError: The journal cannot be read.

        Example:
            ```python
            from ferry_sdk import Ferry
            from ferry_sdk.journal import Journal
            from ferry_sdk.sandbox import Sandbox, crossing

            with (
                Sandbox() as sandbox,
                Journal("sqlite:///ferry.db") as journal,
                Ferry(sandbox.token, base_url=sandbox.base_url, journal=journal) as ferry,
            ):
                booking = ferry.bookings.create(**crossing(ferry))
                print(list(journal.booking_ids()) == [booking.booking_id])
                # > True
            ```
        """
        start = moment(since, "since")
        earliest = moment(departs_after, "departs_after")
        self._open()  # now, and not when the first id is taken
        by_writes = partial(statements.booking_ids, since=start, departs_after=earliest)
        if earliest is None:
            return self._ids(by_writes)
        by_departures = partial(snapshots.departing_ids, departs_after=earliest)
        return chain(self._ids(by_writes), self._ids(by_departures))

    def _ids(self, load: Callable[[Connection, object, int], Sequence[object]]) -> Iterator[str]:
        """Yield the ids of all pages that a function loads, given the last id before each page."""
        last: object = ""  # it is before every id, and a damaged id has any type
        while ids := self._use("read", load, last, _PAGE):
            yield from (booking_id for booking_id in ids if isinstance(booking_id, str))
            last = ids[-1]

    def entry(self, entry_id: str) -> JournalEntry:
        """Return the current entry with this id.

        Raises:
            InvalidInputError: No entry has this id.
            JournalError: The journal cannot be read.

        Example:
            ```python
            from ferry_sdk import Ferry
            from ferry_sdk.journal import Journal
            from ferry_sdk.sandbox import Sandbox, crossing

            with (
                Sandbox() as sandbox,
                Journal("sqlite:///ferry.db") as journal,
                Ferry(sandbox.token, base_url=sandbox.base_url, journal=journal) as ferry,
            ):
                ferry.bookings.create(**crossing(ferry))
                (entry,) = journal.entries()
                print(journal.entry(entry.id).state)
                # > done
            ```
        """
        check_id(entry_id, "entry_id")
        return _require(self._use("read", statements.find, entry_id), "entry_id")

    def settle(
        self, entry_or_id: JournalEntry | str, *, happened: bool, booking_id: str | None = None
    ) -> JournalEntry:
        """Record whether an unresolved write happened; the same write may then be made again.

        Settling an entry twice in the same way changes nothing. A settled entry can only be changed
        to ``done``. The journal cannot check that the booking exists: read it first
        (``ferry.bookings.get``). A wrong one is corrected by settling the entry again, unless a
        reply named it.

        Args:
            entry_or_id: The entry, or its id.
            happened: True records ``done``, False records ``rejected``.
            booking_id: The booking that a ``create`` made, for the entry to name it.

        Returns:
            The entry after the change.

        Raises:
            InvalidInputError: No entry has this id, the write is known to be done, the booking is
                another one than the write's, or another ``create`` made it.
            JournalError: The change cannot be committed.

        Example:
            ```python
            from contextlib import suppress

            from ferry_sdk import Ferry, OutcomeUnknownError
            from ferry_sdk.journal import Journal
            from ferry_sdk.sandbox import Sandbox, crossing

            with (
                Sandbox() as sandbox,
                Journal("sqlite:///ferry.db") as journal,
                Ferry(sandbox.token, base_url=sandbox.base_url, journal=journal) as ferry,
            ):
                sandbox.faults.add("cut_before", "bookings.create")
                with suppress(OutcomeUnknownError):
                    ferry.bookings.create(**crossing(ferry))
                (entry,) = journal.unresolved()
                print(journal.settle(entry, happened=False).state)
                # > rejected
            ```
        """
        entry_id = entry_or_id.id if isinstance(entry_or_id, JournalEntry) else entry_or_id
        check_id(entry_id, "entry_or_id")
        if not isinstance(happened, bool):  # pyright: ignore[reportUnnecessaryIsInstance] -- of callers without a type checker
            raise InvalidInputError("expected True or False", field="happened")

        settle = statements.settle
        if booking_id is not None:
            check_subject(booking_id, "booking_id")
            if statements.storable(booking_id) is None:
                raise InvalidInputError("too long for an id", field="booking_id")
            entry = self.entry(entry_id)
            if not happened or entry.subject.get("booking_id", booking_id) != booking_id:
                raise InvalidInputError("the write did not make this booking", field="booking_id")
            if entry.operation in statements.CREATES:
                settle = statements.settle_create

        state: EndState = "done" if happened else "rejected"
        code = SETTLED_BY_HAND if happened else None
        details = OutcomeDetails(booking_id, code=code)
        changed = self._use("write", settle, entry_id, state, details)

        entry = _require(changed, "entry_or_id")
        if (entry.state == "done") != happened:
            raise InvalidInputError("the write is recorded as done", field="happened")
        if booking_id not in {None, entry.booking_id}:
            raise InvalidInputError("the reply named another booking", field="booking_id")
        return entry

    def forget(self, *, older_than: float | timedelta) -> int:
        """Delete old settled entries, finished orders, and what watches saved.

        What watches saved are the states of bookings, and the prices of `ferry_sdk.offers`.

        Unresolved entries and unfinished orders stay, and what has a later time than now: the clock
        may be wrong. So do the bookings and orders of idempotency keys. Each 1,000 are a
        transaction of their own, so that writes go on beside it. If it is interrupted, what it has
        deleted so far stays deleted: call it again.

        Args:
            older_than: The least number of seconds since an entry was settled, or since a watch
                saved a booking; one that departs later stays. Pass more than your longest watch:
                without what it saved, a watch gives the stage of a booking again.

        Returns:
            The number of deleted entries.

        Raises:
            InvalidInputError: `older_than` is not a duration.
            JournalError: The change cannot be committed.

        Example:
            ```python
            from ferry_sdk import Ferry
            from ferry_sdk.journal import Journal
            from ferry_sdk.sandbox import Sandbox, crossing

            with (
                Sandbox() as sandbox,
                Journal("sqlite:///ferry.db") as journal,
                Ferry(sandbox.token, base_url=sandbox.base_url, journal=journal) as ferry,
            ):
                ferry.bookings.create(**crossing(ferry))
                print(journal.forget(older_than=30 * 24 * 3600), "deleted")
                # > 0 deleted
            ```
        """
        until = statements.cutoff(age(older_than))
        self._forget(snapshots.forget, until)
        self._forget(snapshots.forget_departures, until)
        self._forget(offers.forget, until)
        # Before the entries that they need:
        self._forget(orders.forget, until)
        self._forget(idempotency.forget, until)
        return self._forget(statements.forget, until)

    def _forget(self, delete: Callable[[Connection, datetime, int], int], until: datetime) -> int:
        """Delete all that is so old, a page in each transaction, and return its number."""
        total = 0
        while True:
            start = monotonic()
            deleted = self._use("write", delete, until, _PAGE)
            total += deleted
            if deleted < _PAGE:
                return total

            # A writer that waits for the lock of SQLite looks for it from time to time. Without a
            # pause, the next page would have the lock again by then.
            time.sleep(min(monotonic() - start, _LONGEST_PAUSE))

    def load_snapshots(self, booking_ids: Sequence[str]) -> dict[str, str]:
        """Return what `ferry_sdk.aftersales.watch` saved of these bookings, by id.

        Raises:
            JournalError: The journal cannot be read.
        """
        return self._use("read", snapshots.load, booking_ids)

    def save_snapshot(self, booking_id: str, content: str) -> None:
        """Save what `ferry_sdk.aftersales.watch` reported of a booking.

        Raises:
            JournalError: The change cannot be committed.
        """
        self._use("write", snapshots.save, booking_id, content)

    def load_departures(self, booking_ids: Sequence[str]) -> dict[str, SavedDepartures]:
        """Return what a watch until departure saved of these bookings, and how often they changed.

        Raises:
            JournalError: The journal cannot be read.
        """
        return self._use("read", snapshots.load_departures, booking_ids)

    def save_departures(
        self,
        booking_id: str,
        content: str,
        *,
        ends_at: datetime | None,
        snapshot: str | None,
    ) -> None:
        """Save what a watch until departure knows of a booking, in one transaction.

        Args:
            booking_id: The booking.
            content: What is known of its departures.
            ends_at: When it need not be watched any more; None if that is not known.
            snapshot: What `save_snapshot` saves; None: nothing.

        Raises:
            JournalError: The change cannot be committed.
        """
        save = snapshots.save_departures
        self._use("write", save, booking_id, content, ends_at=ends_at, snapshot=snapshot)

    def load_orders(
        self, order_id: str | None = None, *, only_unfinished: bool = False
    ) -> tuple[OrderRecord, ...]:
        """Return what `ferry_sdk.orders` recorded of one order or of all, oldest first.

        Raises:
            JournalError: The journal cannot be read.
        """
        return self._use("read", orders.load, order_id, only_unfinished=only_unfinished)

    def save_order(self, order: OrderRecord) -> None:
        """Save an order of `ferry_sdk.orders`, as its next revision.

        Raises:
            JournalError: The change cannot be committed, or another program has saved the order.
        """
        self._use("write", orders.save, order)

    @property
    def offers(self) -> OfferStore:
        """What `ferry_sdk.offers` stores."""
        return OfferStore(self._use)

    def close(self) -> None:
        """Close the connections, except those of the caller's own engine.

        Example:
            ```python
            from ferry_sdk.journal import Journal

            journal = Journal("sqlite:///ferry.db")
            print(len(journal.entries()), "entries")
            # > 0 entries
            journal.close()
            ```
        """
        self._unusable = "the journal is closed"
        if self._owns_engine:
            event.listen(self._engine.pool, "checkin", close_returned)
            with FORK_LOCK.use(writes=True):
                self._engine.dispose()

    def after_fork(self) -> None:
        """Leave the parent's connections alone; called automatically in a forked child."""
        if is_in_memory(self._engine.url):
            self._unusable = "a journal in memory cannot be used in a forked process"
        else:
            leave_to_parent(self._engine)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Journal({self._engine.url.set(query={}).render_as_string()!r})"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a journal cannot be pickled: pass its URL to the other process")

    def _open(self) -> Key:
        """Create the tables if necessary, and return the key."""
        if self._unusable is not None:
            raise ConfigurationError(self._unusable)
        key = self._key
        if key is None:  # without a lock, because concurrent threads read the same key
            with limit_time():
                opened = _guard(partial(open_journal, self._engine, self._callers_key))
            self._absent = opened.absent
            key = self._key = opened.key
        return key

    def _use(
        self,
        mode: Literal["read", "write"],
        work: Callable[Concatenate[Connection, P], T],
        *arguments: P.args,
        **options: P.kwargs,
    ) -> T:
        """Run a function with a connection, within the time of one call."""
        engine: Engine = self._engine

        def use_connection() -> T:
            with connect(engine, writes=mode == "write") as connection:
                return work(connection, *arguments, **options)

        with limit_time():
            self._open()
            if self._absent:
                engine = self._engine_without_columns(mode)
            return _guard(use_connection)

    def _engine_without_columns(self, mode: Literal["read", "write"]) -> Engine:
        """Return an engine that reads what there is; nothing can be written without a column."""
        if mode == "read":
            return self._engine.execution_options(**{ABSENT: self._absent})
        self._key = None  # so the next call looks whether another program has added them
        raise JournalError(
            f"the journal lacks {', '.join(self._absent)}, which this program may not add: open it "
            "once with the right to change its tables"
        )


def _guard(work: Callable[[], T]) -> T:
    """Run what uses the database, and raise its failures as `JournalError`.

    An error of the library passes as it is. So does an interruption, such as Ctrl-C, even if an
    error has replaced it: psycopg and SQLAlchemy clean up after an interrupted statement, and if
    that fails, only the error of the clean-up arrives here, with the interruption as its context.
    """
    handled = sys.exc_info()[1]  # what the caller is handling, which is no part of this failure
    try:
        return work()
    except (FerryError, MemoryError, statements.DuplicateWriteError):
        raise
    except Exception as error:  # noqa: BLE001 -- damaged data can fail in any way
        problem = describe(error)
        interruption = _find_interruption(error, handled)
    # Outside `except`, so that the database's error is not attached.
    raise interruption or JournalError(f"the journal cannot be used: {problem}")


def _find_interruption(
    error: BaseException | None, handled: BaseException | None
) -> BaseException | None:
    """Return the interruption that an error has replaced: a Ctrl-C, or another signal's exit.

    It is searched among the causes and contexts of the error, up to `handled`.
    """
    while error is not None and error is not handled:
        if not isinstance(error, Exception):
            return error
        error = error.__cause__ or error.__context__
    return None


def _claim_of(intent: Intent, key: Key) -> idempotency.Claim | None:
    """Return the idempotency key of a write as the journal stores it; None without one."""
    idempotency_key = intent.idempotency_key
    if idempotency_key is None:
        return None
    return idempotency.Claim(
        key_hash=key.idempotency_key(intent.address, idempotency_key.text),
        booking_hash=key.booking(idempotency_key.booking),
    )


def _require(entry: JournalEntry | None, field: str) -> JournalEntry:
    if entry is None:
        raise InvalidInputError("the journal has no such entry", field=field)
    return entry
