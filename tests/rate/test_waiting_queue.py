"""The rate that requests leave with, and who is next, in virtual time."""

from unittest.mock import Mock

import pytest

from ferry_sdk import ConnectionFailedError, Rate, RequestTimeoutError
from tests.rate.simulation import Loop, World


@pytest.fixture
def rate():
    return Rate("50/second")


@pytest.fixture
def loop():
    return Loop()


def test_the_rate_is_used_and_kept_in_every_second():
    for text, limit in (("50/second", 50), ("1200/minute", 20), ("5/second", 5)):
        world = World()
        world.saturate(Rate(text), Loop(latency=0.008), seconds=20)
        world.run()
        assert world.mean >= 0.93 * limit, text
        assert world.most <= limit, text


def test_a_fast_rate_is_used_although_every_wake_up_is_late(world):
    rate, loop = Rate("1000/second"), Loop(latency=0.001)
    world.send_all(rate, range(2000), loop)
    world.run()
    assert world.mean >= 850
    assert world.most <= 1000


def test_a_stalled_loop_does_not_send_afterwards_what_it_could_not_send(world, rate):
    loop = Loop(latency=0.002)
    world.saturate(rate, loop, seconds=20)
    stalls = 10
    for number in range(stalls):
        world.run(1001.0 + 2 * number)
        loop.free_at = world.now + 0.7
    world.run()
    assert world.most <= 50
    assert world.mean >= 0.93 * 50 * (1 - 0.7 * stalls / 20)


@pytest.mark.parametrize("after", [0.0, 5.0])
def test_a_burst_leaves_at_once_after_a_pause(world, loop, after):
    rate = Rate("10/second", burst=4)
    world.now += after
    world.send_all(rate, range(6), loop)
    world.run()
    seconds = [round(moment - world.moments[0], 1) for moment in world.moments]
    assert seconds == [0, 0, 0, 0, 0.1, 0.2]


def test_requests_leave_in_their_order_and_a_read_back_takes_the_next_turn(world, rate, loop):
    names = [f"{number}" for number in range(30)]
    world.send_all(rate, names, loop)
    world.run(world.now + 0.2)
    before = len(world.left)
    world.send_all(rate, ["first", "second"], loop, goes_first=True)
    world.run()
    assert world.names == [*names[:before], "first", "second", *names[before:]]
    assert world.mean >= 0.96 * 50  # no turn is lost


def test_a_turn_of_a_request_that_is_cancelled_is_the_next_ones(world, rate, loop):
    waiting = world.send_all(rate, range(20), loop)
    world.run(world.now + 0.1)
    gone = waiting[len(world.left) : 15]
    for one in gone:
        one.stop(KeyboardInterrupt())
    world.run()
    assert all(isinstance(one.error, KeyboardInterrupt) for one in gone)
    assert len(world.left) == 20 - len(gone)
    assert world.mean >= 0.96 * 50


def test_a_deadline_ends_the_wait_and_no_turn_is_lost(world, rate, loop):
    until = world.now + 0.25
    untils = [None, until] * 20
    waiting = [world.send(rate, "a search", loop, until=one) for one in untils]
    world.run(until)
    late = [one for one in waiting if one.error is not None]
    assert all(isinstance(one.error, RequestTimeoutError) for one in late)
    assert {one.error.outcome for one in late if one.error} == {"not_sent"}
    assert len(late) >= 10
    world.run()
    assert len(world.left) == 40 - len(late)
    assert world.mean >= 0.96 * 50


@pytest.mark.parametrize("seconds", [float("inf"), 10])
def test_a_loop_that_does_not_wake_holds_up_no_other(world, rate, loop, seconds):
    stalled = Loop()
    for number in range(3):
        world.send(rate, f"stalled {number}", stalled)
        world.send(rate, f"{number}", loop)
    world.run(world.now)
    stalled.free_at = world.now + seconds
    world.run(world.now + 30)
    assert [name for name in world.names if "stalled" not in name] == ["0", "1", "2"]
    assert len(world.left) == (6 if seconds == 10 else 3 + world.names[0].startswith("stalled"))
    assert world.most <= 50


def test_the_storage_is_asked_once_for_all_that_wait_while_it_fails(world, loop, monkeypatch):
    rate = Rate("50/second")
    fail = Mock(side_effect=ConnectionFailedError("the storage failed"))
    with monkeypatch.context() as patch:
        patch.setattr(rate._queue().schedule, "reserve", fail)
        waiting = world.send_all(rate, range(30), loop)
        world.run()
    assert [type(one.error) for one in waiting] == [ConnectionFailedError] * 30
    assert fail.call_count == 1
    world.now += 2
    world.send(rate, "afterwards", loop)
    world.run()
    assert world.names == ["afterwards"]


def test_a_request_that_does_not_look_again_is_passed_within_two_seconds(rate):
    queue = rate._queue()
    stalled, waiting = (queue.join(0.0, goes_first=False) for _ in range(2))
    assert queue.take(stalled, 0.0) == 0.0
    again = queue.take(waiting, 0.0)
    assert again is not None
    assert 0.0 < again < 1.1
    assert queue.take(waiting, 2.1) == 0.0
