"""A journal of writes in SQLite or PostgreSQL, so that a crash leaves nobody guessing."""

from __future__ import annotations

try:
    import sqlalchemy as _sqlalchemy
except ModuleNotFoundError as _error:
    raise ModuleNotFoundError(
        'the journal needs an extra: pip install "ferry-sdk[journal]" (there is no sqlalchemy)',
        name=_error.name,
    ) from _error

from ferry_sdk.journal.journal import Journal

del _sqlalchemy

__all__ = ["Journal"]
