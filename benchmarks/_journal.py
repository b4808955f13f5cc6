"""A journal's tables, and a connection that commits as durably, by `sqlite3` alone."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

from ferry_sdk.journal import Journal

if TYPE_CHECKING:
    from collections.abc import Collection


def table_statements(*, without: Collection[str] = ()) -> list[str]:
    """Return the statements that make a journal's tables and indexes, without those named."""
    with closing(sqlite3.connect("file:tables?mode=memory&cache=shared", uri=True)) as connection:
        with Journal("sqlite:///file:tables?mode=memory&cache=shared&uri=true") as journal:
            journal.unresolved()
        query = "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL"
        return [statement for name, statement in connection.execute(query) if name not in without]


def connect_durably(path: str) -> sqlite3.Connection:
    """Return a connection that commits each statement as durably as a journal does."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL").fetchone()
    connection.execute("PRAGMA synchronous = EXTRA")
    return connection
