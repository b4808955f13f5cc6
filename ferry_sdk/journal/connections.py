"""Connections that a journal borrows from its engine, and the transactions on them.

The engine commits every statement, so transactions are made by statements. On SQLite, a statement
is its own transaction, unless `exclusive_transaction` makes one of several.

On PostgreSQL, each use of a connection is one transaction, with settings of its own (`_SETTINGS`):
those of the server, the database or the role may give up what SQLite gives by its pragmas. They
hold for the transaction only, so they also hold where a pooler such as PgBouncer lends a connection
of the server for each transaction. What has not been committed when the time is up is rolled back.
"""

from __future__ import annotations

from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import DBAPIError

from ferry_sdk._runtime.fork import FORK_LOCK
from ferry_sdk.journal.database_file import check_file
from ferry_sdk.journal.time_limits import TimeLimit, Watch, limit_time

if TYPE_CHECKING:
    from collections.abc import Generator

    from sqlalchemy.pool import ConnectionPoolEntry

_LOCK: Final = 0x66657272796A6E6C
"""An advisory lock of PostgreSQL, which has no lock of the whole database as SQLite has."""
_PATIENCE: Final = "ferry_journal_patience"
"""Where a connection to SQLite keeps the milliseconds that its engine waits for a lock."""

# A limit of the server that is shorter stays. The limit of a statement counts its wait for a lock.
# It is less than that of a call, so that a server that works ends a statement by itself.
_BEGIN: Final = "BEGIN ISOLATION LEVEL READ COMMITTED"
_SETTINGS: Final = """
SELECT
    set_config('synchronous_commit', CASE current_setting('synchronous_commit')
        WHEN 'off' THEN 'on' ELSE current_setting('synchronous_commit') END, true),
    set_config('statement_timeout', CASE
        WHEN current_setting('statement_timeout')::interval BETWEEN '1 ms' AND '8 s'
        THEN current_setting('statement_timeout') ELSE '8s' END, true),
    set_config('idle_in_transaction_session_timeout', '10s', true),
    set_config('datestyle', 'ISO', true)
"""


@contextmanager
def connect(engine: Engine, *, writes: bool = False) -> Generator[Connection]:
    """Lend a connection, and return it to its pool even if an interrupt comes at any line.

    A fork waits until a connection that writes is returned.

    Args:
        engine: An engine that commits every statement.
        writes: Whether the block changes anything; else nothing is committed.

    Raises:
        JournalError: The file of the database is no longer where its path leads.
    """
    with limit_time() as limit, FORK_LOCK.use(writes=writes):
        if engine.dialect.name == "postgresql":
            with _transaction(engine, limit, writes=writes) as connection:
                yield connection
            return

        connection = engine.connect()
        try:
            check_file(connection)
            _limit_wait(connection, limit)
            yield connection
            connection.close()
        except BaseException:
            connection.close()  # possibly for the second time, which is harmless
            raise


@contextmanager
def exclusive_transaction(connection: Connection) -> Generator[None]:
    """Run the block in a transaction that no other process makes at the same time.

    If it fails, the connection is rolled back when it returns to its pool.
    """
    if connection.dialect.name == "postgresql":  # it is in a transaction already
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
        yield
        return

    connection.exec_driver_sql("BEGIN IMMEDIATE")
    yield
    connection.exec_driver_sql("COMMIT")


def _limit_wait(connection: Connection, limit: TimeLimit) -> None:
    """Let SQLite wait for a lock until the call ends, or as long as the engine says."""
    driver: Any = connection.connection.driver_connection
    patience: int | None = connection.info.get(_PATIENCE)
    if patience is None:
        patience = int(driver.execute("PRAGMA busy_timeout").fetchone()[0])
        connection.info[_PATIENCE] = patience

    remaining = max(0, int(limit.remaining() * 1000))
    driver.execute(f"PRAGMA busy_timeout = {min(patience, remaining)}")


def close_returned(_connection: object, record: ConnectionPoolEntry) -> None:
    """Close a connection that was in use when its pool was disposed of, which did not close it."""
    record.invalidate()


@contextmanager
def _transaction(engine: Engine, limit: TimeLimit, *, writes: bool) -> Generator[Connection]:
    """Run the block in a transaction of PostgreSQL, on a connection that answers."""
    connection = None
    try:
        connection = _begin(engine, limit)
        yield connection
        if writes:
            connection.exec_driver_sql("COMMIT")
        _return(connection, limit)
    except BaseException:
        if connection is not None:
            _return(connection, limit)  # possibly for the second time
        raise


def _begin(engine: Engine, limit: TimeLimit) -> Connection:
    """Begin a transaction, on a new connection if one of the pool has been lost."""
    while True:
        watch = limit.watch = Watch(limit.until)
        connection = engine.connect()  # it attaches a new connection to the watch
        is_pooled = not watch.is_watching

        try:
            if is_pooled:
                watch.expect_answer()
                watch.attach(connection.connection.driver_connection)
            _start_transaction(connection)
            watch.extend(limit.until)
            return connection  # noqa: TRY300 -- an interrupt here leaves the connection to nobody
        except BaseException as error:
            was_lost = isinstance(error, DBAPIError) and connection.invalidated
            _return(connection, limit)
            if not (was_lost and is_pooled and limit.remaining() > 0):
                raise


def _start_transaction(connection: Connection) -> None:
    if connection.dialect.driver == "psycopg":  # it sends several statements at once
        connection.exec_driver_sql(f"{_BEGIN}; {_SETTINGS}")
        return
    connection.exec_driver_sql(_BEGIN)
    connection.exec_driver_sql(_SETTINGS)


def _return(connection: Connection, limit: TimeLimit) -> None:
    """Roll back what is not committed, and return the connection to its pool.

    A connection that does not answer is closed instead.
    """
    is_open = not connection.closed and not connection.invalidated
    has_answered = False
    if is_open:
        with suppress(Exception):  # of the driver
            connection.connection.rollback()  # it asks the server only within a transaction
            has_answered = True

    is_in_time = limit.watch is None or limit.watch.end()
    if is_open and not (has_answered and is_in_time):
        connection.invalidate()
    connection.close()
