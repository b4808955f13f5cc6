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


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(("50/second", 50), id="50 a second"),
        pytest.param(("1200/minute", 20), id="20 a second"),
        pytest.param(("5/second", 5), id="5 a second"),
    ],
)
def saturated(request):
    """The limit, and a world in which requests waited all the time."""
    text, limit = request.param
    world = World()
    world.saturate(Rate(text), Loop(latency=0.008), seconds=20)
    world.run()
    return limit, world


def test_the_rate_is_used(saturated):
    limit, world = saturated
    assert world.mean >= 0.93 * limit


def test_the_rate_is_kept_in_every_second(saturated):
    limit, world = saturated
    assert world.most <= limit


@pytest.fixture(scope="module")
def fast_world():
    """A world in which 2,000 requests left at up to 1,000 a second, and each woke late."""
    world = World()
    world.send_all(Rate("1000/second"), range(2000), Loop(latency=0.001))
    world.run()
    return world


@pytest.mark.slow
def test_a_fast_rate_is_used(fast_world):
    assert fast_world.mean >= 850


def test_a_fast_rate_is_kept(fast_world):
    assert fast_world.most <= 1000


STALLS = 10
STALLED_FOR = 0.7


@pytest.fixture(scope="module")
def stalling_world():
    """A world whose event loop is stalled every two seconds."""
    world = World()
    loop = Loop(latency=0.002)
    world.saturate(Rate("50/second"), loop, seconds=20)
    for number in range(STALLS):
        world.run(World.BEGINNING + 1 + 2 * number)
        loop.free_at = world.now + STALLED_FOR
    world.run()
    return world


def test_a_stalled_loop_does_not_catch_up(stalling_world):
    assert stalling_world.most <= 50


def test_a_rate_is_used_between_stalls(stalling_world):
    assert stalling_world.mean >= 0.93 * 50 * (1 - STALLED_FOR * STALLS / 20)


@pytest.mark.parametrize(
    "after",
    [
        pytest.param(0.0, id="at first"),
        pytest.param(5.0, id="later"),
    ],
)
def test_a_burst_leaves_at_once_after_a_pause(world, loop, after):
    rate = Rate("10/second", burst=4)
    world.now += after
    world.send_all(rate, range(6), loop)
    world.run()
    seconds = [round(moment - world.moments[0], 1) for moment in world.moments]
    assert seconds == [0, 0, 0, 0, 0.1, 0.2]


@pytest.fixture
def overtaken(world, rate, loop):
    """A world in which two read-backs joined when ten requests of thirty had left.

    Returns:
        The world, and the names of the requests that had left.
    """
    world.send_all(rate, range(30), loop)
    world.run(world.now + 0.2)
    before = [*world.names]
    world.send_all(rate, ["first", "second"], loop, goes_first=True)
    world.run()
    return world, before


def test_requests_leave_in_their_order(overtaken):
    world, _ = overtaken
    others = [name for name in world.names if name not in {"first", "second"}]
    assert others == [f"{number}" for number in range(30)]


def test_read_backs_take_the_next_turns(overtaken):
    world, before = overtaken
    assert world.names[: len(before) + 2] == [*before, "first", "second"]


def test_overtaking_loses_no_turn(overtaken):
    world, _ = overtaken
    assert world.mean >= 0.96 * 50


def test_the_next_request_takes_a_cancelled_turn(world, rate, loop):
    waiting = world.send_all(rate, range(20), loop)
    world.run(world.now + 0.1)
    cancelled = waiting[len(world.left) : 15]
    for request in cancelled:
        request.stop(KeyboardInterrupt())
    world.run()
    assert {type(request.error) for request in cancelled} == {KeyboardInterrupt}
    assert len(world.left) == 20 - len(cancelled)
    assert world.mean >= 0.96 * 50


@pytest.fixture
def half_late(world, rate, loop):
    """A world of 40 requests, of which every second one had a deadline after a quarter second.

    Returns:
        The world, and the requests that the deadline ended.
    """
    deadline = world.now + 0.25
    waiting = []
    for _ in range(20):
        waiting.append(world.send(rate, "a search", loop))
        waiting.append(world.send(rate, "a search", loop, until=deadline))
    world.run(deadline)
    late = [request for request in waiting if request.error is not None]
    world.run()
    return world, late


def test_a_deadline_ends_the_wait(half_late):
    _, late = half_late
    assert len(late) >= 10
    assert {type(request.error) for request in late} == {RequestTimeoutError}


def test_a_late_request_is_not_sent(half_late):
    _, late = half_late
    assert {request.error.outcome for request in late} == {"not_sent"}


def test_a_deadline_loses_no_turn(half_late):
    world, late = half_late
    assert len(world.left) == 40 - len(late)
    assert world.mean >= 0.96 * 50


@pytest.fixture(
    params=[
        pytest.param(float("inf"), id="ended"),
        pytest.param(10, id="stalled"),
    ]
)
def half_stalled(request, world, rate, loop):
    """A world of six requests, three of them in a loop that does not wake in time.

    Returns:
        The world, and whether that loop wakes at all.
    """
    stalled = Loop()
    for number in range(3):
        world.send(rate, f"stalled {number}", stalled)
        world.send(rate, f"{number}", loop)
    world.run(world.now)
    stalled.free_at = world.now + request.param
    world.run(world.now + 30)
    return world, request.param == 10


def test_a_stalled_loop_holds_up_no_other(half_stalled):
    world, _ = half_stalled
    assert [name for name in world.names if "stalled" not in name] == ["0", "1", "2"]


def test_a_loop_that_wakes_sends_its_requests(half_stalled):
    world, wakes = half_stalled
    left_before = world.names[0].startswith("stalled")
    assert len(world.left) == (6 if wakes else 3 + left_before)


def test_a_loop_that_wakes_keeps_the_rate(half_stalled):
    world, _ = half_stalled
    assert world.most <= 50


@pytest.fixture
def failing(world, rate, loop, monkeypatch):
    """The schedule that failed while 30 requests waited, and these requests."""
    fail = Mock(side_effect=ConnectionFailedError("the storage failed"))
    with monkeypatch.context() as patch:
        patch.setattr(rate._queue().schedule, "reserve", fail)
        waiting = world.send_all(rate, range(30), loop)
        world.run()
    return fail, waiting


def test_a_failing_storage_is_asked_once(failing):
    fail, waiting = failing
    assert [type(request.error) for request in waiting] == [ConnectionFailedError] * 30
    assert fail.call_count == 1


@pytest.mark.usefixtures("failing")
def test_a_storage_is_asked_again_afterwards(world, rate, loop):
    world.now += 2
    world.send(rate, "afterwards", loop)
    world.run()
    assert world.names == ["afterwards"]


def test_a_request_that_stalls_is_soon_passed(rate):
    queue = rate._queue()
    stalled = queue.join(0.0, goes_first=False)
    waiting = queue.join(0.0, goes_first=False)
    assert queue.take(stalled, 0.0) == 0.0
    assert 0.0 < queue.take(waiting, 0.0) < 1.1
    assert queue.take(waiting, 2.1) == 0.0
