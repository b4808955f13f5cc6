"""Fixtures: a database of each kind, empty for every test, and a journal in it."""

from __future__ import annotations

import multiprocessing
from typing import TYPE_CHECKING

import pytest

from ferry_sdk.journal import Journal
from tests.support.postgres import Postgres, binaries

if TYPE_CHECKING:
    from collections.abc import Iterator
    from multiprocessing.context import ForkServerContext


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    folder = binaries()
    if folder is None:
        pytest.skip("PostgreSQL is not installed: there are no initdb and postgres")
    with Postgres(folder) as server:
        yield server


@pytest.fixture
def sqlite_url(tmp_path) -> str:
    return f"sqlite:///{tmp_path / 'journal.db'}"


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request, sqlite_url) -> str:
    if request.param == "sqlite":
        return sqlite_url
    return request.getfixturevalue("postgres").new_url()


@pytest.fixture
def journal(url) -> Iterator[Journal]:
    with Journal(url) as made:
        yield made


@pytest.fixture(params=["file", "memory", "postgresql"])
def any_journal(request) -> Iterator[Journal]:
    match request.param:
        case "file":
            url = request.getfixturevalue("sqlite_url")
        case "memory":
            url = "sqlite://"
        case _:
            url = request.getfixturevalue("postgres").new_url()
    with Journal(url) as made:
        yield made


@pytest.fixture(scope="session")
def nursery() -> ForkServerContext:
    """Makes processes that start with everything imported, what the first call imports as well."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["pytest", "tests.journal.children", "tests.journal.warming"])
    return context
