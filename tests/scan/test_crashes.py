"""Every search is there once, whichever process was killed in the middle."""

from importlib.util import find_spec

import pytest

from tests.scan.crashes import PART, WORKERS, kill_in_the_middle
from tests.support.redis_server import RedisServer, binary
from tests.support.tiers import LONG

SEARCHES = 184
needs_dask = pytest.mark.skipif(
    find_spec("distributed") is None, reason="dask.distributed is not installed"
)


@LONG
@pytest.mark.timeout(300)
@pytest.mark.skipif(binary() is None, reason="Redis is not installed: there is no redis-server")
@pytest.mark.parametrize("killed", ["worker", "process"])
@pytest.mark.parametrize("executor", ["pool", pytest.param("dask", marks=needs_dask)])
def test_only_searches_under_way_are_repeated(executor, killed, record_property):
    program = binary()
    assert program is not None
    with RedisServer(program) as redis:
        asked = kill_in_the_middle(executor, killed, searches=SEARCHES, rate=50, storage=redis.url)
    assert SEARCHES <= asked <= SEARCHES + WORKERS * PART
    record_property("scans whose processes were killed", 1)
