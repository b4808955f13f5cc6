"""The file of a journal must stay where its path leads, or nothing is recorded in it."""

import shutil

import pytest
from sqlalchemy.pool import NullPool

from ferry_sdk import Ferry, JournalError
from ferry_sdk.journal import Journal, database_file
from tests.journal.intents import confirmation, engine_for, intent
from tests.support.exchanges import caught
from tests.support.trip import PASSENGERS, selected


def remove(folder):
    (folder / "journal.db").unlink()


def move(folder):
    (folder / "journal.db").rename(folder / "elsewhere.db")


def replace_by_copy(folder):
    copy = folder / "copy.db"
    shutil.copy(folder / "journal.db", copy)
    copy.replace(folder / "journal.db")


def replace_by_empty_file(folder):
    remove(folder)
    (folder / "journal.db").touch(mode=0o600)


def replace_by_new_journal(folder):
    for path in folder.glob("journal.db*"):
        path.unlink()
    with Journal(f"sqlite:///{folder / 'journal.db'}") as other:
        other.unresolved()


def move_folder(folder):
    folder.rename(folder.with_name("backup"))


def replace_folder(folder):
    move_folder(folder)
    folder.mkdir(mode=0o700)


def remove_wal(folder):
    (folder / "journal.db-wal").unlink()


def remove_shm(folder):
    (folder / "journal.db-shm").unlink()


CHANGES = [
    remove,
    move,
    replace_by_copy,
    replace_by_empty_file,
    replace_by_new_journal,
    move_folder,
    replace_folder,
    remove_wal,
    remove_shm,
]
USES = {
    "begin": lambda journal, _: journal.begin(intent()),
    "end": lambda journal, entry_id: journal.end(entry_id, "done"),
    "settle": lambda journal, entry_id: journal.settle(entry_id, happened=True),
    "unresolved": lambda journal, _: journal.unresolved(),
    "forget": lambda journal, _: journal.forget(older_than=0),
}


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "shop"
    made.mkdir(mode=0o700)
    return made


@pytest.fixture
def file_journal(folder):
    """A journal in a file that is in use."""
    with Journal(f"sqlite:///{folder / 'journal.db'}") as journal:
        yield journal


@pytest.fixture
def entry_id(file_journal):
    return file_journal.begin(confirmation("b1"))


@pytest.mark.parametrize("change", CHANGES)
def test_nothing_is_recorded_elsewhere(folder, file_journal, entry_id, change):
    change(folder)
    error = caught(JournalError, file_journal.begin, intent())
    assert error.outcome == "not_sent"
    assert "was removed, replaced or moved" in str(error)


@pytest.mark.parametrize("use", USES)
def test_no_use_of_a_lost_file(folder, file_journal, entry_id, use):
    remove(folder)
    caught(JournalError, USES[use], file_journal, entry_id)


def test_lost_file_is_not_made_again(folder, file_journal, entry_id):
    remove(folder)
    file_journal._engine.dispose()  # so that the next use needs a new connection
    caught(JournalError, file_journal.begin, intent())
    assert not (folder / "journal.db").exists()


def test_link_that_leads_elsewhere_is_noticed(folder):
    link = folder / "link.db"
    link.symlink_to(folder / "journal.db")
    with Journal(f"sqlite:///{link}") as journal:
        journal.begin(confirmation("b1"))
        with Journal(f"sqlite:///{folder / 'other.db'}") as other:
            other.unresolved()
        link.unlink()
        link.symlink_to(folder / "other.db")
        caught(JournalError, journal.begin, intent())


def test_callers_engine_is_checked_too(folder):
    engine = engine_for(f"sqlite:///{folder / 'journal.db'}")
    with Journal(engine) as journal:
        journal.begin(confirmation("b1"))
        remove(folder)
        caught(JournalError, journal.begin, intent())
    engine.dispose()


def test_new_file_with_the_old_inode_is_noticed(folder, monkeypatch):
    engine = engine_for(f"sqlite:///{folder / 'journal.db'}", poolclass=NullPool)
    with Journal(engine) as journal:
        journal.begin(confirmation("b1"))
        replace_by_new_journal(folder)
        monkeypatch.setattr(database_file, "find_identity", lambda _: (1, 2))
        journal._engine.get_execution_options()["ferry_journal_file"].identity = (1, 2)
        caught(JournalError, journal.begin, intent())


def test_file_that_is_put_back_is_used_again(folder, file_journal, entry_id):
    move(folder)
    caught(JournalError, file_journal.end, entry_id, "done")
    (folder / "elsewhere.db").rename(folder / "journal.db")
    file_journal.end(entry_id, "done")
    assert file_journal.entry(entry_id).state == "done"


def test_other_connections_do_not_disturb(folder, file_journal, entry_id):
    for _ in range(2):
        with Journal(f"sqlite:///{folder / 'journal.db'}") as other:
            assert other.entry(entry_id).state == "open"
    file_journal._engine.dispose()  # SQLite removes the -wal with the last connection
    file_journal.end(entry_id, "done")


def test_address_with_options_is_checked(folder):
    with Journal(f"sqlite:///file:{folder / 'journal.db'}?uri=true") as journal:
        journal.begin(confirmation("b1"))
        remove(folder)
        caught(JournalError, journal.begin, intent())


def test_no_request_leaves_without_its_record(folder, file_journal, entry_id, ferry_sandbox):
    with Ferry(ferry_sandbox.token, base_url=ferry_sandbox.base_url, journal=file_journal) as ferry:
        selection = selected(ferry)
        remove(folder)
        caught(
            JournalError, ferry.bookings.create, availabilities=[selection], passengers=PASSENGERS
        )
    assert ferry_sandbox.counters.requests["bookings.create"] == 0
