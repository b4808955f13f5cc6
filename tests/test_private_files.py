"""Databases of SQLite are not opened where another user could change them."""

import os

import pytest

from ferry_sdk import ConfigurationError, JournalError
from ferry_sdk.agents.policy.state import AgentState
from ferry_sdk.journal import Journal
from ferry_sdk.sandbox.bookings.state import SandboxState
from tests.support.cases import case

pytestmark = pytest.mark.skipif(os.name != "posix", reason="modes are POSIX's")
is_root = os.name == "posix" and os.geteuid() == 0
SOMEBODY = 4_242
NAMED_GROUP = 1
"""A group that every system has: daemon."""


def read_journal(url):
    with Journal(url) as journal:
        journal.unresolved()


def database(place, mode, owner=-1, group=-1, where="in", plant=None):
    """Make a folder with this mode and owner; return the path of a database at a place of it.

    The place is in the folder, in a private one below it, or behind a link in it that leads to a
    private one elsewhere.
    """
    folder, private = place / "folder", place / "private"
    folder.mkdir(parents=True)
    file = folder / "file.db"
    if where == "below":
        private = folder / "private"
        file = private / "file.db"
    if where != "in":
        private.mkdir(mode=0o700)
    if where == "link":
        file.symlink_to(private / "file.db")
    if is_root:
        os.chown(folder, owner, group)
    folder.chmod(mode)
    if plant is not None:
        plant(file)
    return file


def plant_journal_of_somebody(file):
    planted = file.with_name("file.db-journal")
    planted.touch()
    os.chown(planted, SOMEBODY, -1)


def link_wal(file):
    file.with_name("file.db-wal").symlink_to("other")


def plant_fifo(file):
    os.mkfifo(file.with_name("file.db-shm"), 0o600)


OPEN = "folder; run: chmod go-w /"
REFUSED = [
    *((OPEN, {"mode": 0o777, "where": where}) for where in ("in", "below", "link")),
    ("folder; use a folder of your own", {"mode": 0o1777}),
    ("-wal is not a file of", {"mode": 0o700, "plant": link_wal}),
    ("-shm is not a file of yours", {"mode": 0o700, "plant": plant_fifo}),
]
ALLOWED = [
    *({"mode": 0o700}, {"mode": 0o755}),
    *({"mode": 0o1777, "where": where} for where in ("below", "link")),
    {"mode": 0o700, "plant": lambda file: file.with_name("file.db-wal").touch()},
]
if is_root:
    REFUSED += [
        ("other users can write to", {"mode": 0o770, "group": NAMED_GROUP}),
        ("belongs to another user", {"mode": 0o755, "owner": SOMEBODY}),
        ("belongs to another user", {"mode": 0o755, "owner": SOMEBODY, "where": "below"}),
        ("-journal is not a file of yours", {"mode": 0o700, "plant": plant_journal_of_somebody}),
    ]
    # The user's own group, and one without a name.
    ALLOWED += [{"mode": 0o775, "group": 0}, {"mode": 0o2775, "group": SOMEBODY}]


def test_a_database_that_another_user_could_change_is_not_opened(tmp_path):
    for number, (problem, made) in enumerate(REFUSED):
        with case(made):
            path = database(tmp_path / str(number), **made)
            before = {*path.parent.iterdir()}
            for address in (path, f"file:{path}?uri=true", f"file:{path}?mode=rw&uri=true"):
                with pytest.raises(JournalError, match=problem) as raised:
                    read_journal(f"sqlite:///{address}")
                assert str(tmp_path / str(number)) in str(raised.value)
            with pytest.raises(ConfigurationError, match=f"^state: .*{problem}"):
                AgentState(path)
            with pytest.raises(OSError, match=problem):
                SandboxState(path)
            assert {*path.parent.iterdir()} == before


def test_a_database_in_a_folder_of_its_user_is_opened(tmp_path):
    for number, made in enumerate(ALLOWED):
        with case(made):
            path = database(tmp_path / str(number), **made)
            read_journal(f"sqlite:///{path}")
            path.resolve().unlink()
            AgentState(path)
            path.resolve().unlink()
            SandboxState(path).close()
    # A state file is checked again at each use.
    path = database(tmp_path / "again", 0o700)
    kept = AgentState(path)
    path.parent.chmod(0o777)
    with pytest.raises(ConfigurationError, match="chmod go-w"), kept.transaction():
        pass
