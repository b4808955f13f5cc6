"""Nothing of a traveller's at rest, and nothing secret in a log, an error or a repr."""

import asyncio
import gc
import logging
from io import StringIO
from pathlib import Path
from typing import NamedTuple

import pytest

from ferry_sdk import (
    AlreadyDoneError,
    AsyncFerry,
    Ferry,
    JournalError,
    OutcomeUnknownError,
    UnresolvedWriteError,
)
from ferry_sdk.journal import Journal
from ferry_sdk.sandbox import Sandbox
from tests.backend.canaries import frames_of
from tests.journal.intents import intent
from tests.support.exchanges import caught
from tests.support.summer import chosen
from tests.support.tiers import LONG
from tests.support.trip import NOW, PASSENGERS, found

KEY = "kAnArIeNvOgEl-0815-4711"
CANARIES = ("Okonkwo", "Marguerite", "Théo", KEY)


def at_rest(url):
    """Every byte that the database keeps of the journal."""
    if url.startswith("sqlite:///"):
        path = Path(url.removeprefix("sqlite:///"))
        return b"".join(part.read_bytes() for part in path.parent.glob(f"{path.name}*"))
    import psycopg

    with psycopg.connect(url) as connection:
        queries = (b"TABLE ferry_journal", b"TABLE ferry_journal_about")
        return repr([connection.execute(query).fetchall() for query in queries]).encode()


class Story(NamedTuple):
    """What can be seen of bookings that failed, were settled, made and confirmed twice."""

    at_rest: bytes
    journal: str
    error: Exception
    booking_id: str
    token: str
    log: str


def tell(url, sandbox, log):
    """Make a booking and confirm it, with a journal and all that can go wrong."""
    with Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
        create = {"availabilities": chosen([found(ferry)]), "passengers": PASSENGERS}

    async def create_async(settings):
        async with AsyncFerry(sandbox.token, **settings) as client:
            return await client.bookings.create(**create)

    sandbox.faults.add("lose_reply", "bookings.create")
    with Journal(url, key=KEY) as journal:
        settings = {"base_url": sandbox.base_url, "journal": journal}
        with Ferry(sandbox.token, **settings) as client:
            caught(OutcomeUnknownError, client.bookings.create, **create)
            error = caught(UnresolvedWriteError, client.bookings.create, **create)
            journal.settle(error.entry, happened=False)
            booking_id = asyncio.run(create_async(settings)).booking_id
            assert journal.entries()[-1].booking_id == booking_id
            client.bookings.confirm(booking_id)
            caught(AlreadyDoneError, client.bookings.confirm, booking_id)
        gc.collect()
        return Story(
            at_rest=at_rest(url),
            journal=f"{journal!r} {journal.entries()!r}",
            error=error,
            booking_id=booking_id,
            token=sandbox.token,
            log=log.getvalue(),
        )


@pytest.fixture(scope="module", params=["sqlite", pytest.param("postgresql", marks=LONG)])
def story(request, tmp_path_factory, read_back_once):
    url = f"sqlite:///{tmp_path_factory.mktemp('secrets') / 'journal.db'}"
    if request.param == "postgresql":
        url = request.getfixturevalue("postgres").new_url()
    log = StringIO()
    handler = logging.StreamHandler(log)
    root = logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    try:
        with Sandbox(now=NOW) as sandbox:
            return tell(url, sandbox, log)
    finally:
        root.setLevel(level)
        root.removeHandler(handler)


def canaries_in(story, text):
    return [canary for canary in (*CANARIES, story.token) if canary in text]


def test_database_keeps_no_traveller_or_key(story):
    at_rest = story.at_rest.decode("latin-1")
    assert story.error.entry.fingerprint in at_rest
    assert story.booking_id in at_rest
    for canary in (*CANARIES, story.token):
        assert canary.encode() not in story.at_rest


def test_journal_shows_no_traveller_or_key(story):
    assert story.booking_id in story.journal
    assert canaries_in(story, story.journal) == []


def test_refused_write_shows_no_traveller_or_key(story):
    assert canaries_in(story, f"{frames_of(story.error)} {story.error} {story.error!r}") == []


def test_log_shows_no_traveller_or_key(story):
    assert "bookings.create" in story.log
    assert canaries_in(story, story.log) == []


def test_log_of_statements_has_no_values(url, caplog):
    caplog.set_level(logging.INFO, "sqlalchemy.engine")
    with Journal(url) as journal:
        entry_id = journal.begin(intent(path="booking/b-4711", correlation_id="c-0815"))
        journal.end(entry_id, "unknown")
        fingerprint = journal.entry(entry_id).fingerprint
    assert "INSERT INTO ferry_journal" in caplog.text
    for value in (entry_id, fingerprint, "b-4711", "c-0815", "bookings.create"):
        assert value not in caplog.text


def test_error_shows_no_content_or_key(tmp_path):
    journal = Journal(f"sqlite:///{tmp_path / 'nowhere' / 'ferry.db'}", key=KEY)
    frames = frames_of(caught(JournalError, journal.begin, intent(b"Okonkwo, Marguerite")))
    assert "begin" in frames
    assert not [canary for canary in CANARIES if canary in frames]
