"""A rate that several processes share over a real Redis."""

import pickle
import time
from functools import partial
from itertools import pairwise

import pytest

from ferry_sdk import ConnectionFailedError, Rate


def turns(rate, count):
    reserve = partial(rate._queue().schedule.reserve, time.monotonic, is_urgent=True)
    reserved, are_reserved = zip(*(reserve() for _ in range(count)), strict=True)
    assert all(are_reserved)
    return [*reserved]


def test_rates_of_the_same_storage_have_different_turns(url):
    rate = Rate("30/minute", storage=url)
    other = pickle.loads(pickle.dumps(rate))
    reserved = sorted(turns(rate, 3) + turns(other, 3) + turns(rate, 3))
    pauses = [after - before for before, after in pairwise(reserved)]
    assert len(pauses) == 8
    assert all(pause > 1.9 for pause in pauses)


def test_a_turn_far_ahead_is_free_for_a_read_back_of_another_process(url):
    rate, other = Rate("1/minute", storage=url), Rate("1/minute", storage=url)
    (before,) = turns(rate, 1)
    _, is_reserved = rate._queue().schedule.reserve(time.monotonic, is_urgent=False)
    assert not is_reserved
    (turn,) = turns(other, 1)
    assert turn - before == pytest.approx(61.8, abs=1)
    (turn,) = turns(Rate("2/minute", storage=url), 1)
    assert turn <= time.monotonic(), "another rate has turns of its own"


def test_calls_go_on_after_a_restart_of_the_storage(clients, ferry_sandbox, redis):
    rate = Rate("600/minute", storage=redis.url)
    ferry = clients(ferry_sandbox.token, base_url=ferry_sandbox.base_url, limiter=rate)
    ferry.catalogue.ports()
    redis.restart()
    ferry.catalogue.ports()


def test_a_storage_that_does_not_answer_is_an_error_and_nothing_leaves(clients, ferry_sandbox):
    rate = Rate("50/second", storage="redis://user:secret@127.0.0.1:9")
    settings = {"base_url": ferry_sandbox.base_url, "max_retries": 0}
    ferry = clients(ferry_sandbox.token, limiter=rate, **settings)
    with pytest.raises(ConnectionFailedError, match="the storage of the rate limiter") as failed:
        ferry.catalogue.ports()
    assert str(failed.value).endswith("(127.0.0.1:9)")
    assert failed.value.outcome == "not_sent"
    assert "secret" not in f"{failed.value!r}{failed.value.__cause__!r}"
    assert not ferry_sandbox.counters.connections
    with pytest.raises(ConnectionFailedError, match=r"\(no\.\.domain:6379\)$"):
        Rate("50/second", storage="redis://no..domain").acquire("a search")
