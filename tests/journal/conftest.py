"""Fixtures: a database of each kind, empty for every test, and a journal in it."""

import multiprocessing
from contextlib import contextmanager

import pytest

from ferry_sdk.journal import Journal
from tests.support.postgres import Postgres, binaries
from tests.support.tiers import LONG


@pytest.fixture(scope="session")
def postgres():
    folder = binaries()
    if folder is None:
        pytest.skip("PostgreSQL is not installed: there are no initdb and postgres")
    with Postgres(folder) as server:
        yield server


@contextmanager
def new_server():
    folder = binaries()
    if folder is None:
        pytest.skip("PostgreSQL is not installed: there are no initdb and postgres")
    with Postgres(folder) as server:
        yield server


@pytest.fixture
def own_server():
    """A server that no other test uses, so that it may be stopped."""
    with new_server() as server:
        yield server


@pytest.fixture
def sqlite_url(tmp_path):
    return f"sqlite:///{tmp_path / 'journal.db'}"


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request, sqlite_url):
    is_file = request.param == "sqlite"
    return sqlite_url if is_file else request.getfixturevalue("postgres").new_url()


@pytest.fixture
def journal(url):
    with Journal(url) as made:
        yield made


@pytest.fixture(params=["memory", pytest.param("file", marks=LONG), "postgresql"])
def any_journal(request, sqlite_url):
    urls = {"file": sqlite_url, "memory": "sqlite://"}
    url = urls.get(request.param) or request.getfixturevalue("postgres").new_url()
    with Journal(url) as made:
        yield made


@pytest.fixture(scope="session")
def nursery():
    """Makes processes that start with everything imported, what the first call imports as well."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["pytest", "tests.journal.children", "tests.journal.warming"])
    return context
