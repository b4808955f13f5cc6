"""What a rate takes, shows and hands on to another process."""

import pickle
import sys

import pytest

from ferry_sdk import ConfigurationError, InvalidInputError, Rate
from tests.support.tables import each


@each(
    ("field", "arguments"),
    [
        ("rate", {"rate": "50"}),
        ("rate", {"rate": "0/second"}),
        ("rate", {"rate": "50/hour"}),
        ("rate", {"rate": 50}),
        ("burst", {"rate": "50/second", "burst": 0}),
        ("burst", {"rate": "50/second", "burst": 51}),
        ("burst", {"rate": "50/second", "burst": True}),
        ("storage", {"rate": "50/second", "storage": "localhost:6379"}),
        ("storage", {"rate": "50/second", "storage": "postgresql://localhost"}),
        ("storage", {"rate": "50/second", "storage": "redis://localhost:many"}),
        ("storage", {"rate": "50/second", "storage": "redis://user:\ud800@localhost"}),
        ("storage", {"rate": "50/second", "storage": 6379}),
    ],
)
def test_an_argument_that_makes_no_sense_is_named(field, arguments):
    with pytest.raises(InvalidInputError) as caught:
        Rate(**arguments)
    assert caught.value.field == field


@pytest.mark.parametrize(
    ("missing", "storage"), [("pyrate_limiter", None), ("redis", "redis://localhost")]
)
def test_a_missing_extra_is_named(missing, storage, monkeypatch):
    monkeypatch.setitem(sys.modules, missing, None)
    monkeypatch.delitem(sys.modules, "ferry_sdk._transport.rate.redis_schedule", raising=False)
    with pytest.raises(ConfigurationError, match=r"ferry-sdk\[rate\]"):
        Rate("50/second", storage=storage)


def test_a_pickle_has_the_same_rate_and_storage():
    rate = Rate("600/minute", burst=3, storage="redis://:secret@localhost/2")
    assert pickle.dumps(pickle.loads(pickle.dumps(rate))) == pickle.dumps(rate)


def test_a_repr_shows_no_password_of_the_storage():
    rate = Rate("600/minute", burst=3, storage="redis://user:secret@localhost/2")
    assert repr(rate) == "Rate('600/minute', burst=3, storage='redis://…')"
