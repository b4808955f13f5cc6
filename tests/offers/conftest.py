"""The journals of the tests of offers."""

import pytest

from ferry_sdk.journal import Journal
from tests.journal.conftest import any_journal, postgres, sqlite_url, url

__all__ = ["any_journal", "journal", "postgres", "sqlite_url", "url"]


@pytest.fixture
def journal():
    """A journal in memory."""
    with Journal("sqlite://") as journal:
        yield journal


@pytest.fixture(autouse=True)
def _rare_polls(monkeypatch):
    """An idle watch looks for new wishes every hour of virtual time, and not every minute."""
    monkeypatch.setattr("ferry_sdk.offers.watcher._POLL", 3600.0)
