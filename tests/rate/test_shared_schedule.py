"""Processes that share a rate over Redis, in virtual time: its clock, its delays, its failures."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import pytest

from tests.rate.conftest import virtual_redis_in
from tests.rate.simulation import Loop, World
from tests.support.tiers import mostly_long

SECONDS = 20
PROCESSES = 8
LIMIT = 50
KEPT = LIMIT + 2
GIVEN_TWICE = LIMIT + 0.2 * LIMIT + 2
"""The most requests in a second of which turns of 0.2 seconds were given twice."""
ALL_GIVEN_TWICE = 2 * LIMIT
PAUSE = 2.5
"""Seconds for which Redis is paused."""
LONGEST_GAP = PROCESSES / (0.96 * LIMIT) + 2
"""Seconds without a request of one process, where a fair share has no more than the first part."""


@pytest.fixture(
    scope="module",
    params=mostly_long(
        [
            pytest.param(("50/second", 50), id="50 a second"),
            pytest.param(("1200/minute", 20), id="20 a second"),
            pytest.param(("5/second", 5), id="5 a second"),
        ]
    ),
)
def saturated(request, redis):
    """Return the limit, and a world in which four processes sent as much as it allows."""
    text, limit = request.param
    world = World()
    with virtual_redis_in(world, redis) as shared:
        for rate in shared.share(text, 4):
            world.saturate(rate, Loop(latency=0.008), seconds=10)
        world.run()
    return limit, world


def test_a_shared_rate_is_used(saturated):
    limit, world = saturated
    assert world.mean >= 0.93 * limit


def test_a_shared_rate_is_kept_in_every_second(saturated):
    limit, world = saturated
    assert world.most <= limit + 1


@pytest.mark.slow
def test_a_process_far_from_redis_has_its_share(world, virtual_redis):
    answer_from_afar(virtual_redis, world)
    for rate in virtual_redis.share("50/second", 2):
        world.saturate(rate, Loop(latency=0.008), seconds=10)
    world.run()
    assert world.mean >= 0.5 * 50 / 3


def test_a_read_back_passes_requests_of_other_processes(world, virtual_redis):
    loop = Loop()
    rates = virtual_redis.share("30/minute", 4)  # two seconds a turn
    for rate in rates:
        world.send_all(rate, range(5), loop)
    world.run(world.now + 5)
    before = len(world.left)
    world.send(rates[0], "read-back", loop, goes_first=True)
    world.run()
    assert world.names[before] == "read-back"


def pause(redis, world):
    redis.paused_until = world.now + PAUSE


def slow_down(redis, world):
    """Delay one of ten requests and answers by up to half a second."""
    usual_delay = redis.delay

    def delay():
        if world.random.random() < 0.1:
            return usual_delay() + world.random.uniform(0, 0.5)
        return usual_delay()

    redis.delay = delay


def answer_from_afar(redis, _world):
    redis.delay = lambda: 0.06


def set_clock(seconds):
    def change(redis, _world):
        redis.ahead += seconds

    return change


def lose(redis, _world):
    redis.client.flushall()


def fail_over(seconds):
    """Go on with a replica that is a second behind, and whose clock differs."""

    def change(redis, world):
        (key,) = redis.client.keys()
        old = redis.client.hgetall(key)

        def replace():
            redis.client.hset(key, mapping=old)
            redis.ahead += seconds

        world.at(world.now + 1, replace)

    return change


def to_and_fro(number):
    seconds = 0.5 if number % 2 == 0 else -0.5
    return 3 + number / 2, set_clock(seconds)


@dataclass(frozen=True)
class Disturbance:
    """What happens to Redis.

    Attributes:
        changes: For each change: the second when it happens, and a function that makes it.
        most: The most requests in any second that may follow.
        paused: Seconds in which nobody has a turn.
    """

    changes: Sequence[tuple[float, Callable[[object, World], None]]]
    most: float = KEPT
    paused: float = 0.0


EVERYTHING = [
    (3, pause),
    (4, set_clock(2)),
    (5.4, set_clock(-5)),
    (7, lose),
    (9, fail_over(0.7)),
]
PAUSES = [(3, pause), (9, pause), (15, pause)]
SET_FORWARD = [(3, set_clock(0.2)), (6, set_clock(1.1)), (9, set_clock(3600))]
SET_BACK = [(3, set_clock(-0.2)), (6, set_clock(-1.1)), (9, set_clock(-3600))]
TO_AND_FRO = [to_and_fro(number) for number in range(20)]
LOST_OFTEN = [(3 + number / 5, lose) for number in range(20)]
FAILOVERS = [(3, fail_over(0)), (6, fail_over(1.5)), (9, fail_over(-1.5))]


@pytest.fixture(
    scope="module",
    params=mostly_long(
        [
            pytest.param(Disturbance(EVERYTHING, GIVEN_TWICE, PAUSE), id="everything"),
            pytest.param(Disturbance([]), id="undisturbed"),
            pytest.param(Disturbance(PAUSES, paused=PAUSE), id="pauses"),
            pytest.param(Disturbance([(3, slow_down)]), id="slow answers"),
            pytest.param(Disturbance([(3, answer_from_afar)]), id="a slower network"),
            pytest.param(Disturbance(SET_FORWARD, GIVEN_TWICE), id="set forward"),
            pytest.param(Disturbance(SET_BACK), id="set back"),
            pytest.param(Disturbance(TO_AND_FRO, GIVEN_TWICE), id="to and fro"),
            pytest.param(Disturbance([(3, lose)], GIVEN_TWICE), id="lost"),
            pytest.param(Disturbance(LOST_OFTEN, ALL_GIVEN_TWICE), id="lost often"),
            pytest.param(Disturbance(FAILOVERS, GIVEN_TWICE), id="failovers"),
        ]
    ),
)
def disturbed(request, redis):
    """Return a disturbance of Redis, and the world in which processes sent meanwhile."""
    disturbance = request.param
    world = World()
    with virtual_redis_in(world, redis) as shared:
        for number, rate in enumerate(shared.share(f"{LIMIT}/second", PROCESSES)):
            world.saturate(rate, Loop(latency=0.005), seconds=SECONDS, name=f"{number}")
        for at, change in disturbance.changes:
            world.at(World.BEGINNING + at, partial(change, shared, world))
        world.run(World.BEGINNING + SECONDS)
    return disturbance, world


@pytest.mark.slow
def test_a_disturbance_exceeds_the_limit_by_little(disturbed):
    disturbance, world = disturbed
    assert world.most <= disturbance.most


def test_a_disturbance_starves_no_process(disturbed):
    disturbance, world = disturbed
    beginning, end = World.BEGINNING, World.BEGINNING + SECONDS
    longest_gaps = {}
    for process in range(PROCESSES):
        own = [moment for moment, name in world.left if name == f"{process}"]
        gaps = [after - before for before, after in pairwise([beginning, *own, end])]
        longest_gaps[process] = max(gaps)
    assert max(longest_gaps.values()) <= LONGEST_GAP + disturbance.paused, longest_gaps
