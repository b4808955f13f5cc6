"""A Redis server, and rates that share it in virtual time."""

import pytest

from ferry_sdk.rate import redis_schedule
from tests.backend.conftest import journal
from tests.rate.simulation import World
from tests.rate.virtual_redis import VirtualRedis
from tests.support.redis_server import RedisServer, binary

__all__ = ["journal"]


@pytest.fixture(scope="session")
def redis():
    program = binary()
    if program is None:
        pytest.skip("Redis is not installed: there is no redis-server")
    with RedisServer(program) as server:
        yield server


@pytest.fixture
def url(redis):
    redis.restart()
    return redis.url


@pytest.fixture
def world():
    return World()


@pytest.fixture
def virtual_redis(world, url, monkeypatch):
    """A Redis in the same data centre. What its processes draw at random is equal in each run."""
    monkeypatch.setattr(redis_schedule, "random", world.random)
    return VirtualRedis(world, url, delay=lambda: world.random.uniform(0.0002, 0.003))
