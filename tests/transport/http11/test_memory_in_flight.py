"""The memory of calls in flight, most of which wait for a connection."""

import asyncio
import gc
import tracemalloc

import pytest

from benchmarks._payload import TOKEN, bookings
from benchmarks._service import FEW, Service
from ferry_sdk import AsyncFerry, Timeout

CALLS = 1000
MOST = 10_000
"""Bytes of a call."""


async def held(base_url):
    """Return the bytes that Python holds at the peak, for each call."""
    arguments = bookings()
    unlimited = Timeout(connect=None, read=None, write=None, pool=None)
    async with AsyncFerry(TOKEN, base_url=base_url, timeout=unlimited) as ferry:
        await ferry.bookings.create(**next(arguments))
        gc.collect()
        tracemalloc.start()
        try:
            await asyncio.gather(*(ferry.bookings.create(**next(arguments)) for _ in range(CALLS)))
            return tracemalloc.get_traced_memory()[1] / CALLS
        finally:
            tracemalloc.stop()


@pytest.mark.long
@pytest.mark.own_http_client(reason="it measures the library's own client")
def test_a_create_in_flight_takes_little_memory():
    with Service(FEW) as service:
        assert asyncio.run(held(service.base_url)) < MOST
