"""`ferry journal`: list, show and settle the writes on record."""

from __future__ import annotations

import os
import sys

import pytest

pytest.importorskip("sqlalchemy", reason="the extra journal is not installed")

from ferry_sdk.journal import Journal
from ferry_sdk.types import Intent, OutcomeDetails
from tests.cli.commands import COMMAND, environment
from tests.support import processes
from tests.support.tiers import LONG


def begin(journal: Journal, operation: str = "bookings.create", **subject: str) -> str:
    identity = f"{operation} {subject}".encode()
    return journal.begin(
        Intent(operation, operation, "POST", "/api/booking", subject, identity, "c-1")
    )


@pytest.fixture
def url(tmp_path) -> str:
    return f"sqlite:///{tmp_path / 'ferry.db'}"


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
    assert head.split() == ["began", "operation", "state", "booking", "rejection", "entry"]
    assert first.split()[3:] == ["bookings.create", "done", "b-1", created]
    assert second.split()[3:] == [
        *("bookings.confirm", "rejected", "b-1", "409", "NO_ROOM", confirmed)
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
    words = ["settle", entry_id, "--happened", "--booking", "b-1"]
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
