"""The key of fingerprints: the caller's, the environment's, or the journal's own."""

import pickle

import pytest

from ferry_sdk import ConfigurationError, InvalidInputError, UnresolvedWriteError
from ferry_sdk.journal import Journal
from ferry_sdk.journal.creation import Key
from tests.journal.intents import intent, run_sql
from tests.support.exchanges import caught

KEY = "sixteen bytes..."
OTHER = "another key, and as long as that"


def fingerprint(url="sqlite://", **options):
    with Journal(url, **options) as journal:
        return journal.entry(journal.begin(intent())).fingerprint


def begin(journal):
    return journal.begin(intent())


def test_own_key_is_made_once(url):
    fingerprint(url)
    with Journal(url) as again:
        caught(UnresolvedWriteError, again.begin, intent())


def test_journal_with_an_own_key_takes_no_other(url):
    fingerprint(url)
    with Journal(url, key=KEY) as other, pytest.raises(ConfigurationError, match="another key"):
        other.begin(intent())


def test_own_keys_differ():
    assert fingerprint() != fingerprint()


def test_bytes_are_the_same_key():
    assert fingerprint(key=KEY.encode()) == fingerprint(key=KEY)


def test_other_key_makes_other_fingerprints():
    assert fingerprint(key=KEY) != fingerprint(key=OTHER)


def test_key_of_the_environment(monkeypatch):
    monkeypatch.setenv("FERRY_JOURNAL_KEY", KEY)
    assert fingerprint() == fingerprint(key=KEY)


def test_callers_key_replaces_that_of_the_environment(monkeypatch):
    expected = fingerprint(key=OTHER)
    monkeypatch.setenv("FERRY_JOURNAL_KEY", KEY)
    assert fingerprint(key=OTHER) == expected


def test_empty_key_of_the_environment_is_none(monkeypatch):
    monkeypatch.setenv("FERRY_JOURNAL_KEY", "")
    assert fingerprint() != fingerprint()


@pytest.mark.parametrize(
    "wrong", ["short", "\udcff" * 20], ids=["short", "bytes that are no UTF-8"]
)
def test_wrong_key_of_the_environment_is_refused(monkeypatch, wrong):
    monkeypatch.setenv("FERRY_JOURNAL_KEY", wrong)
    problem = str(caught(ConfigurationError, Journal, "sqlite://"))
    assert "FERRY_JOURNAL_KEY" in problem
    assert wrong not in problem


@pytest.mark.parametrize(
    "shown", [Key(KEY.encode()), Journal("sqlite://", key=KEY)], ids=["key", "journal"]
)
def test_repr_does_not_show_the_key(shown):
    assert KEY not in repr(shown)


def test_key_is_not_pickled():
    caught(TypeError, pickle.dumps, Key(KEY.encode()))


@pytest.mark.parametrize("use", [begin, Journal.unresolved], ids=["begin", "unresolved"])
@pytest.mark.parametrize("key", [OTHER, None], ids=["another key", "no key"])
def test_journal_needs_the_key_it_was_made_with(url, key, use):
    fingerprint(url, key=KEY)
    with (
        Journal(url, key=key) as other,
        pytest.raises(ConfigurationError, match=r"key=… or FERRY_JOURNAL_KEY"),
    ):
        use(other)


def test_journal_is_used_with_its_key(url):
    fingerprint(url, key=KEY)
    with Journal(url, key=KEY) as journal:
        assert len(journal.unresolved()) == 1


def test_callers_key_is_not_stored(url):
    fingerprint(url, key=KEY)
    ((own_key, key_check),) = run_sql(url, "SELECT own_key, key_check FROM ferry_journal_about")
    assert own_key is None
    assert key_check
    assert KEY not in key_check


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("", "at least 16 bytes"),
        ("too short", "at least 16 bytes"),
        (b"fifteen bytes..", "at least 16 bytes"),
        (7, "UTF-8 text or bytes"),
        (["k" * 32], "UTF-8 text or bytes"),
        ("\ud800" * 20, "UTF-8 text or bytes"),
    ],
    ids=["empty", "short", "fifteen", "number", "list", "surrogates"],
)
def test_key_that_can_be_guessed_is_refused(key, expected):
    with pytest.raises(InvalidInputError, match=expected) as refused:
        Journal("sqlite://", key=key)
    assert refused.value.field == "key"
    assert refused.value.__context__ is None
