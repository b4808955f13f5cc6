"""The batch script, killed in the middle of a write and at any moment, books no trip twice."""

import csv
import os
import random
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from ferry_sdk.journal import Journal
from tests.support.processes import start
from tests.support.tiers import LONG
from tests.support.trip import DAY

SCRIPT = Path(__file__).parents[1] / "examples" / "batch.py"
TRIPS = 5
COLUMNS = "trip,company,origin,destination,date,age,first_name,last_name,most"
PATIENCE = 30.0

pytestmark = [LONG, pytest.mark.timeout(180)]


class Batch:
    """The script, its files, and the service that it books with."""

    def __init__(self, folder, sandbox):
        self.sandbox = sandbox
        self._files = (folder / "trips.csv", folder / "bookings.csv")
        self._settings = {"FERRY_TOKEN": sandbox.token, "FERRY_BASE_URL": sandbox.base_url}
        trips = [f"t{n},BALEARIA,Tarifa,MATNG,{DAY},{30 + n},Ada,Reyes,500" for n in range(TRIPS)]
        self._files[0].write_text("\n".join([COLUMNS, *trips]), "utf-8")

    def start(self):
        command = [sys.executable, str(SCRIPT), *map(str, self._files)]
        environment = {**os.environ, **self._settings}
        return start(command, env=environment, stderr=subprocess.PIPE, text=True)

    def finish(self):
        """Run the script to its end and return the rows of bookings."""
        process = self.start()
        _, printed = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0, printed
        assert "Booking" in printed
        with self._files[1].open(newline="", encoding="utf-8") as file:
            return [*csv.DictReader(file)]

    def unresolved(self):
        with Journal(f"sqlite:///{self._files[1]}.journal") as journal:
            return journal.unresolved()

    def effects(self, operation):
        """Return the subjects of what was done."""
        return [effect.subject for effect in self.sandbox.counters.effects_of(operation)]


@pytest.fixture
def batch(tmp_path, ferry_sandbox):
    """The script with five trips to book."""
    return Batch(tmp_path, ferry_sandbox)


def kill(process):
    process.kill()
    process.communicate()


def check(batch, rows):
    """Check that no trip is missing, booked twice or confirmed twice."""
    assert [row["trip"] for row in rows] == [f"t{n}" for n in range(TRIPS)]
    created = batch.effects("bookings.create")
    confirmed = batch.effects("bookings.confirm")
    assert max(Counter(confirmed).values()) == 1
    booked = {row["booking_id"] for row in rows if row["booking_id"]}
    assert booked <= {*created}
    asked = [row for row in rows if row["state"] == "ask"]
    assert len(created) <= len(booked) + len(asked)
    for row in rows:
        if row["state"] == "ticketed":
            assert row["booking_id"] in confirmed
            assert row["ticket"]


@pytest.mark.parametrize(("operation", "lost"), [("bookings.create", 1), ("bookings.confirm", 0)])
@pytest.mark.parametrize("kind", ["delay_after", "delay_before"])
def test_batch_killed_in_a_write_goes_on(batch, operation, kind, lost):
    seconds = 2 if kind == "delay_before" else 60
    batch.sandbox.faults.add(kind, operation, after=2, seconds=seconds)
    process = batch.start()
    until = time.monotonic() + PATIENCE
    while batch.sandbox.counters.requests[operation] < 3 or (
        kind == "delay_after" and len(batch.effects(operation)) < 3
    ):
        assert process.poll() is None
        assert time.monotonic() < until
        time.sleep(0.01)
    kill(process)
    while len(batch.effects(operation)) < 3:  # what had arrived is done, whoever hears of it
        assert time.monotonic() < until
        time.sleep(0.01)

    rows = batch.finish()
    check(batch, rows)
    assert Counter(row["state"] for row in rows) == Counter(ticketed=TRIPS - lost, ask=lost)
    assert len(batch.effects("bookings.create")) == TRIPS
    entries = {entry.correlation_id for entry in batch.unresolved()}
    assert entries == {row["correlation_id"] for row in rows if row["state"] == "ask"}
    assert batch.finish() == rows
    assert len(batch.effects("bookings.create")) == TRIPS


@pytest.mark.parametrize("seed", range(3))
def test_batch_killed_at_any_moment_goes_on(batch, seed):
    moments = random.Random(seed)  # noqa: S311 -- moments are no secrets
    for _ in range(3):
        asked = batch.sandbox.counters.requests["availability.search"]
        process = batch.start()
        while batch.sandbox.counters.requests["availability.search"] == asked:
            if process.poll() is not None:
                break
            time.sleep(0.002)
        time.sleep(moments.uniform(0, 0.15))
        kill(process)
    rows = batch.finish()
    check(batch, rows)
    assert {row["state"] for row in rows} <= {"ticketed", "ask", "payment_due"}


def test_next_run_takes_up_what_failed(batch):
    batch.sandbox.faults.add("rate_limited", "bookings.create", times=1, retry_after=3600)
    batch.sandbox.faults.add("price_change", "bookings.create", after=2)
    first = Counter(row["state"] for row in batch.finish())
    assert first == {"": 1, "refused": 1, "ticketed": TRIPS - 2}
    rows = batch.finish()
    check(batch, rows)
    assert Counter(row["state"] for row in rows) == {"refused": 1, "ticketed": TRIPS - 1}
    assert len(batch.effects("bookings.create")) == TRIPS
