"""Database engines for SQLite and PostgreSQL, and the errors made of their failures."""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qs, unquote, urlsplit

from sqlalchemy import URL, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.pool import QueuePool, SingletonThreadPool

from ferry_sdk._runtime.clock import monotonic
from ferry_sdk._runtime.private_files import find_risk
from ferry_sdk.errors import ConfigurationError, InvalidInputError, JournalError
from ferry_sdk.journal.database_file import guard_file
from ferry_sdk.journal.time_limits import LIMIT, Dial, current_limit

if TYPE_CHECKING:
    from sqlalchemy.engine import Dialect, ExceptionContext

_TIMEOUT: Final = int(LIMIT)
"""Seconds to wait for a lock of SQLite, for a connection of the pool, or for a new one."""
_PAUSE = 0.01
_LATE: Final = frozenset({"57014", "55P03", "25P03"})
"""What PostgreSQL says if a statement, a lock or a transaction has taken too long."""

_SUPPORTED = "expected sqlite:// or postgresql:// (with psycopg), and no async engine"


def engine_of(url: str | Engine) -> Engine:
    """Return an engine for a URL; the caller's own engine is used as it is."""
    if isinstance(url, Engine):
        if url.dialect.is_async or url.dialect.name not in {"sqlite", "postgresql"}:
            raise InvalidInputError(_SUPPORTED, field="url")
        if is_in_memory(url.url) and isinstance(url.pool, SingletonThreadPool):
            raise InvalidInputError(
                "each thread would have its own database; use poolclass=StaticPool", field="url"
            )
        return url
    if not isinstance(url, str):  # pyright: ignore[reportUnnecessaryIsInstance] -- of callers without a type checker
        raise InvalidInputError("expected a URL or a SQLAlchemy Engine", field="url")

    parts = None
    with suppress(ArgumentError, ValueError):
        url.encode()  # no driver encodes a lone surrogate
        parts = make_url(url)
    if parts is None:  # raised here, so that the URL's error is not attached
        raise InvalidInputError("not a database URL", field="url")

    if parts.drivername in {"sqlite", "sqlite+pysqlite"}:
        return _sqlite(parts)
    if parts.drivername in {"postgres", "postgresql", "postgresql+psycopg"}:
        return _postgresql(parts.set(drivername="postgresql+psycopg"))
    raise InvalidInputError(_SUPPORTED, field="url")


def is_in_memory(url: URL) -> bool:
    """Return True if the database exists only as long as its one connection."""
    if url.get_backend_name() != "sqlite":
        return False
    return (
        url.database in {None, "", ":memory:", "file::memory:"} or url.query.get("mode") == "memory"
    )


def missing_file(url: str) -> str | None:
    """Return the path of a SQLite database that does not exist; None for any other database."""
    parts = make_url(url)
    if parts.get_backend_name() != "sqlite" or is_in_memory(parts) or "uri" in parts.query:
        return None
    path = parts.database
    return None if path is None or os.path.exists(path) else path  # noqa: PTH110 -- like SQLite


def _sqlite(url: URL) -> Engine:
    if is_in_memory(url):
        # The one connection is the database, so all threads share it, one at a time.
        engine = _create_engine(
            url,
            poolclass=QueuePool,
            pool_size=1,
            max_overflow=0,
            connect_args={"check_same_thread": False},
        )
        event.listen(engine, "handle_error", _keep_connection)
        return engine

    engine = _create_engine(url, poolclass=QueuePool, connect_args=_default_timeout(url, "timeout"))
    guard_file(engine)  # before a file is made
    event.listen(engine, "do_connect", _make_private)
    event.listen(engine, "connect", _make_durable)
    return engine


def _keep_connection(context: ExceptionContext) -> None:
    # SQLAlchemy drops a connection that Ctrl-C interrupted; this one holds the whole database.
    context.is_disconnect = False


def _make_private(_dialect: Any, _record: Any, where: list[str], options: dict[str, Any]) -> None:  # noqa: ANN401 -- SQLAlchemy's own
    """Create the file for its owner only; SQLite gives -wal and -shm the same mode.

    Raises:
        JournalError: Other users can change the folder of the file.
    """
    path = where[0]
    may_be_new = True
    if options.get("uri"):  # such as file:/srv/ferry.db?mode=rw, which creates no file
        parts = urlsplit(path)
        may_be_new = parse_qs(parts.query).get("mode", ["rwc"]) == ["rwc"]
        path = unquote(parts.path)

    with suppress(OSError, ValueError):  # SQLite reports it when it opens the file
        if (risk := find_risk(path)) is not None:
            raise JournalError(f"the journal cannot be used: {risk}")
        if may_be_new:
            _create_file(os.path.realpath(path))


def _create_file(path: str) -> None:
    # Not by opening it: closing a file releases every lock that the process holds on it.
    try:
        os.mknod(path, 0o600)
    except FileExistsError:
        pass
    except (AttributeError, OSError):  # on Windows and macOS
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))


def _make_durable(connection: sqlite3.Connection, _: object) -> None:
    # WAL lets processes read while one writes. On a file system without WAL, EXTRA makes the
    # rollback journal equally durable.
    try:
        _switch_to_wal(connection)
        connection.execute("PRAGMA synchronous = EXTRA")
    except BaseException:
        connection.close()  # SQLAlchemy does not close it
        raise


def _switch_to_wal(connection: sqlite3.Connection) -> None:
    # If two processes open a new file at once, SQLite refuses one without waiting.
    until = monotonic() + _TIMEOUT
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL").fetchone()
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or monotonic() > until:
                raise
            time.sleep(_PAUSE)
        else:
            return


def _postgresql(url: URL) -> Engine:
    # An engine's repr hides the password of the address, but not passwords among its options.
    passwords = {name: url.query[name] for name in ("password", "sslpassword") if name in url.query}
    arguments: dict[str, object] = {**_default_timeout(url, "connect_timeout"), **passwords}
    # A pooler such as PgBouncer may lend a connection on which nothing was prepared.
    arguments["prepare_threshold"] = None
    if "client_encoding" not in url.query:  # the default is the database's, or the environment's
        arguments["client_encoding"] = "utf8"

    with suppress(ImportError):
        engine = _create_engine(url.difference_update_query(passwords), connect_args=arguments)
        event.listen(engine, "do_connect", _connect_in_time)
        return engine
    # Outside the block, so that the error of the import is not attached.
    raise ConfigurationError(
        'a journal in PostgreSQL requires an extra: pip install "ferry-sdk[postgresql]"'
    )


def _connect_in_time(
    dialect: Dialect,
    _record: object,
    where: list[Any],
    options: dict[str, Any],
) -> Any:  # noqa: ANN401 -- SQLAlchemy's own
    """Connect to PostgreSQL before the present call of the journal ends."""
    limit = current_limit()
    if limit is None:
        return None  # SQLAlchemy connects, for somebody who uses the engine without the journal

    seconds = limit.remaining()
    # Each of several hosts has this timeout, and psycopg waits for 2 seconds at least.
    options["connect_timeout"] = min(int(options["connect_timeout"]), max(1, int(seconds)))
    connection = Dial(partial(dialect.connect, *where, **options)).wait(seconds)
    if connection is None:
        raise dialect.loaded_dbapi.OperationalError("no connection in time")

    if limit.watch is not None:
        limit.watch.attach(connection)
    return connection


def _default_timeout(url: URL, option: str) -> dict[str, int]:
    return {} if option in url.query else {option: _TIMEOUT}


def _create_engine(url: URL, **options: object) -> Engine:
    with suppress(SQLAlchemyError, ValueError, TypeError):
        return create_engine(
            url,
            hide_parameters=True,
            isolation_level="AUTOCOMMIT",
            pool_timeout=_TIMEOUT,
            **options,
        )
    # Outside the block, so that the error, which may quote a password, is not attached.
    raise InvalidInputError("an option of the URL is not valid", field="url")


def is_undecodable(failure: DBAPIError) -> bool:
    """Return True if SQLite found a text that is not UTF-8; its message quotes the text."""
    return str(failure.orig).startswith("Could not decode")


def describe(failure: Exception) -> str:
    """Return a description of a failure, without values, addresses and passwords."""
    limit = current_limit()
    if isinstance(failure, PoolTimeoutError):
        return "every connection to the database is in use"
    if limit is not None and limit.remaining() <= 0:
        return f"the database did not answer in {_TIMEOUT} seconds"
    if not isinstance(failure, DBAPIError) or failure.orig is None:
        return type(failure).__name__
    return _describe_original(failure.orig, is_undecodable=is_undecodable(failure))


def _describe_original(original: BaseException, *, is_undecodable: bool) -> str:
    name = type(original).__name__
    if is_undecodable:
        return f"{name}, a text is not UTF-8"
    if type(original).__module__.startswith("sqlite3"):
        return f"{name}, {original}"  # SQLite's messages name tables and files, and repeat no value
    code = getattr(original, "sqlstate", None)
    if not code:
        return f"{name}, no connection or one that broke"
    if code in _LATE:
        return f"the database did not answer in time, SQLSTATE {code}"
    return f"{name}, SQLSTATE {code}"
