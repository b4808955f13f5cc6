"""One client in successive event loops, and in several at the same time."""

from __future__ import annotations

import asyncio
import gc
import subprocess
import sys
from typing import TYPE_CHECKING

from ferry_sdk import AsyncFerry, DefaultAioHttpClient
from tests.backend.descriptors import connections_to
from tests.backend.gathering import UnderWay, at_once, eventually

if TYPE_CHECKING:
    from anyio.from_thread import BlockingPortal

    from ferry_sdk.sandbox import Sandbox


def ferry_with(http: DefaultAioHttpClient, sandbox: Sandbox) -> AsyncFerry:
    return AsyncFerry(sandbox.token, base_url=sandbox.base_url, http_client=http)


def test_one_event_loop_after_the_other(ferry_sandbox: Sandbox) -> None:
    http = DefaultAioHttpClient()
    ferry = ferry_with(http, ferry_sandbox)
    before = ferry_sandbox.counters.connections
    for count in range(1, 4):
        assert len(asyncio.run(ferry.catalogue.ports())) > 100
        assert ferry_sandbox.counters.connections == before + count
        assert not connections_to(ferry_sandbox.base_url)
        gc.collect()
    assert not http._resources
    asyncio.run(http.aclose())


def test_event_loops_at_the_same_time(ferry_sandbox: Sandbox) -> None:
    ferry = ferry_with(DefaultAioHttpClient(), ferry_sandbox)

    async def crowd() -> list[int]:
        return [len(one) for one in await asyncio.gather(*[ferry.catalogue.ports()] * 1)]

    calls = at_once(*[lambda: {*asyncio.run(crowd())} for _ in range(6)])
    assert len({count for call in calls for count in call.value()}) == 1


def test_closing_in_one_loop_ends_the_connections_of_another(
    ferry_sandbox: Sandbox, asyncio_portal: BlockingPortal
) -> None:
    http = DefaultAioHttpClient()
    ferry = ferry_with(http, ferry_sandbox)
    asyncio_portal.call(ferry.catalogue.ports)
    assert connections_to(ferry_sandbox.base_url)
    asyncio.run(http.aclose())
    eventually(lambda: not connections_to(ferry_sandbox.base_url))


def test_a_collected_client_leaves_no_connection(
    ferry_sandbox: Sandbox, asyncio_portal: BlockingPortal
) -> None:
    http = DefaultAioHttpClient()
    ferry = ferry_with(http, ferry_sandbox)
    asyncio_portal.call(ferry.catalogue.ports)
    del http, ferry
    gc.collect()
    eventually(lambda: not connections_to(ferry_sandbox.base_url))


def test_a_program_that_closes_nothing_ends_without_warnings(ferry_sandbox: Sandbox) -> None:
    program = f"""
import asyncio, gc
from ferry_sdk import AsyncFerry, DefaultAioHttpClient
ferry = AsyncFerry({ferry_sandbox.token!r}, base_url={ferry_sandbox.base_url!r},
                   http_client=DefaultAioHttpClient())
for _ in range(2):
    asyncio.run(ferry.catalogue.ports())
    gc.collect()


async def interrupted():
    asyncio.create_task(ferry.catalogue.ports())
    await asyncio.sleep(0.001)


asyncio.run(interrupted())
"""
    done = subprocess.run(
        [sys.executable, "-W", "always", "-X", "dev", "-c", program],
        capture_output=True,
        check=True,
        text=True,
    )
    noise = [line for line in done.stderr.splitlines() if not line.startswith("Executing ")]
    assert noise == []


def test_the_end_of_an_event_loop_ends_its_calls(ferry_sandbox: Sandbox) -> None:
    ferry_sandbox.faults.add("delay_before", "catalogue.ports", seconds=5)
    ferry = ferry_with(DefaultAioHttpClient(), ferry_sandbox)

    async def leaving() -> None:
        task = asyncio.create_task(ferry.catalogue.ports())
        await asyncio.sleep(0.1)
        del task

    UnderWay(lambda: asyncio.run(leaving())).value()
    assert not connections_to(ferry_sandbox.base_url)
