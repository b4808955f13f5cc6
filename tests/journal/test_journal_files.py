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


def test_all_three_are_private_before_sqlite_opens_them(tmp_path, monkeypatch):
    (tmp_path / "uri").mkdir(mode=0o700)
    with Journal(f"sqlite:///file:{tmp_path / 'uri/journal.db'}?uri=true") as journal:
        journal.begin(intent())
        assert modes(tmp_path / "uri") == dict.fromkeys(NAMES, 0o600)
    seen = []
    with Journal(f"sqlite:///{tmp_path / 'journal.db'}") as journal:
        connect = journal._engine.dialect.connect

        def looking(*where, **options):
            seen.append(modes(tmp_path))
            return connect(*where, **options)

        monkeypatch.setattr(journal._engine.dialect, "connect", looking)
        journal.unresolved()
        assert seen[0] == {"journal.db": 0o600}
        assert modes(tmp_path) == dict.fromkeys(NAMES, 0o600)


def test_a_link_leads_to_a_private_file_and_what_a_person_has_shared_stays_shared(tmp_path):
    url = f"sqlite:///{tmp_path / 'link.db'}"
    (tmp_path / "link.db").symlink_to(tmp_path / "journal.db")
    with Journal(url) as journal:
        journal.begin(intent())
        assert set(modes(tmp_path).values()) == {0o600}
    (tmp_path / "journal.db").chmod(0o660)
    with Journal(url) as journal:
        journal.forget(older_than=0)
        assert set(modes(tmp_path).values()) == {0o660}


def test_an_address_that_makes_no_file_makes_none(tmp_path):
    for mode in ("ro", "rw"):
        url = f"sqlite:///file:{tmp_path / 'journal.db'}?mode={mode}&uri=true"
        with Journal(url) as journal, pytest.raises(Exception, match="unable to open"):
            journal.unresolved()
        assert modes(tmp_path) == {}, mode
