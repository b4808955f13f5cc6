"""A season at one rate over several processes, one of which is killed in the middle."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import date, timedelta
from multiprocessing import get_context
from pathlib import Path

from benchmarks._payload import search_answer
from ferry_sdk import AsyncFerry, Rate, Route
from ferry_sdk.scan import FareScan, Party
from tests.scan.season import rows_of

WORKERS = 4
PART = 20
LATENCY = 0.3
PARTIES = 4
COMPANIES = 5
ROOT = Path(__file__).parents[2]
WORKER = "x-worker"
IMPORTED = (
    "anyio._backends._asyncio",
    "ferry_sdk._engine.retry",
    "ferry_sdk._transport.default_client",
    "ferry_sdk.scan.runner",
    "pyrate_limiter",
    "redis",
    "tenacity",
)
"""What a worker imports with its first request."""


@dataclass
class CountingService:
    """A service that gives every search the same answer after a while, and notes who asked.

    Attributes:
        sent: The search and the process of each request.
        base_url: Its address.
    """

    sent: list[tuple[str, int]] = field(default_factory=list)
    base_url: str = ""

    def add(self, head, body):
        asked = json.loads(body)
        request = asked["request"]
        names = ("company", "out_journey_id", "out_at")
        key = "/".join(str(request[name]) for name in names)
        (worker,) = (
            int(line.partition(":")[2])
            for line in head.lower().splitlines()
            if line.startswith(WORKER)
        )
        self.sent.append((f"{key}/{len(asked['passengers'])}", worker))

    async def answer(self, reader, writer):
        content = search_answer(2)
        head = (
            f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(content)}"
        )
        reply = head.encode() + b"\r\n\r\n" + content
        try:
            while True:
                request = (await reader.readuntil(b"\r\n\r\n")).decode()
                (length,) = (
                    int(line.partition(":")[2])
                    for line in request.lower().splitlines()
                    if line.startswith("content-length:")
                )
                self.add(request, await reader.readexactly(length))
                await asyncio.sleep(LATENCY)
                writer.write(reply)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    @contextmanager
    def run(self):
        """Serve in a thread for the block."""
        loop = asyncio.new_event_loop()
        server = loop.run_until_complete(asyncio.start_server(self.answer, "127.0.0.1", 0))
        self.base_url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        thread = threading.Thread(target=loop.run_forever)
        thread.start()
        try:
            yield
        finally:
            loop.call_soon_threadsafe(loop.stop)
            thread.join()
            server.close()
            tasks = asyncio.all_tasks(loop)
            for task in tasks:
                task.cancel()
                with suppress(asyncio.CancelledError):
                    loop.run_until_complete(task)
            loop.close()


def new_scan(folder, searches):
    companies = tuple(f"C{number}" for number in range(COMPANIES))
    days = searches // COMPANIES // PARTIES
    first = date(2050, 6, 1)
    adult = {"type": "Adult", "gender": "Female", "age": 34}
    scan = FareScan(
        folder,
        routes=[Route("J", "ITGOA", "TNLGN", "Genoa", "Tunis", companies, timedelta(hours=24))],
        dates=(first, first + timedelta(days=days - 1)),
        parties=[Party(f"party of {size}", [adult] * size) for size in range(1, PARTIES + 1)],
        part_size=PART,
    )
    assert scan.size == searches
    return scan


def make_client():
    rate = Rate(f"{os.environ['RATE']}/second", storage=os.environ["STORAGE"])
    return AsyncFerry("token", limiter=rate, default_headers={WORKER: str(os.getpid())})


def run_scan(executor, folder, searches):
    """Run the scan; a broken pool is replaced by another one."""
    scan = new_scan(folder, searches)
    context = get_context("forkserver")  # the next pool has imported everything already
    context.set_forkserver_preload([make_client.__module__, *IMPORTED])
    while not scan.report.is_complete:
        if executor == "dask":
            from distributed import Client, LocalCluster

            options = {"dashboard_address": None, "threads_per_worker": 1}
            with LocalCluster(n_workers=WORKERS, **options) as cluster, Client(cluster) as client:
                scan.run(make_client, executor=client.get_executor(), workers=WORKERS)
        else:
            try:
                with ProcessPoolExecutor(WORKERS, context) as pool:
                    scan.run(make_client, executor=pool, workers=WORKERS)
            except BrokenExecutor as error:
                sys.stderr.write(f"{error}\n")


def kill_in_the_middle(executor, killed, *, searches, rate, storage):
    """Run a scan, kill a process by SIGKILL when half of the searches were asked, and go on.

    Returns:
        The searches that were asked, as often as each was.
    """
    service = CountingService()
    with tempfile.TemporaryDirectory() as home, service.run():
        folder = Path(home, "fares")
        command = [sys.executable, "-m", __name__, executor, f"{searches}"]
        environment = {
            **os.environ,
            "FERRY_BASE_URL": service.base_url,
            "RATE": f"{rate}",
            "STORAGE": storage,
            "FOLDER": str(folder),
            "PYTHONPATH": str(ROOT),
        }
        groups = []

        def begin():
            process = subprocess.Popen(command, cwd=ROOT, env=environment, start_new_session=True)
            groups.append(process.pid)
            return process

        process = begin()
        try:
            while len(service.sent) < searches // 2:
                assert process.poll() is None
                time.sleep(0.01)
            if killed == "worker":
                os.kill(service.sent[-1][1], signal.SIGKILL)
            else:
                process.kill()
                process.wait()
                process = begin()
            assert process.wait() == 0
        finally:
            for group in groups:  # the workers of a killed process wait for it forever
                with suppress(ProcessLookupError):
                    os.killpg(group, signal.SIGKILL)
            process.wait()
        asked = Counter(key for key, _ in service.sent)
        rows = rows_of(folder)
        assert {row["status"] for row in rows} == {"answered"}
        fares = Counter(row["search"] for row in rows)
        assert len(fares) == len(asked)
        assert max(fares.values()) == min(fares.values())
    return asked


def main():
    """Run the scan in a process of its own: the arguments are the executor and the searches."""
    executor, searches = sys.argv[1:]
    run_scan(executor, Path(os.environ["FOLDER"]), int(searches))


if __name__ == "__main__":
    from tests.scan import crashes  # workers find the functions under this name

    crashes.main()
