"""What a rate takes, shows and hands on to another process."""

import pickle
import sys

import pytest

from ferry_sdk import ConfigurationError, InvalidInputError, Rate
from tests.support.tables import each


@each(
    ("field", "values"),
    [
        ("rate", ["50", "0/second", "50/hour", 50]),
        ("burst", [0, 51, True]),
        ("storage", ["localhost:6379", "postgresql://localhost", "redis://localhost:many", 6379]),
        ("storage", ["redis://user:\ud800@localhost"]),
    ],
)
def test_an_argument_that_makes_no_sense_is_named(field, values):
    for value in values:
        with pytest.raises(InvalidInputError) as caught:
            Rate(**{"rate": "50/second", field: value})
        assert caught.value.field == field, value


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
