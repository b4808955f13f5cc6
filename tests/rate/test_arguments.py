"""What a rate takes, shows and hands on to another process."""

import pickle
import sys

import pytest

from ferry_sdk import ConfigurationError, InvalidInputError, Rate
from tests.support.exchanges import caught
from tests.support.tables import each

WRONG = {"rate": ["50", "0/second", "50/hour", 50], "burst": [0, 51, True]}
ADDRESSES = ["localhost:6379", "postgresql://localhost", "redis://localhost:many", 6379]


@each(
    ("field", "values"),
    [*WRONG.items(), ("storage", [*ADDRESSES, "redis://user:\ud800@localhost"])],
)
def test_an_argument_that_makes_no_sense_is_named(field, values):
    for value in values:
        wrong = {"rate": "50/second", field: value}
        assert caught(InvalidInputError, Rate, **wrong).field == field, value


@each(("missing", "storage"), [("pyrate_limiter", None), ("redis", "redis://localhost")])
def test_a_missing_extra_is_named(missing, storage, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, missing, None)
        patch.delitem(sys.modules, "ferry_sdk.rate.redis_schedule", raising=False)
        with pytest.raises(ConfigurationError, match=r"ferry-sdk\[rate\]"):
            Rate("50/second", storage=storage)


def test_a_pickle_has_the_same_rate_and_storage_and_a_repr_shows_no_password():
    for scheme, rest in (("redis", "user:secret@localhost/2"), ("unix", ":secret/run/redis.sock")):
        rate = Rate("600/minute", burst=3, storage=f"{scheme}://{rest}")
        assert pickle.dumps(pickle.loads(pickle.dumps(rate))) == pickle.dumps(rate)
        assert repr(rate) == f"Rate('600/minute', burst=3, storage='{scheme}://…')"
