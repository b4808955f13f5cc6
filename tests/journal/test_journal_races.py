"""Many at once: processes and threads that begin, end and settle the same writes."""

from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYetError
from functools import partial

import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.pool import NullPool

from ferry_sdk import JournalError
from ferry_sdk.journal import Journal, connections, statements
from tests.backend.gathering import at_once
from tests.journal import children
from tests.journal.intents import confirmation, engine_for, intent, run_sql
from tests.support.exchanges import caught

PROCESSES = 4
ROUNDS = 5


def test_one_process_begins_a_write(url, nursery):
    # The processes also make the tables and the key together.
    gate = nursery.Barrier(PROCESSES)
    intents = [confirmation(f"b{number}") for number in range(ROUNDS)]
    racers = []
    for _ in range(PROCESSES):
        here, there = nursery.Pipe(duplex=False)
        racer = nursery.Process(target=children.begin, args=(url, intents, gate, there))
        racer.start()
        there.close()
        racers.append((racer, here))
    reports = [[here.recv() for _ in intents] for _, here in racers]
    for racer, _ in racers:
        racer.join()
        assert racer.exitcode == 0
    for reports_of_round in zip(*reports, strict=True):
        results = sorted(result for result, _ in reports_of_round)
        assert results == ["lost"] * (PROCESSES - 1) + ["won"], reports_of_round
        assert len({entry_id for _, entry_id in reports_of_round}) == 1
    with Journal(url) as journal:
        assert len(journal.unresolved()) == ROUNDS


def test_postgresql_makes_the_tables_once(postgres):
    # Two processes that make one table at once would fail there, even with IF NOT EXISTS.
    url = postgres.new_url()
    engine = engine_for(url, poolclass=NullPool)
    with engine.connect() as other, Journal(url) as journal, ThreadPoolExecutor(1) as threads:
        other.execute(text("SELECT pg_advisory_lock(:lock)"), {"lock": connections._LOCK})
        making = threads.submit(journal.begin, intent())
        waiting = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
        while not making.done() and run_sql(url, waiting) != [(1,)]:
            pass
        assert not making.done()
        assert run_sql(url, "SELECT to_regclass('ferry_journal')") == [(None,)]
        other.execute(text("SELECT pg_advisory_unlock(:lock)"), {"lock": connections._LOCK})
        assert journal.entry(making.result()).state == "open"


def test_one_thread_begins_a_write(any_journal):
    calls = at_once(*[partial(any_journal.begin, intent())] * 12)
    results = [call.outcome() for call in calls]
    (entry_id,) = [result.value for result in results if result.error is None]
    refusals = [result.error for result in results if result.error is not None]
    assert {refusal.entry.id for refusal in refusals} == {entry_id}


def test_threads_begin_different_writes(any_journal):
    writes = [confirmation(f"b{number}") for number in range(12)]
    calls = at_once(*(partial(any_journal.begin, write) for write in writes))
    assert len({call.value() for call in calls}) == 12 == len(any_journal.unresolved())


def test_success_stands_of_many_outcomes_at_once(any_journal):
    outcomes = ["unknown", "done", "rejected", "unknown", "not_sent", "done"]
    for number in range(10):
        entry_id = any_journal.begin(confirmation(f"b{number}"))
        for call in at_once(*(partial(any_journal.end, entry_id, end) for end in outcomes)):
            call.value()
        assert any_journal.entry(entry_id).state == "done"


def test_one_create_of_two_made_the_booking(url):
    with Journal(url) as here, Journal(url) as there:
        for number in range(10):
            ids = [here.begin(intent(f"{number} {name}".encode())) for name in ("a", "b")]
            settle = partial(partial, happened=True, booking_id=f"b{number}")
            settling = at_once(settle(here.settle, ids[0]), settle(there.settle, ids[1]))
            refused, done = sorted(
                (one.outcome() for one in settling), key=lambda one: not one.error
            )
            assert str(refused.error) == "booking_id: another write made this booking"
            assert done.value.state == "done"
            assert {here.entry(one).state for one in ids} == {"done", "open"}


def test_write_begins_when_its_duplicate_is_settled_meanwhile(any_journal, monkeypatch):
    first = any_journal.begin(intent())
    look = statements.duplicate

    def settled_meanwhile(connection, fingerprint):
        statements.change(connection, first, "rejected")
        connection.commit()  # PostgreSQL reads in a transaction, which is not committed
        return look(connection, fingerprint)

    monkeypatch.setattr(statements, "duplicate", settled_meanwhile)
    assert any_journal.begin(intent()) != first


def test_duplicate_that_cannot_be_read_is_an_error(any_journal, monkeypatch):
    any_journal.begin(intent())
    monkeypatch.setattr(statements, "duplicate", lambda *_: None)
    with pytest.raises(JournalError, match="holds no entry for it"):
        any_journal.begin(intent())


def test_writer_waits_for_the_lock_of_another(sqlite_url):
    engine = create_engine(sqlite_url)
    with Journal(sqlite_url) as journal, ThreadPoolExecutor(1) as threads:
        journal.unresolved()
        with engine.connect() as other:
            other.execute(text("BEGIN IMMEDIATE"))
            waiting = threads.submit(journal.begin, intent())
            caught(NotYetError, waiting.result, 0.1)
            assert journal.unresolved() == ()  # a reader does not wait
            other.rollback()
        assert journal.entry(waiting.result()).state == "open"
    engine.dispose()
