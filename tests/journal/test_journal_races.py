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


def test_of_many_processes_one_begins_and_the_others_learn_of_it(url, nursery):
    # They also make the tables and the key together.
    gate = nursery.Barrier(PROCESSES)
    intents = [confirmation(f"b{number}") for number in range(ROUNDS)]
    racers = []
    for _ in range(PROCESSES):
        here, there = nursery.Pipe(duplex=False)
        racer = nursery.Process(target=children.begin, args=(url, intents, gate, there))
        racer.start()
        there.close()
        racers.append((racer, here))
    told = [[here.recv() for _ in intents] for _, here in racers]
    for racer, _ in racers:
        racer.join()
        assert racer.exitcode == 0
    for words in zip(*told, strict=True):  # of one round
        assert sorted(word for word, _ in words) == ["lost"] * (PROCESSES - 1) + ["won"], words
        assert len({entry_id for _, entry_id in words}) == 1
    with Journal(url) as journal:
        assert len(journal.unresolved()) == ROUNDS


def test_in_postgresql_only_one_at_a_time_makes_the_tables(postgres):
    # There, IF NOT EXISTS does not keep two who make one table at once from failing.
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


def test_of_many_threads_one_begins_a_write_and_all_begin_others(any_journal):
    results = [one.outcome() for one in at_once(*[partial(any_journal.begin, intent())] * 12)]
    (won,) = [result.value for result in results if result.error is None]
    assert {result.error.entry.id for result in results if result.error is not None} == {won}
    others = at_once(*(partial(any_journal.begin, confirmation(f"b{one}")) for one in range(12)))
    assert len({other.value() for other in others}) == 12 == len(any_journal.unresolved()) - 1


def test_of_those_who_say_done_and_unknown_at_once_done_stands(any_journal):
    words = ["unknown", "done", "rejected", "unknown", "not_sent", "done"]
    for number in range(10):
        entry_id = any_journal.begin(confirmation(f"b{number}"))
        for end in at_once(*(partial(any_journal.end, entry_id, word) for word in words)):
            end.value()
        assert any_journal.entry(entry_id).state == "done"


def test_of_two_creates_that_are_settled_at_once_one_made_the_booking(url):
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


def test_a_twin_that_cannot_be_shown_holds_nobody_up_for_ever(any_journal, monkeypatch):
    first = any_journal.begin(intent())
    look = statements.duplicate

    def settled_meanwhile(connection, fingerprint):
        statements.change(connection, first, "rejected")
        connection.commit()  # PostgreSQL reads in a transaction, which is not committed
        return look(connection, fingerprint)

    monkeypatch.setattr(statements, "duplicate", settled_meanwhile)
    assert any_journal.begin(intent()) != first
    monkeypatch.setattr(statements, "duplicate", lambda *_: None)
    with pytest.raises(JournalError, match="holds no entry for it"):
        any_journal.begin(intent())


def test_a_writer_waits_for_another_that_holds_the_lock_for_a_moment(sqlite_url):
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
