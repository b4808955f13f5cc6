"""A season at one rate over several processes, one of which is killed in the middle."""

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
from datetime import date, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing import get_context
from pathlib import Path

from benchmarks._payload import search_answer
from ferry_sdk import AsyncFerry, Rate, Route
from ferry_sdk.scan import FareScan, Party
from tests.scan.season import rows_of

WORKERS, PART, PARTIES, COMPANIES = 4, 20, 4, 5
LATENCY = 0.3
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


class Search(BaseHTTPRequestHandler):
    """Gives every search the same answer after a while; the server notes who asked."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body leave together

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        names = ("company", "out_journey_id", "out_at")
        search = *(asked["request"][name] for name in names), len(asked["passengers"])
        self.server.sent.append((search, int(self.headers[WORKER])))
        time.sleep(LATENCY)
        content = search_answer(2)
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", f"{len(content)}")
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        """Print nothing."""


@contextmanager
def counting_service():
    with ThreadingHTTPServer(("127.0.0.1", 0), Search) as service:
        service.sent = []
        service.socket.listen(128)
        thread = threading.Thread(target=service.serve_forever)
        thread.start()
        try:
            yield service
        finally:
            service.shutdown()
            thread.join()


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

    Returns how often each search was asked.
    """
    with tempfile.TemporaryDirectory() as home, counting_service() as service:
        folder = Path(home, "fares")
        command = [sys.executable, "-m", __name__, executor, f"{searches}"]
        environment = os.environ | {
            "FERRY_BASE_URL": f"http://127.0.0.1:{service.server_port}",
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
        asked = Counter(search for search, _ in service.sent)
        rows = rows_of(folder)
        assert {row["status"] for row in rows} == {"answered"}
        fares = Counter(row["search"] for row in rows)
        assert len(fares) == len(asked)
        assert max(fares.values()) == min(fares.values())
    return asked


def main():
    executor, searches = sys.argv[1:]
    run_scan(executor, Path(os.environ["FOLDER"]), int(searches))


if __name__ == "__main__":
    from tests.scan import crashes  # workers find the functions under this name

    crashes.main()
