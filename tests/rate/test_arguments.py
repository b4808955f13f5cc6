"""What a rate takes, shows and hands on to another process."""

import pickle
import sys

import pytest

from ferry_sdk import ConfigurationError, InvalidInputError, Rate
from tests.support.exchanges import caught


@pytest.mark.parametrize(
    ("field", "value"),
    [
        pytest.param("rate", "50", id="rate without a unit"),
        pytest.param("rate", "0/second", id="rate of zero"),
        pytest.param("rate", "50/hour", id="rate with another unit"),
        pytest.param("rate", 50, id="rate that is a number"),
        pytest.param("burst", 0, id="burst of zero"),
        pytest.param("burst", 51, id="burst above the rate"),
        pytest.param("burst", True, id="burst that is a boolean"),
        pytest.param("storage", "localhost:6379", id="storage without a scheme"),
        pytest.param("storage", "postgresql://localhost", id="storage of another kind"),
        pytest.param("storage", "redis://localhost:many", id="storage with an invalid port"),
        pytest.param("storage", 6379, id="storage that is a number"),
        pytest.param("storage", "redis://user:\ud800@localhost", id="storage that is no text"),
    ],
)
def test_an_invalid_argument_is_named(field, value):
    arguments = {"rate": "50/second", field: value}
    assert caught(InvalidInputError, Rate, **arguments).field == field


@pytest.mark.parametrize(
    ("missing", "storage"),
    [
        pytest.param("pyrate_limiter", None, id="in memory"),
        pytest.param("redis", "redis://localhost", id="in Redis"),
    ],
)
def test_a_missing_extra_is_named(missing, storage, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, missing, None)
        patch.delitem(sys.modules, "ferry_sdk.rate.redis_schedule", raising=False)
        with pytest.raises(ConfigurationError, match=r"ferry-sdk\[rate\]"):
            Rate("50/second", storage=storage)


@pytest.fixture(
    params=[
        pytest.param("redis://user:secret@localhost/2", id="redis"),
        pytest.param("unix://:secret/run/redis.sock", id="unix"),
    ]
)
def rate_with_password(request):
    return Rate("600/minute", burst=3, storage=request.param)


def test_a_pickle_keeps_the_arguments(rate_with_password):
    pickled = pickle.dumps(rate_with_password)
    assert pickle.dumps(pickle.loads(pickled)) == pickled


def test_a_repr_shows_no_password(rate_with_password):
    scheme = rate_with_password._storage.partition(":")[0]
    assert repr(rate_with_password) == f"Rate('600/minute', burst=3, storage='{scheme}://…')"
