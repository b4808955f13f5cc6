"""A journal of writes in SQLite or PostgreSQL, so that their outcome is known after a crash."""

from __future__ import annotations

try:
    import sqlalchemy as _sqlalchemy
except ModuleNotFoundError as _error:
    raise ModuleNotFoundError(
        'the journal requires an extra: pip install "ferry-sdk[journal]" '
        "(sqlalchemy is not installed)",
        name=_error.name,
    ) from _error

from ferry_sdk.journal.journal import Journal

del _sqlalchemy

__all__ = ["Journal"]
