"""The modes of a journal's files: they are their owner's alone, whatever the umask."""

import os
import stat

import pytest

from ferry_sdk.journal import Journal
from tests.journal.intents import intent

pytestmark = pytest.mark.skipif(os.name != "posix", reason="modes are POSIX's")
NAMES = ("journal.db", "journal.db-wal", "journal.db-shm")


@pytest.fixture(autouse=True, params=[0o000, 0o022])
def _umask(request):
    before = os.umask(request.param)
    yield
    os.umask(before)


def modes(folder):
    return {
        path.name: stat.S_IMODE(path.stat().st_mode)
        for path in folder.iterdir()
        if not path.is_symlink() and path.is_file()
    }


def test_files_of_a_uri_are_private(tmp_path):
    with Journal(f"sqlite:///file:{tmp_path / 'journal.db'}?uri=true") as journal:
        journal.begin(intent())
        assert modes(tmp_path) == dict.fromkeys(NAMES, 0o600)


def test_file_is_private_before_sqlite_opens_it(tmp_path, monkeypatch):
    seen = []
    with Journal(f"sqlite:///{tmp_path / 'journal.db'}") as journal:
        connect = journal._engine.dialect.connect

        def look_and_connect(*where, **options):
            seen.append(modes(tmp_path))
            return connect(*where, **options)

        monkeypatch.setattr(journal._engine.dialect, "connect", look_and_connect)
        journal.unresolved()
        assert seen[0] == {"journal.db": 0o600}
        assert modes(tmp_path) == dict.fromkeys(NAMES, 0o600)


@pytest.fixture
def linked_url(tmp_path):
    """The address of a link to a file that does not exist yet."""
    (tmp_path / "link.db").symlink_to(tmp_path / "journal.db")
    return f"sqlite:///{tmp_path / 'link.db'}"


def test_link_leads_to_a_private_file(tmp_path, linked_url):
    with Journal(linked_url) as journal:
        journal.begin(intent())
        assert set(modes(tmp_path).values()) == {0o600}


def test_file_that_a_person_shared_stays_shared(tmp_path, linked_url):
    with Journal(linked_url) as journal:
        journal.begin(intent())
    (tmp_path / "journal.db").chmod(0o660)
    with Journal(linked_url) as journal:
        journal.forget(older_than=0)
        assert set(modes(tmp_path).values()) == {0o660}


@pytest.mark.parametrize("mode", ["ro", "rw"])
def test_address_that_makes_no_file_makes_none(tmp_path, mode):
    url = f"sqlite:///file:{tmp_path / 'journal.db'}?mode={mode}&uri=true"
    with Journal(url) as journal, pytest.raises(Exception, match="unable to open"):
        journal.unresolved()
    assert modes(tmp_path) == {}
