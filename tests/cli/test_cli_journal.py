"""`ferry journal`: list, show and settle the writes on record."""

import os
import sqlite3
import sys
from contextlib import closing

import pytest

pytest.importorskip("sqlalchemy", reason="the extra journal is not installed")

from ferry_sdk import APIError, Ferry
from ferry_sdk.journal import Journal
from ferry_sdk.journal.schema import entries as entries_table
from ferry_sdk.types import Intent, OutcomeDetails
from tests.cli.commands import COMMAND, environment, interrupt
from tests.support import processes, trip
from tests.support.tiers import LONG


def begin(journal, operation="bookings.create", **subject):
    identity = f"{operation} {subject}".encode()
    return journal.begin(
        Intent(operation, operation, "POST", "/api/booking", subject, identity, "c-1")
    )


@pytest.fixture
def journal(url):
    with Journal(url) as made:
        made.unresolved()
        yield made


@pytest.fixture
def run(cli, url):
    return lambda *words, **more: cli("journal", *words, "--journal", url, **more)


def test_list_prints_what_passes_the_filters(run, journal):
    created = begin(journal)
    journal.end(created, "done", OutcomeDetails("b-1"))
    confirmed = begin(journal, "bookings.confirm", booking_id="b-1")
    journal.end(confirmed, "rejected", OutcomeDetails(status_code=409, code="NO_ROOM"))
    begin(journal, "bookings.cancel", booking_id="b-2")

    head, first, second = run("list", "--booking", "b-1").out.splitlines()
    assert head.split()[:4] == ["began", "operation", "state", "age"]
    assert first.split()[3:] == ["bookings.create", "done", "b-1", created, "c-1"]
    assert second.split()[3:] == [
        *("bookings.confirm", "rejected", "b-1", "409", "NO_ROOM", confirmed, "c-1")
    ]
    moment = journal.entry(confirmed).began_at.isoformat()
    words = ["list", "--since", moment, "--state", "rejected", "--operation", "bookings.confirm"]
    (entry,) = run(*words, "--limit", "1", "--json").document["entries"]
    assert (entry["id"], entry["began_at"], entry["code"]) == (confirmed, moment, "NO_ROOM")
    assert entry["subject"] == {"booking_id": "b-1"}


def test_an_empty_journal_lists_nothing(run, journal):
    assert journal.entries() == ()
    assert run("list").out == ""
    assert run("list", "--json", "--until", "2030-01-01").document == {"entries": []}


def test_a_reference_in_place_of_an_id_is_named(cli, run, ferry, journal, booked):
    assert journal.entries() == ()
    reference = ferry.bookings.get(booked).booking_reference
    assert "expected the booking's id, not its reference" in run("list", "--booking", reference).err
    assert "not a booking's reference" in cli("show", reference, code=4).err


def test_show_prints_one_entry(run, journal):
    entry_id = begin(journal, "tickets.cancel", ticket_id="t-1")
    journal.end(entry_id, "unknown")
    lines = dict(line.split(maxsplit=1) for line in run("show", entry_id).out.splitlines())
    assert lines["state"] == "unknown, unresolved"
    assert (lines["tickets"], lines["correlation"]) == ("t-1", "id  c-1")
    document = run("show", entry_id, "--json").document["entry"]
    assert (document["ticket_ids"], document["ended_at"]) == (["t-1"], None)
    assert "no such entry" in run("show", "nothing", code=3).err


def test_settle_records_what_a_person_learned(run, journal):
    entry_id = begin(journal)
    words = ["settle", entry_id, "--happened", "--booking", "b-1", "--no-check"]
    assert "--yes" in run(*words, code=2).err
    document = run(*words, "--yes", "--json").document["entry"]
    assert (document["state"], document["booking_id"]) == ("done", "b-1")
    assert journal.entry(entry_id).state == "done"
    assert "recorded as done" in run("settle", entry_id, "--not-happened", "-y", code=3).err


def test_settle_asks_a_person(ferry_sandbox, tmp_path, url, journal):
    pytest.importorskip("pexpect")
    if sys.platform == "win32":
        pytest.skip("there are no pseudo-terminals")
    from tests.cli.terminals import terminal

    entry_id = begin(journal, "bookings.cancel", booking_id="b-1")
    words = ["journal", "settle", entry_id, "--not-happened", "--journal", url]
    for answer, code, state in (("", 6, "open"), ("y", 0, "rejected")):
        with terminal(ferry_sandbox, tmp_path, *words) as person:
            person.expect("Record that it did not happen?")
            person.answer(answer)
            person.finish(code)
        assert journal.entry(entry_id).state == state


def test_a_file_that_is_not_there_is_not_created(cli, tmp_path):
    address = f"sqlite:///{tmp_path / 'mistyped.db'}"
    error = cli("journal", "list", "--journal", address, "--json", code=3).document["error"]
    assert (error["type"], error["field"]) == ("InvalidInputError", "journal")
    assert not (tmp_path / "mistyped.db").exists()


@pytest.fixture
def dying(ferry_sandbox, journal, monkeypatch):
    """A client whose process seems to die before it records an outcome."""
    monkeypatch.setattr(journal, "end", lambda *_: None)
    with Ferry(ferry_sandbox.token, base_url=ferry_sandbox.base_url, journal=journal) as client:
        yield client


def test_commands_that_write_record_it(cli, journal, url, order):
    booking_id = cli(
        *("book", "--from", str(order), "--yes", "--json"), FERRY_JOURNAL=url
    ).document["booking"]["booking_id"]
    cli("confirm", booking_id, "--yes", FERRY_JOURNAL=url)
    cli("cancel", booking_id, "--yes", "--journal", url)
    assert [(one.operation, one.state) for one in journal.entries(booking_id=booking_id)] == [
        ("bookings.create", "done"),
        ("bookings.confirm", "done"),
        ("bookings.cancel", "done"),
    ]


def test_a_repeat_of_an_unresolved_write_is_not_sent(cli, ferry_sandbox, dying, url, booked):
    ferry_sandbox.faults.add("refused", "bookings.cancel")
    with pytest.raises(APIError):
        dying.bookings.cancel(booked)
    words = ("cancel", booked, "--yes", "--journal", url)
    error = cli(*words, "--json", code=5).document["error"]
    assert (error["type"], error["exit_code"]) == ("UnresolvedWriteError", 5)
    assert f"ferry journal recover {error['entry_id']}" in cli(*words, code=5).err
    assert ferry_sandbox.counters.requests["bookings.cancel"] == 1


def test_what_is_done_already_is_settled(cli, dying, url, journal, booked):
    dying.bookings.confirm(booked)
    (entry,) = journal.unresolved()
    assert "already confirmed" in cli("confirm", booked, "--journal", url).out
    assert journal.entry(entry.id).state == "done"


def test_a_lost_booking_names_its_entry(cli, ferry_sandbox, journal, url, order):
    ferry_sandbox.faults.add("lose_reply", "bookings.create")
    ended = cli("book", "--from", str(order), "--yes", "--journal", url, code=5)
    (entry,) = journal.unresolved()
    assert f"ferry journal settle {entry.id}" in ended.err


def test_a_new_journal_is_a_warning(cli, tmp_path, booked):
    words = ("cancel", booked, "--yes", "--journal", f"sqlite:///{tmp_path / 'shop.db'}")
    assert "shop.db is new" in cli(*words).err


def test_recover_records_what_a_read_shows(ferry_sandbox, dying, run, journal, booked):
    dying.bookings.confirm(booked)
    ferry_sandbox.faults.add("refused", "bookings.cancel")
    with pytest.raises(APIError):
        dying.bookings.cancel(booked)
    confirmed, cancelled = journal.unresolved()
    listed = run("list", "--state", "unresolved", "--json").document["entries"]
    assert [one["next"] for one in listed] == [
        f"run `ferry journal recover {one.id}`" for one in (confirmed, cancelled)
    ]
    one, other = run("recover", "--all", "--json", code=5).document["entries"]
    assert (one["id"], one["state"], one["next"]) == (confirmed.id, "done", None)
    assert (other["state"], other["seen"]) == ("open", "the booking is ticketed")
    assert f"ferry journal settle {cancelled.id}" in run("recover", cancelled.id, code=5).out
    assert run("recover", confirmed.id).code == 0
    for words in ([], [confirmed.id, "--all"]):
        assert "--all" in run("recover", *words, code=2).err


def test_settle_reads_the_booking(run, journal, booked):
    entry_id = begin(journal)
    settle = ("settle", entry_id, "--happened", "--yes", "--booking")
    run(*settle, "mistyped", code=4)
    assert journal.entry(entry_id).is_unresolved
    run(*settle, "mistyped", "--no-check")
    run(*settle, booked)
    assert journal.entry(entry_id).booking_id == booked


def test_settle_refuses_what_the_service_contradicts(run, journal, ferry, ferry_sandbox, booked):
    other = trip.booked(ferry).booking_id
    ticket = ferry.bookings.confirm(booked).ticket_id
    happened = begin(journal, "bookings.confirm", booking_id=booked)
    not_happened = [
        begin(journal, "bookings.confirm", booking_id=other),
        begin(journal, "bookings.cancel", booking_id=booked),
        begin(journal, "mcp.cancel_ticket", ticket_id=ticket),
        begin(journal, "bookings.confirm", booking_id="no-booking"),
    ]
    ended = run("settle", happened, "--not-happened", "--yes", code=3)
    assert f"ferry journal recover {happened}" in ended.err
    for entry_id in not_happened:
        assert "--no-check" in run("settle", entry_id, "--happened", "--yes", code=3).err
    assert len(journal.unresolved()) == 5
    ferry_sandbox.faults.add("server_error", "bookings.get", times=None)
    run("settle", happened, "--happened", "--yes", code=3)
    ferry_sandbox.faults.clear()
    run("settle", happened, "--happened", "--yes")
    assert (
        "the booking is payment_due" in run("settle", not_happened[0], "--not-happened", "-y").err
    )
    run("settle", not_happened[1], "--happened", "--yes", "--no-check")
    assert [journal.entry(one).state for one in (happened, *not_happened)] == [
        *("done", "rejected", "done", "open", "open")
    ]


@pytest.fixture
def interrupt_confirm(ferry_sandbox, tmp_path, url, booked):
    """Run `ferry confirm`, stop it when the service has confirmed, and return what it printed."""

    def run(before_the_signal):
        def confirmed():
            made = ferry_sandbox.counters.effects_of("bookings.confirm")
            if made:
                before_the_signal()
            return made

        ferry_sandbox.faults.add("delay_after", "bookings.confirm", seconds=30)
        words = ("confirm", booked, "--yes", "--journal", url)
        return interrupt(ferry_sandbox, tmp_path, *words, when=confirmed)

    return run


def test_an_interrupted_write_names_its_entry(interrupt_confirm, journal):
    output = interrupt_confirm(lambda: None)
    (entry,) = journal.unresolved()
    assert f"bookings.confirm is journal entry {entry.id}" in output
    assert f"run `ferry journal recover {entry.id}`" in output


@LONG
def test_an_interrupted_write_is_interrupted_even_if_the_journal_fails(
    interrupt_confirm, journal, tmp_path
):
    def break_journal():
        with closing(sqlite3.connect(tmp_path / "ferry.db")) as database:
            database.execute(f"DROP TABLE {entries_table.name}")

    assert "may have happened (correlation id" in interrupt_confirm(break_journal)


@LONG
def test_no_id_is_broken_on_a_narrow_terminal(ferry_sandbox, tmp_path, url, journal):
    pytest.importorskip("pexpect")
    if sys.platform == "win32":
        pytest.skip("there are no pseudo-terminals")
    from tests.cli.terminals import terminal

    booking_id = "0f8fad5b-d9cb-469f-a165-70867728950e"
    entry_id = begin(journal, "bookings.cancel", booking_id=booking_id)
    words = ["journal", "list", "--journal", url]
    with terminal(ferry_sandbox, tmp_path, *words, size=(24, 80)) as person:
        shown = person.finish(0)
    lines = [line.split() for line in shown.splitlines()]
    assert ["booking", booking_id] in lines
    assert ["entry", entry_id] in lines
    assert ["next", "run", "`ferry", "journal", "recover", f"{entry_id}`"] in lines


@LONG
@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["list", "--journal", "mysql://clerk:secret@host/shop"], 3, "expected sqlite://"),
        (["list", "--journal", "postgresql://clerk:secret@127.0.0.1:1/shop"], 3, "cannot be used"),
        (["list", "--journal", "sqlite://", "--state", "finished"], 3, "state: expected one of"),
        (["list", "--journal", "sqlite://", "--since", "soon"], 2, "expected a moment"),
        (["list", "--journal", "sqlite://", "--limit", "0"], 2, "--limit"),
        (["list"], 2, "--journal"),
        (["settle", "e-1", "--journal", "sqlite://"], 2, "--happened"),
    ],
)
def test_a_wrong_command_line_or_journal_is_named(cli, words, code, message):
    ended = cli("journal", *words, code=code)
    assert message in ended.err
    assert "secret" not in ended.err


@LONG
def test_a_missing_extra_is_named(tmp_path):
    (tmp_path / "sqlalchemy.py").write_text("raise ModuleNotFoundError(name='sqlalchemy')\n")
    words = [*COMMAND, "journal", "list", "--journal", "sqlite:///ferry.db"]
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    done = processes.run(words, cwd=tmp_path, env=environment(PYTHONPATH=path))
    assert done.returncode == 1, done
    assert 'pip install "ferry-sdk[journal]"' in done.stderr


@LONG
def test_a_damaged_journal_is_named(run, journal, tmp_path):
    begin(journal)
    journal.close()
    for part in tmp_path.glob("ferry.db*"):
        part.write_bytes(b"This is a letter. " * 300)
    assert "not a database" in run("list", code=3).err
