"""The databases of the journal's tests."""

from tests.journal.conftest import postgres, sqlite_url, url

__all__ = ["postgres", "sqlite_url", "url"]
