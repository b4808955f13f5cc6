"""A journal of writes in SQLite or PostgreSQL, so that their outcome is known after a crash."""

from __future__ import annotations

from ferry_sdk._runtime.extras import needs_extra

with needs_extra("the journal requires", "journal", ["sqlalchemy"]):
    from ferry_sdk.journal.journal import Journal

__all__ = ["Journal"]
