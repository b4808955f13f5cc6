"""Nothing of a traveller's at rest, and nothing secret in a log, an error or a repr."""

import asyncio
import gc
import logging
from pathlib import Path

import ferry_sdk as sdk
from ferry_sdk import AlreadyDoneError, AsyncFerry, Ferry, JournalError, OutcomeUnknownError
from ferry_sdk.journal import Journal
from tests.backend.canaries import frames_of
from tests.journal.intents import intent
from tests.support.exchanges import caught
from tests.support.summer import chosen
from tests.support.trip import PASSENGERS, found

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


def test_database_keeps_no_traveller_or_key(url, ferry, ferry_sandbox, caplog):
    create = {"availabilities": chosen([found(ferry)]), "passengers": PASSENGERS}

    async def create_async(settings):
        async with AsyncFerry(ferry_sandbox.token, **settings) as client:
            return await client.bookings.create(**create)

    caplog.set_level(logging.DEBUG)
    ferry_sandbox.faults.add("lose_reply", "bookings.create")
    with Journal(url, key=KEY) as journal:
        settings = {"base_url": ferry_sandbox.base_url, "journal": journal}
        with Ferry(ferry_sandbox.token, **settings) as client:
            caught(OutcomeUnknownError, client.bookings.create, **create)
            error = caught(sdk.UnresolvedWriteError, client.bookings.create, **create)
            journal.settle(error.entry, happened=False)
            made = asyncio.run(create_async(settings))
            assert journal.entries()[-1].booking_id == made.booking_id, "async does the same"
            client.bookings.confirm(made.booking_id)
            caught(AlreadyDoneError, client.bookings.confirm, made.booking_id)
        gc.collect()
        kept = at_rest(url)
        shown = repr(journal) + repr(journal.entries())
    assert error.entry.fingerprint.encode() in kept
    assert made.booking_id.encode() in kept
    shown_error = f"{frames_of(error)} {error} {error!r}"
    for canary in (*CANARIES, ferry_sandbox.token):
        assert canary.encode() not in kept
        for words in (shown, shown_error, caplog.text):
            assert canary not in words


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
