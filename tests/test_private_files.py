"""Databases of SQLite are not opened where another user could change them."""

import os
import stat
import struct
from contextlib import closing

import pytest

from ferry_sdk import ConfigurationError, JournalError
from ferry_sdk._runtime.private_files import PrivateDatabase
from ferry_sdk.agents.policy.state import AgentState
from ferry_sdk.journal import Journal
from ferry_sdk.sandbox.bookings.state import SandboxState
from tests.backend.gathering import UnderWay

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


def touch_wal(file):
    file.with_name("file.db-wal").touch()


as_root = pytest.mark.skipif(not is_root, reason="only root can give a file to another user")
OPEN = "folder; run: chmod go-w /"
REFUSED = [
    pytest.param(OPEN, {"mode": 0o777}, id="in an open folder"),
    pytest.param(OPEN, {"mode": 0o777, "where": "below"}, id="below an open folder"),
    pytest.param(OPEN, {"mode": 0o777, "where": "link"}, id="behind a link in an open folder"),
    pytest.param("folder; use a folder of your own", {"mode": 0o1777}, id="sticky folder"),
    pytest.param("-wal is not a file of", {"mode": 0o700, "plant": link_wal}, id="link for a wal"),
    pytest.param(
        "-shm is not a file of yours", {"mode": 0o700, "plant": plant_fifo}, id="pipe for a shm"
    ),
    pytest.param(
        "other users can write to",
        {"mode": 0o770, "group": NAMED_GROUP},
        id="folder of a group",
        marks=as_root,
    ),
    pytest.param(
        "belongs to another user",
        {"mode": 0o755, "owner": SOMEBODY},
        id="in another user's folder",
        marks=as_root,
    ),
    pytest.param(
        "belongs to another user",
        {"mode": 0o755, "owner": SOMEBODY, "where": "below"},
        id="below another user's folder",
        marks=as_root,
    ),
    pytest.param(
        "-journal is not a file of yours",
        {"mode": 0o700, "plant": plant_journal_of_somebody},
        id="another user's journal",
        marks=as_root,
    ),
]
"""What a refusal names, and how the database is made."""
ALLOWED = [
    pytest.param({"mode": 0o700}, id="private folder"),
    pytest.param({"mode": 0o755}, id="folder that others read"),
    pytest.param({"mode": 0o1777, "where": "below"}, id="below a sticky folder"),
    pytest.param({"mode": 0o1777, "where": "link"}, id="behind a link in a sticky folder"),
    pytest.param({"mode": 0o700, "plant": touch_wal}, id="own wal"),
    pytest.param({"mode": 0o775, "group": 0}, id="group of root", marks=as_root),
    pytest.param({"mode": 0o2775, "group": SOMEBODY}, id="group without a name", marks=as_root),
]


@pytest.fixture(params=["journal", "toolkit", "local service"])
def open_database(request):
    """Return a function that opens a database of one kind; a refusal raises one of `REFUSALS`."""

    def open_it(path):
        match request.param:
            case "journal":
                read_journal(f"sqlite:///{path}")
            case "toolkit":
                AgentState(path)
            case "local service":
                SandboxState(path).close()

    return open_it


REFUSALS = (JournalError, ConfigurationError, OSError)


@pytest.mark.parametrize(("problem", "made"), REFUSED)
def test_database_that_another_user_could_change_is_refused(tmp_path, open_database, problem, made):
    path = database(tmp_path, **made)
    before = {*path.parent.iterdir()}
    with pytest.raises(REFUSALS, match=problem):
        open_database(path)
    assert {*path.parent.iterdir()} == before


@pytest.mark.parametrize("address", ["{}", "file:{}?uri=true", "file:{}?mode=rw&uri=true"])
@pytest.mark.parametrize(("problem", "made"), REFUSED)
def test_address_of_such_a_database_is_refused(tmp_path, address, problem, made):
    path = database(tmp_path, **made)
    with pytest.raises(JournalError, match=problem) as raised:
        read_journal(f"sqlite:///{address.format(path)}")
    assert str(tmp_path) in str(raised.value)


@pytest.mark.parametrize(("problem", "made"), REFUSED)
def test_refused_state_file_is_called_state(tmp_path, problem, made):
    with pytest.raises(ConfigurationError, match=f"^state: .*{problem}"):
        AgentState(database(tmp_path, **made))


@pytest.mark.parametrize(("problem", "made"), REFUSED)
def test_refused_local_service_raises_an_os_error(tmp_path, problem, made):
    with pytest.raises(OSError, match=problem):
        SandboxState(database(tmp_path, **made))


@pytest.mark.parametrize("made", ALLOWED)
def test_database_in_its_users_folder_is_opened(tmp_path, open_database, made):
    open_database(database(tmp_path, **made))


def test_state_file_is_checked_at_each_use(tmp_path):
    path = database(tmp_path, 0o700)
    state = AgentState(path)
    path.parent.chmod(0o777)
    with pytest.raises(ConfigurationError, match="chmod go-w"), state.transaction():
        pass


# Access control lists

NOBODY_IN_PARTICULAR = 0xFFFFFFFF
OWNER, USER, OWNING_GROUP, GROUP, MASK, OTHERS = 0x01, 0x02, 0x04, 0x08, 0x10, 0x20
"""The kinds of entries of an access control list."""
READ_ONLY, EVERYTHING = 0o5, 0o7


def access_list(*entries, mask=EVERYTHING, owning_group=READ_ONLY):
    """Return an extended attribute with entries for a user or a group, as `setfacl` writes it."""
    rows = [
        (OWNER, EVERYTHING, NOBODY_IN_PARTICULAR),
        *(row for row in entries if row[0] == USER),
        (OWNING_GROUP, owning_group, NOBODY_IN_PARTICULAR),
        *(row for row in entries if row[0] == GROUP),
        (MASK, mask, NOBODY_IN_PARTICULAR),
        (OTHERS, READ_ONLY, NOBODY_IN_PARTICULAR),
    ]
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *row) for row in rows)


def set_access_list(path, attribute, name="access"):
    try:
        os.setxattr(path, f"system.posix_acl_{name}", attribute)
    except (AttributeError, OSError):
        pytest.skip("the file system of the tests has no POSIX access control lists")


SOMEBODY_WRITES = (USER, EVERYTHING, SOMEBODY)


@pytest.mark.parametrize("where", ["in", "below", "link"])
@pytest.mark.parametrize(
    "attribute",
    [
        access_list(SOMEBODY_WRITES),
        access_list((USER, 0o2, SOMEBODY)),
        access_list((GROUP, EVERYTHING, NAMED_GROUP)),
        access_list((GROUP, EVERYTHING, SOMEBODY)),
    ],
    ids=["user", "user who only writes", "group", "group without a name"],
)
def test_folder_that_a_list_opens_is_refused(tmp_path, open_database, attribute, where):
    file = database(tmp_path, 0o700, where=where)
    set_access_list(tmp_path / "folder", attribute)
    with pytest.raises(REFUSALS, match="folder; run: setfacl --remove-all"):
        open_database(file)
    assert not file.exists()


@pytest.mark.parametrize(
    "attribute",
    [
        access_list((USER, READ_ONLY, SOMEBODY)),
        access_list(SOMEBODY_WRITES, mask=READ_ONLY),
        access_list((GROUP, EVERYTHING, NAMED_GROUP), mask=READ_ONLY),
        access_list((USER, EVERYTHING, 0)),
    ],
    ids=["reads", "masked user", "masked group", "root"],
)
def test_list_without_another_writer_is_accepted(tmp_path, open_database, attribute):
    file = database(tmp_path, 0o700)
    set_access_list(file.parent, attribute)
    open_database(file)


def test_default_list_opens_no_private_file(tmp_path, open_database):
    file = database(tmp_path, 0o700)
    set_access_list(file.parent, access_list(SOMEBODY_WRITES), "default")
    open_database(file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_mask_of_a_list_is_no_writer(tmp_path, open_database):
    file = database(tmp_path, 0o700)
    if is_root:
        os.chown(file.parent, 0, NAMED_GROUP)
    set_access_list(file.parent, access_list((USER, EVERYTHING, os.geteuid())))
    assert file.parent.stat().st_mode & stat.S_IWGRP
    open_database(file)


@as_root
def test_group_that_writes_by_a_list_is_refused(tmp_path, open_database):
    file = database(tmp_path, 0o700, group=NAMED_GROUP)
    set_access_list(file.parent, access_list(owning_group=EVERYTHING))
    with pytest.raises(REFUSALS, match="chmod go-w"):
        open_database(file)


@as_root
def test_masked_group_of_a_list_is_accepted(tmp_path, open_database):
    file = database(tmp_path, 0o700, group=NAMED_GROUP)
    set_access_list(file.parent, access_list(mask=READ_ONLY, owning_group=EVERYTHING))
    open_database(file)


def test_list_is_seen_while_state_is_used(tmp_path):
    kept = AgentState(database(tmp_path, 0o700))
    set_access_list(tmp_path / "folder", access_list(SOMEBODY_WRITES))
    with pytest.raises(ConfigurationError, match="setfacl"), kept.transaction():
        pass


def test_list_of_a_sticky_folder_above_is_accepted(tmp_path, open_database):
    file = database(tmp_path, 0o1777, where="below")
    set_access_list(tmp_path / "folder", access_list(SOMEBODY_WRITES))
    open_database(file)


# Links and files


def test_each_link_on_the_way_is_looked_at(tmp_path, open_database):
    """One link leads to the next, which lies in a folder that is open to everybody."""
    private, shared = tmp_path / "private", tmp_path / "shared"
    private.mkdir(mode=0o700)
    shared.mkdir()
    (shared / "second").symlink_to(private)
    (private / "first").symlink_to("../shared/second")
    shared.chmod(0o777)
    with pytest.raises(REFUSALS, match="shared; run: chmod go-w"):
        open_database(private / "first" / "file.db")


@as_root
def test_link_of_another_user_is_refused(tmp_path, open_database):
    file = database(tmp_path, 0o1777, where="link")
    os.chown(file, SOMEBODY, -1, follow_symlinks=False)
    with pytest.raises(REFUSALS, match=r"the link .* belongs to another user"):
        open_database(file)


def test_loop_of_links_is_refused(tmp_path, open_database):
    file = tmp_path / "file.db"
    file.symlink_to(file)
    with pytest.raises(REFUSALS):
        open_database(file)


def test_path_may_leave_the_folder_of_a_link(tmp_path, monkeypatch):
    (tmp_path / "private" / "deep").mkdir(parents=True, mode=0o700)
    (tmp_path / "link").symlink_to("private/deep")
    monkeypatch.chdir(tmp_path)
    AgentState("link/../file.db")
    assert (tmp_path / "private" / "file.db").exists()


@pytest.mark.parametrize("suffix", ["", "-journal", "-wal", "-shm"])
def test_file_that_others_can_write_is_refused(tmp_path, suffix):
    file = database(tmp_path, 0o755)
    written = file.with_name(f"file.db{suffix}")
    written.touch()
    written.chmod(0o606)
    with pytest.raises(JournalError, match=f"file.db{suffix}; run: chmod go-w"):
        read_journal(f"sqlite:///{file}")


def test_journal_that_others_can_read_is_opened(tmp_path):
    file = database(tmp_path, 0o755)
    file.touch()
    file.chmod(0o644)
    read_journal(f"sqlite:///{file}")


def test_connection_serves_any_thread(tmp_path):
    database = PrivateDatabase(tmp_path / "file.db", application_id=1, version=1, tables=())
    with closing(database.connect(1)) as connection:
        rows = UnderWay(lambda: connection.execute("SELECT 7").fetchall()).value()
    assert rows == [(7,)]
