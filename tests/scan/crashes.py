"""A season at one rate over several processes, one of which is killed in the middle."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor
from contextlib import suppress
from datetime import timedelta
from multiprocessing import get_context
from pathlib import Path

from ferry_sdk import AsyncFerry, Rate, Route
from ferry_sdk.sandbox import Sandbox
from ferry_sdk.sandbox.network.network import journey_id
from ferry_sdk.scan import FareScan, Party
from tests.scan.season import check_rows
from tests.support.trip import DAY, NOW

WORKERS, PART, PARTIES = 4, 20, 4
ENDS, COMPANIES = ("ITGOA", "TNLGN"), ("GNV", "CTN")
ROOT = Path(__file__).parents[2]


def new_scan(folder, searches):
    days = searches // len(COMPANIES) // PARTIES
    adult = {"type": "Adult", "gender": "Female", "age": 34}
    hours = timedelta(hours=24)
    scan = FareScan(
        folder,
        routes=[Route(journey_id(*ENDS), *ENDS, "Genoa", "Tunis", COMPANIES, hours)],
        dates=(DAY, DAY + timedelta(days=days - 1)),
        parties=[Party(f"party of {size}", [adult] * size) for size in range(1, PARTIES + 1)],
        part_size=PART,
    )
    assert scan.size == searches
    return scan


def make_client():
    with Path(os.environ["PIDS"]).open("a") as pids:
        pids.write(f"{os.getpid()}\n")
    return AsyncFerry(limiter=Rate(f"{os.environ['RATE']}/second", storage=os.environ["STORAGE"]))


def run_scan(executor, folder, searches):
    scan = new_scan(folder, searches)
    while not scan.report.is_complete:
        if executor == "dask":
            from distributed import Client, LocalCluster

            options = {"dashboard_address": None, "threads_per_worker": 1}
            with LocalCluster(n_workers=WORKERS, **options) as cluster, Client(cluster) as client:
                scan.run(make_client, executor=client.get_executor(), workers=WORKERS)
        else:
            try:
                with ProcessPoolExecutor(WORKERS, get_context("forkserver")) as pool:
                    scan.run(make_client, executor=pool, workers=WORKERS)
            except BrokenExecutor as error:
                sys.stderr.write(f"{error}\n")


def kill_in_the_middle(executor, killed, *, searches, rate, storage):
    """Run a scan, kill a process by SIGKILL when half of the searches were asked, and go on.

    Returns how many searches were asked.
    """
    with tempfile.TemporaryDirectory() as home, Sandbox(now=NOW) as sandbox:
        sandbox.faults.add("delay_before", "availability.search", times=None, seconds=0.3)

        def asked():
            return sandbox.counters.requests["availability.search"]

        folder, pids = Path(home, "fares"), Path(home, "pids")
        command = [sys.executable, "-m", __name__, executor, f"{folder}", f"{searches}"]
        variables = {
            "FERRY_TOKEN": sandbox.token,
            "FERRY_BASE_URL": sandbox.base_url,
            "RATE": f"{rate}",
            "STORAGE": storage,
            "PIDS": f"{pids}",
            "PYTHONPATH": f"{ROOT}",
        }
        groups = []

        def begin():
            environment = os.environ | variables
            process = subprocess.Popen(command, cwd=ROOT, env=environment, start_new_session=True)
            groups.append(process.pid)
            return process

        process = begin()
        try:
            while asked() < searches // 2:
                assert process.poll() is None
                time.sleep(0.01)
            if killed == "worker":
                os.kill(int(pids.read_text().split()[-1]), signal.SIGKILL)
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
        rows = check_rows(folder, size=searches)
        assert {row["status"] for row in rows} == {"answered", "nothing"}
        return asked()


def main():
    executor, folder, searches = sys.argv[1:]
    run_scan(executor, Path(folder), int(searches))


if __name__ == "__main__":
    from tests.scan import crashes  # workers find the functions under this name

    crashes.main()
