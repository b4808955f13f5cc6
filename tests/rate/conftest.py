"""A Redis server, and rates that share it in virtual time."""

from contextlib import contextmanager

import pytest

from ferry_sdk.rate import redis_schedule
from tests.backend.conftest import journal
from tests.rate.simulation import World
from tests.rate.virtual_redis import VirtualRedis
from tests.support.redis_server import RedisServer, binary

__all__ = ["journal"]


@pytest.fixture(scope="session")
def redis():
    """A Redis server; it keeps what earlier tests left there."""
    program = binary()
    if program is None:
        pytest.skip("Redis is not installed: there is no redis-server")
    with RedisServer(program) as server:
        yield server


@pytest.fixture
def url(redis):
    """The URL of an empty Redis."""
    redis.restart()
    return redis.url


@pytest.fixture
def world():
    return World()


@contextmanager
def virtual_redis_in(world, redis):
    """Give an empty Redis in the same data centre.

    What its processes draw at random is equal in each run.
    """
    redis.restart()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(redis_schedule, "random", world.random)
        yield VirtualRedis(world, redis.url, delay=lambda: world.random.uniform(0.0002, 0.003))


@pytest.fixture
def virtual_redis(world, redis):
    """An empty Redis in the same data centre, in virtual time."""
    with virtual_redis_in(world, redis) as shared:
        yield shared
