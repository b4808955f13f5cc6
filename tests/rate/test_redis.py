"""A rate that several processes share over a real Redis."""

import pickle
import time
from itertools import pairwise

import pytest

from ferry_sdk import ConnectionFailedError, Rate


def reserve(rate, *, is_urgent):
    return rate._queue().schedule.reserve(time.monotonic, is_urgent=is_urgent)


def reserve_urgently(rate, count):
    """Return the moments of the next turns, however far ahead they are."""
    turns = [reserve(rate, is_urgent=True) for _ in range(count)]
    assert all(turn.is_reserved for turn in turns)
    return [turn.moment for turn in turns]


def test_rates_with_one_storage_have_different_turns(url):
    rate = Rate("30/minute", storage=url)
    other = pickle.loads(pickle.dumps(rate))
    moments = reserve_urgently(rate, 3) + reserve_urgently(other, 3) + reserve_urgently(rate, 3)
    pauses = [after - before for before, after in pairwise(sorted(moments))]
    assert len(pauses) == 8
    assert min(pauses) > 1.9


@pytest.fixture
def slow_rate(url):
    """A rate of one a minute whose first turn was taken."""
    rate = Rate("1/minute", storage=url)
    rate.acquire("the first turn")
    return rate


def test_a_turn_far_ahead_is_not_reserved(slow_rate):
    assert not reserve(slow_rate, is_urgent=False).is_reserved


def test_a_read_back_elsewhere_reserves_a_far_turn(slow_rate, url):
    reserve(slow_rate, is_urgent=False)
    (moment,) = reserve_urgently(Rate("1/minute", storage=url), 1)
    assert moment - time.monotonic() == pytest.approx(61.8, abs=1)


@pytest.mark.usefixtures("slow_rate")
def test_another_rate_has_turns_of_its_own(url):
    (moment,) = reserve_urgently(Rate("2/minute", storage=url), 1)
    assert moment <= time.monotonic()


def test_calls_go_on_after_redis_restarts(clients, ferry_sandbox, redis):
    rate = Rate("600/minute", storage=redis.url)
    ferry = clients(ferry_sandbox.token, base_url=ferry_sandbox.base_url, limiter=rate)
    ferry.catalogue.ports()
    redis.restart()
    ferry.catalogue.ports()


@pytest.fixture
def failed(clients, ferry_sandbox):
    """The error of a call whose limiter has no Redis, and a password in its URL."""
    rate = Rate("50/second", storage="redis://user:secret@127.0.0.1:9")
    ferry = clients(
        ferry_sandbox.token,
        limiter=rate,
        base_url=ferry_sandbox.base_url,
        max_retries=0,
    )
    with pytest.raises(ConnectionFailedError, match="the storage of the rate limiter") as failed:
        ferry.catalogue.ports()
    return failed.value


def test_a_storage_that_fails_is_named(failed):
    assert str(failed).endswith("(127.0.0.1:9)")


def test_the_password_of_a_storage_is_not_shown(failed):
    assert "secret" not in f"{failed!r}{failed.__cause__!r}"


def test_nothing_is_sent_without_the_storage(failed, ferry_sandbox):
    assert failed.outcome == "not_sent"
    assert not ferry_sandbox.counters.connections


def test_a_storage_whose_host_is_invalid_is_named():
    with pytest.raises(ConnectionFailedError, match=r"\(no\.\.domain:6379\)$"):
        Rate("50/second", storage="redis://no..domain").acquire("a search")
