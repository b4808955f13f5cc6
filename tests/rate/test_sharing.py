"""One rate for threads, tasks, event loops and the processes of a fork."""

import asyncio
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
import trio

from ferry_sdk import AsyncFerry, Ferry, Rate
from tests.support.processes import run

EACH = 5

FORKING = """
import os, threading
from ferry_sdk import Rate

rate = Rate("1/minute")
rate.acquire("the only turn of this minute")
threading.Thread(target=rate.acquire, args=["waits"], daemon=True).start()
while not rate._queue()._others:
    pass
child = os.fork()
if not child:
    rate.acquire("a turn of the child's own")
    os._exit(0)
_, status = os.waitpid(child, 0)
print(os.waitstatus_to_exitcode(status), len(rate._queue()._others), flush=True)
os._exit(0)
"""


def test_threads_and_event_loops_share_a_rate(ferry_sandbox):
    rate = Rate("50/second")
    token, base_url = ferry_sandbox.token, ferry_sandbox.base_url

    async def search_in_tasks():
        async with AsyncFerry(token, base_url=base_url, limiter=rate) as ferry:
            await asyncio.gather(*(ferry.catalogue.vehicle_types() for _ in range(EACH)))

    async def search_in_trio():
        async with (
            AsyncFerry(token, base_url=base_url, limiter=rate) as ferry,
            trio.open_nursery() as nursery,
        ):
            for _ in range(EACH):
                nursery.start_soon(ferry.catalogue.vehicle_types)

    began = time.monotonic()
    with (
        Ferry(token, base_url=base_url, limiter=rate) as ferry,
        ThreadPoolExecutor(EACH + 3) as threads,
    ):
        calls = [threads.submit(ferry.catalogue.vehicle_types) for _ in range(EACH)]
        loops = [threads.submit(asyncio.run, search_in_tasks()) for _ in range(2)]
        loops.append(threads.submit(trio.run, search_in_trio))
        for ended in (*calls, *loops):
            ended.result()
    assert ferry_sandbox.counters.requests["catalogue.vehicle_types"] == 4 * EACH
    # The first turn may be up to 25 ms old when it is taken.
    assert time.monotonic() - began >= (4 * EACH - 1) / 50 - 0.025


def test_a_thread_sleeps_until_its_turn(monkeypatch):
    rate, waits = Rate("5/second"), 0
    queue = rate._queue()
    take = queue.take

    def count(*arguments):
        nonlocal waits
        waits += 1
        return take(*arguments)

    monkeypatch.setattr(queue, "take", count)
    for number in range(2):
        rate.acquire(f"{number}")
    assert 2 < waits < 20


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_a_forked_process_has_a_queue_of_its_own():
    ended = run([sys.executable, "-W", "ignore", "-c", FORKING])
    assert ended.stdout == "0 1\n", ended.stderr
