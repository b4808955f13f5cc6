"""Databases of SQLite are not opened where another user could change them."""

import os

import pytest

from ferry_sdk import ConfigurationError, JournalError
from ferry_sdk.agents.policy import state
from ferry_sdk.journal import Journal
from ferry_sdk.sandbox.bookings.state import SandboxState

pytestmark = pytest.mark.skipif(os.name != "posix", reason="modes are POSIX's")
is_root = os.name == "posix" and os.geteuid() == 0
SOMEBODY = 4_242
NAMED_GROUP = 1
"""A group that every system has: daemon."""


def read_journal(url):
    with Journal(url) as journal:
        journal.unresolved()


def folder_of(mode, owner=-1, group=-1):
    """Return a function that makes a folder, and returns the path of a database in it."""

    def make(place):
        folder = place / "folder"
        folder.mkdir()
        if is_root:
            os.chown(folder, owner, group)
        folder.chmod(mode)
        return folder / "file.db"

    return make


def below(make):
    """Return a function that makes a private folder below the one that `make` makes."""

    def make_below(place):
        private = make(place).with_name("private")
        private.mkdir(mode=0o700)
        return private / "file.db"

    return make_below


def link_in(make):
    """Return a function that makes a link to a database in a private folder."""

    def make_link(place):
        link, private = make(place), place / "private"
        private.mkdir(mode=0o700)
        link.symlink_to(private / "file.db")
        return link

    return make_link


def beside(suffix, plant):
    """Return a function that plants a file beside a database in a private folder."""

    def make(place):
        database = folder_of(0o700)(place)
        plant(database.with_name(database.name + suffix))
        return database

    return make


def plant_of_somebody(path):
    path.touch()
    os.chown(path, SOMEBODY, -1)


REFUSED = {
    "open": (folder_of(0o777), "folder; run: chmod go-w /"),
    "sticky": (folder_of(0o1777), "other users can write to"),
    "below open": (below(folder_of(0o777)), "folder; run: chmod go-w /"),
    "link in open": (link_in(folder_of(0o777)), "folder; run: chmod go-w /"),
    "linked wal": (beside("-wal", lambda path: path.symlink_to("other")), "-wal is not a file of"),
    "fifo": (beside("-shm", lambda path: os.mkfifo(path, 0o600)), "-shm is not a file of yours"),
}
REFUSED_OF_OTHERS = {
    "of a group": (folder_of(0o770, group=NAMED_GROUP), "other users can write to"),
    "of somebody": (folder_of(0o755, SOMEBODY), "belongs to another user"),
    "below somebody's": (below(folder_of(0o755, SOMEBODY)), "belongs to another user"),
    "planted journal": (beside("-journal", plant_of_somebody), "-journal is not a file of yours"),
}
ALLOWED = {
    "private": folder_of(0o700),
    "readable": folder_of(0o755),
    "below sticky": below(folder_of(0o1777)),
    "link in sticky": link_in(folder_of(0o1777)),
    "own wal": beside("-wal", lambda path: path.touch()),
}
ALLOWED_TO_GROUPS = {
    "of the user's own group": folder_of(0o775, group=0),
    "of a group without a name": folder_of(0o2775, group=SOMEBODY),
}


def test_a_database_that_another_user_could_change_is_not_opened(tmp_path):
    cases = {**REFUSED, **(REFUSED_OF_OTHERS if is_root else {})}
    for name, (make, problem) in cases.items():
        place = tmp_path / name
        place.mkdir()
        path = make(place)
        before = {*path.parent.iterdir()}
        for address in (path, f"file:{path}?uri=true", f"file:{path}?mode=rw&uri=true"):
            with pytest.raises(JournalError, match=problem) as raised:
                read_journal(f"sqlite:///{address}")
            assert name in str(raised.value)
        with pytest.raises(ConfigurationError, match=f"^state: .*{problem}"):
            state.AgentState(path)
        with pytest.raises(OSError, match=problem):
            SandboxState(path)
        assert {*path.parent.iterdir()} == before, name


def test_a_database_in_a_folder_of_its_user_is_opened(tmp_path):
    for name, make in {**ALLOWED, **(ALLOWED_TO_GROUPS if is_root else {})}.items():
        place = tmp_path / name
        place.mkdir()
        path = make(place)
        read_journal(f"sqlite:///{path}")
        path.resolve().unlink()
        state.AgentState(path)
        path.resolve().unlink()
        SandboxState(path).close()


def test_a_state_file_is_checked_again_at_each_use(tmp_path):
    path = folder_of(0o700)(tmp_path)
    kept = state.AgentState(path)
    path.parent.chmod(0o777)
    with pytest.raises(ConfigurationError, match="chmod go-w"), kept.transaction():
        pass
