"""The key that fingerprints are made with: given, of the environment, or the journal's own."""

import pickle
from functools import partial

import pytest

from ferry_sdk import ConfigurationError, InvalidInputError, UnresolvedWriteError
from ferry_sdk.journal import Journal
from ferry_sdk.journal.creation import Key
from tests.journal.intents import intent, run_sql
from tests.support.exchanges import caught
from tests.support.tables import each

KEY = "sixteen bytes..."
OTHER = "another key, and as long as that"


def fingerprint(url, **how):
    with Journal(url, **how) as journal:
        return journal.entry(journal.begin(intent())).fingerprint


def test_the_journals_own_key_is_made_once_and_kept(url):
    fingerprint(url)
    with Journal(url) as again:
        caught(UnresolvedWriteError, again.begin, intent())
    with Journal(url, key=KEY) as other, pytest.raises(ConfigurationError, match="another key"):
        other.begin(intent())


def test_the_same_key_makes_the_same_fingerprints_and_shows_nowhere(monkeypatch):
    given, other = (fingerprint("sqlite://", key=key) for key in (KEY, OTHER))
    assert fingerprint("sqlite://") != fingerprint("sqlite://")
    assert fingerprint("sqlite://", key=KEY.encode()) == given != other
    monkeypatch.setenv("FERRY_JOURNAL_KEY", KEY)
    assert (fingerprint("sqlite://"), fingerprint("sqlite://", key=OTHER)) == (given, other)
    monkeypatch.setenv("FERRY_JOURNAL_KEY", "")
    assert fingerprint("sqlite://") != given
    for wrong in ("short", "\udcff" * 20):  # the second is bytes that are not UTF-8
        monkeypatch.setenv("FERRY_JOURNAL_KEY", wrong)
        said = str(caught(ConfigurationError, Journal, "sqlite://"))
        assert "FERRY_JOURNAL_KEY" in said
        assert wrong not in said
    key = Key(KEY.encode())
    assert KEY not in repr(key)
    assert KEY not in repr(Journal("sqlite://", key=KEY))
    caught(TypeError, pickle.dumps, key)


def test_a_journal_made_with_a_key_is_used_with_this_key_only_and_does_not_store_it(url):
    fingerprint(url, key=KEY)
    for how in ({"key": OTHER}, {}):
        with Journal(url, **how) as other:
            for use in (partial(other.begin, intent()), other.unresolved):
                with pytest.raises(ConfigurationError, match=r"key=… or FERRY_JOURNAL_KEY"):
                    use()
    with Journal(url, key=KEY) as right:
        assert len(right.unresolved()) == 1
    ((own_key, key_check),) = run_sql(url, "SELECT own_key, key_check FROM ferry_journal_about")
    assert own_key is None
    assert key_check
    assert KEY not in key_check


@each(
    ("expected", "keys"),
    [
        ("at least 16 bytes", ["", "too short", b"fifteen bytes.."]),
        ("UTF-8 text or bytes", [7, ["k" * 32], "\ud800" * 20]),
    ],
)
def test_a_key_that_can_be_guessed_or_is_none_is_refused(expected, keys):
    for wrong in keys:
        with pytest.raises(InvalidInputError, match=expected) as refused:
            Journal("sqlite://", key=wrong)
        assert refused.value.field == "key"
        assert refused.value.__context__ is None
