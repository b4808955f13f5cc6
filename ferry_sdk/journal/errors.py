"""What is said of a database's failure: its kind, and never what was asked or where."""

from __future__ import annotations

from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from ferry_sdk.errors import JournalError


def is_undecodable(failure: DBAPIError) -> bool:
    """Whether SQLite holds a text that is none; it quotes it then."""
    return str(failure.orig).startswith("Could not decode")


def named(failure: Exception) -> JournalError:
    """The failure in words that hold no value, no address and no password."""
    return JournalError(f"the journal cannot be used: {_kind(failure)}")


def _kind(failure: Exception) -> str:
    if isinstance(failure, PoolTimeoutError):
        return "every connection to the database is in use"
    if not isinstance(failure, DBAPIError) or failure.orig is None:
        return type(failure).__name__
    cause = failure.orig
    name = type(cause).__name__
    if is_undecodable(failure):
        return f"{name}, a text that is no UTF-8"
    if type(cause).__module__.startswith("sqlite3"):
        return f"{name}, {cause}"  # SQLite speaks of tables and files, and repeats no value
    code = getattr(cause, "sqlstate", None)
    return f"{name}, SQLSTATE {code}" if code else f"{name}, no connection or one that broke"
