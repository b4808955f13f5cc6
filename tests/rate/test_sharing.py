"""One rate for threads, tasks, event loops and the processes of a fork."""

import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from unittest.mock import Mock

import anyio
import pytest

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
    settings = {"base_url": ferry_sandbox.base_url, "limiter": Rate("50/second")}

    async def search_in_tasks():
        async with (
            AsyncFerry(ferry_sandbox.token, **settings) as ferry,
            anyio.create_task_group() as tasks,
        ):
            for _ in range(EACH):
                tasks.start_soon(ferry.catalogue.vehicle_types)

    began = time.monotonic()
    with (
        Ferry(ferry_sandbox.token, **settings) as ferry,
        ThreadPoolExecutor(EACH + 3) as threads,
    ):
        works = [threads.submit(ferry.catalogue.vehicle_types) for _ in range(EACH)]
        loops = ("asyncio", "asyncio", "trio")
        works += [threads.submit(anyio.run, search_in_tasks, backend=loop) for loop in loops]
        for work in works:
            work.result()
    assert ferry_sandbox.counters.requests["catalogue.vehicle_types"] == 4 * EACH
    # The first turn may be up to 25 ms old when it is taken.
    assert time.monotonic() - began >= (4 * EACH - 1) / 50 - 0.025


def test_a_thread_sleeps_until_its_turn(monkeypatch):
    rate = Rate("5/second")
    take = Mock(side_effect=rate._queue().take)
    monkeypatch.setattr(rate._queue(), "take", take)
    for number in range(2):
        rate.acquire(f"{number}")
    assert 2 < take.call_count < 20


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_a_forked_process_has_its_own_queue():
    ended = run([sys.executable, "-W", "ignore", "-c", FORKING])
    assert ended.stdout == "0 1\n", ended.stderr
