"""A scan over a cluster of Dask, of which a process is killed in the middle."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.scan.crashes import PART, WORKERS, kill_in_the_middle
from tests.support.redis_server import RedisServer, binary
from tests.support.tiers import LONG

if TYPE_CHECKING:
    from collections.abc import Callable

SEARCHES = 300


@LONG
@pytest.mark.timeout(300)
@pytest.mark.skipif(binary() is None, reason="Redis is not installed: there is no redis-server")
@pytest.mark.parametrize("killed", ["worker", "process"])
def test_a_cluster_repeats_no_more_than_what_was_under_way(
    killed: str, record_property: Callable[[str, object], None]
) -> None:
    program = binary()
    assert program is not None
    with RedisServer(program) as redis:
        found = kill_in_the_middle("dask", killed, searches=SEARCHES, rate=50, storage=redis.url)
    assert found.searches == SEARCHES
    assert found.duplicates <= WORKERS * PART
    record_property("scans whose processes were killed", 1)
