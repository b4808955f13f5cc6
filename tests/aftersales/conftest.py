"""The databases of the journal's tests."""

from __future__ import annotations

from tests.journal.conftest import postgres, sqlite_url

__all__ = ["postgres", "sqlite_url"]
