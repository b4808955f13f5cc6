"""Processes that share a rate over Redis, in virtual time: its clock, its delays, its failures."""

from functools import partial
from itertools import pairwise

import pytest

from tests.rate.simulation import Loop
from tests.support.tiers import mostly_long

PROCESSES = 8


@pytest.mark.parametrize(
    ("text", "limit"), mostly_long([("50/second", 50), ("1200/minute", 20), ("5/second", 5)])
)
def test_the_rate_is_used_and_kept_in_every_second(world, virtual_redis, text, limit):
    for rate in virtual_redis.share(text, 4):
        world.saturate(rate, Loop(latency=0.008), seconds=10)
    world.run()
    assert world.mean >= 0.93 * limit
    assert world.most <= limit + 1


def test_a_process_far_from_the_storage_has_its_share(world, virtual_redis):
    answer_from_afar(virtual_redis, world)
    for rate in virtual_redis.share("50/second", 2):
        world.saturate(rate, Loop(latency=0.008), seconds=10)
    world.run()
    assert world.mean >= 0.5 * 50 / 3


def test_a_read_back_passes_what_waits_in_other_processes(world, virtual_redis):
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
    redis.paused_until = world.now + 2.5


def slow_down(redis, world):
    before = redis.delay
    redis.delay = lambda: before() + (world.random.random() < 0.1) * world.random.uniform(0, 0.5)


def answer_from_afar(redis, _):
    redis.delay = lambda: 0.06


def step(seconds):
    return lambda redis, _: setattr(redis, "ahead", redis.ahead + seconds)


def lose(redis, _):
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


DISTURBANCES = {
    "everything": [(3, pause), (4, step(2)), (5.4, step(-5)), (7, lose), (9, fail_over(0.7))],
    "undisturbed": [],
    "pauses": [(at, pause) for at in (3, 9, 15)],
    "slow answers": [(3, slow_down)],
    "a slower network": [(3, answer_from_afar)],
    "set forward": [(3, step(0.2)), (6, step(1.1)), (9, step(3600))],
    "set back": [(3, step(-0.2)), (6, step(-1.1)), (9, step(-3600))],
    "to and fro": [(3 + at / 2, step((-1) ** at * 0.5)) for at in range(20)],
    "lost": [(3, lose)],
    "lost often": [(3 + at / 5, lose) for at in range(20)],
    "failovers": [(3, fail_over(0)), (6, fail_over(1.5)), (9, fail_over(-1.5))],
}


@pytest.mark.parametrize("name", mostly_long(DISTURBANCES))
def test_no_disturbance_exceeds_the_limit_or_starves_a_process(world, virtual_redis, name):
    began, seconds = world.now, 20
    for number, rate in enumerate(virtual_redis.share("50/second", PROCESSES)):
        world.saturate(rate, Loop(latency=0.005), seconds=seconds, name=f"{number}")
    for at, change in DISTURBANCES[name]:
        world.at(began + at, partial(change, virtual_redis, world))
    world.run(began + seconds)
    assert world.most <= 52
    fair, paused = PROCESSES / 48, 2.5 * ("pauses" in name or name == "everything")
    for number in range(PROCESSES):
        own = [at for at, process in world.left if process == f"{number}"]
        gaps = [after - before for before, after in pairwise([began, *own, began + seconds])]
        assert max(gaps) <= fair + paused + 2
