"""The examples of a worker and a backend, after a company moves and then cancels a sailing."""

import importlib
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace

import anyio
import pytest

from ferry_sdk import AsyncFerry, Ferry
from ferry_sdk.journal import Journal
from tests.support.exchanges import caught
from tests.support.trip import booked

EXAMPLES = Path(__file__).parents[2] / "examples"
ROUND = 6 * 3600.0


class FinishedError(Exception):
    """The recipe has acted on the cancellation."""


@pytest.fixture
def url(tmp_path):
    """The address of the shop's journal."""
    return f"sqlite:///{tmp_path / 'ferry.db'}"


@pytest.fixture
def sold(sandbox, url):
    """The id of a ticket, whose sailing moves after five days and is cancelled after six."""
    with (
        Journal(url) as journal,
        Ferry(sandbox.token, base_url=sandbox.base_url, journal=journal) as ferry,
    ):
        booking_id = booked(ferry).booking_id
        ferry.bookings.confirm(booking_id)

    sold_at = sandbox.clock.now()
    advance = sandbox.clock.advance
    pending = [
        (sold_at + timedelta(days=5), "departure_moved"),
        (sold_at + timedelta(days=6), "sailing_cancelled"),
    ]

    def advance_and_disrupt(by):
        advance(by)
        while pending and sandbox.clock.now() >= pending[0][0]:
            sandbox.faults.add(pending.pop(0)[1], "bookings.get")

    sandbox.clock.advance = advance_and_disrupt
    return booking_id


@pytest.fixture
def example(monkeypatch, sandbox):
    """Import an example, whose rounds last six hours in virtual time."""
    monkeypatch.syspath_prepend(EXAMPLES)
    monkeypatch.setenv("FERRY_TOKEN", sandbox.token)
    monkeypatch.setenv("FERRY_BASE_URL", sandbox.base_url)

    def load(name):
        module = importlib.import_module(name)
        monkeypatch.setattr(module, "ROUND", ROUND)
        return module

    return load


def test_worker_acts_on_a_cancelled_sailing(monkeypatch, sandbox, url, sold, example, capsys):
    worker = example("worker")

    def clock():
        return sandbox.clock.now().timestamp()

    def react(event):
        worker.react(event)
        if event.kind == "voided":
            raise FinishedError

    time = SimpleNamespace(sleep=sandbox.clock.advance, monotonic=clock)
    monkeypatch.setattr(worker, "time", time)
    monkeypatch.setattr(worker.signal, "signal", lambda *_: None)
    caught(FinishedError, worker.work, url, react=react)

    lines = capsys.readouterr().out.splitlines()
    assert lines == [f"{kind}: {sold}" for kind in ("ticketed", "changed", "voided")]
    assert sandbox.counters.requests["bookings.get"] < 15


def test_backend_acts_on_a_cancelled_sailing(monkeypatch, sandbox, url, sold, example):
    backend = example("backend")
    payments = backend.Payments()
    settle = backend.settle
    kinds = []

    async def settle_and_finish(event, payments):
        kinds.append(event.kind)
        await settle(event, payments)
        if event.kind == "voided":
            raise FinishedError

    async def sleep_until(moment):
        sandbox.clock.advance(max(moment - sandbox.clock.now().timestamp(), 0))

    async def follow():
        address = {"base_url": sandbox.base_url}
        with Journal(url) as journal:
            async with AsyncFerry(sandbox.token, **address, journal=journal) as ferry:
                await backend.follow(ferry, journal, payments, spare=60)

    monkeypatch.setattr(backend, "settle", settle_and_finish)
    monkeypatch.setattr(backend, "sleep_until", sleep_until)
    monkeypatch.setattr(backend, "current_time", lambda: sandbox.clock.now().timestamp())
    caught(FinishedError, anyio.run, follow)

    assert kinds == ["ticketed", "changed", "voided"]
    assert payments.states == {sold: "captured"}
