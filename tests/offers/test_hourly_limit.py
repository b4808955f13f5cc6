"""Four processes on one journal, killed and started again, keep the hourly limit together."""

import os
import random
import sys
import time
from datetime import timedelta

import pytest

from ferry_sdk import offers
from ferry_sdk.journal import Journal
from tests.support.processes import start
from tests.support.trip import DAY

LIMIT = 12
HOUR = 6.0
"""The seconds of an hour, as the processes have it."""
KILLS = 20
"""After so many, and enough searches, the test looks at what left when."""
LONGEST = 300.0
"""Seconds in which a busy machine gets there."""
WATCH = f"""
import os, sys, time
from datetime import timedelta

from ferry_sdk import Ferry, offers
from ferry_sdk.journal import Journal
from ferry_sdk.journal import offers as statements
from ferry_sdk.offers import watcher

statements.HOUR = timedelta(seconds={HOUR})
statements.CALL_TIME = timedelta(seconds=3)
watcher._ROUND_SECONDS = 2.0
watcher._POLL = 0.3
file = os.open(sys.argv[2], os.O_WRONLY | os.O_APPEND)


# It notes when a search leaves. All processes of a machine share the monotonic clock.
class Log:
    def acquire(self, operation):
        if operation == "availability.search":
            os.write(file, f"{{time.monotonic()}}\\n".encode())


limits = dict(deadline=600, every=timedelta(seconds=1), max_calls="{LIMIT}/hour")
with Journal(sys.argv[1]) as journal, Ferry(limiter=Log(), route_cache=sys.argv[3]) as ferry:
    for _ in offers.watch(ferry, journal, **limits):
        pass
"""


class Watchers:
    """Four processes that watch, each of which is started again when it is killed."""

    def __init__(self, url, sandbox, folder):
        self.log = folder / "searches"
        self.log.touch()
        address = {"FERRY_TOKEN": sandbox.token, "FERRY_BASE_URL": sandbox.base_url}
        self._environment = {**os.environ, **address}
        self._command = [sys.executable, "-c", WATCH, url, str(self.log), str(folder / "routes")]
        self._processes = [self._start() for _ in range(4)]
        self.kills = 0

    def _start(self):
        return start(self._command, env=self._environment)

    def kill(self, number):
        self._processes[number].kill()
        self._processes[number].wait()
        self.kills += 1
        self._processes[number] = self._start()

    def times(self):
        return [float(line) for line in self.log.read_text("ascii").split()]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self._processes:
            process.kill()
            process.wait()


@pytest.mark.long
@pytest.mark.timeout(400)
def test_processes_keep_the_limit_together(ferry_sandbox, url, tmp_path, record_property):
    wish = offers.Wish(
        "Tarifa",
        "MATNG",
        days=(DAY, DAY + timedelta(days=29)),
        passengers=[{"type": "Adult", "gender": "Female", "age": 34}],
        companies=["FRSIBERIA"],
        rules=[offers.Opens()],
    )
    with Journal(url) as journal:
        offers.add(journal, wish, key="w")
    lot = random.Random(7)  # noqa: S311 -- no secret

    with Watchers(url, ferry_sandbox, tmp_path) as watchers:
        until = time.monotonic() + LONGEST
        while len(watchers.times()) < LIMIT:  # until the first processes have begun
            assert time.monotonic() < until
            time.sleep(0.1)
        while watchers.kills < KILLS or len(watchers.times()) <= 2 * LIMIT:
            assert time.monotonic() < until
            time.sleep(lot.uniform(0.5, 3))
            watchers.kill(lot.randrange(4))
        times = sorted(watchers.times())

    for begin in times:
        assert sum(begin <= at < begin + HOUR for at in times) <= LIMIT
    record_property("searches of four processes", len(times))
    record_property("watches of offers killed while they shared a limit", watchers.kills)
