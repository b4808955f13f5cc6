"""Fixtures of the tests of records."""

import pytest

from ferry_sdk._engine import parsing


@pytest.fixture
def by_columns(monkeypatch):
    """Lists are validated by columns, however short they are."""
    monkeypatch.setattr(parsing, "SHORTEST_BY_COLUMNS", 0)
