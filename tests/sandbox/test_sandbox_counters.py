"""The counters of the local service."""

from __future__ import annotations

import threading

import pytest

from ferry_sdk.sandbox.clock import Clock
from ferry_sdk.sandbox.counters import Counters, Effect


def test_requests_are_counted_by_operation():
    counters = Counters(Clock())
    for operation in ("bookings.get", "bookings.get", "tickets.get"):
        counters.request(operation)
    assert counters.requests == {"bookings.get": 2, "tickets.get": 1}
    assert counters.requests["bookings.create"] == 0


def test_effects_have_their_subject_and_time_in_order():
    clock = Clock()
    clock.freeze()
    counters = Counters(clock)
    counters.effect("bookings.create", "B1")
    clock.advance(60)
    counters.effect("bookings.confirm", "B1")
    first, second = counters.effects
    assert first == Effect(
        "bookings.create",
        "B1",
        second.at.fromtimestamp(second.at.timestamp() - 60, second.at.tzinfo),
    )
    assert second.at == clock.now()
    assert counters.effects_of("bookings.confirm") == (second,)
    assert counters.effects_of("tickets.cancel") == ()


def test_the_counters_return_copies():
    counters = Counters(Clock())
    before = counters.requests
    counters.request("tickets.get")
    assert before == {}
    with pytest.raises(TypeError):
        counters.requests["tickets.get"] = 7


def test_reset_clears_every_counter():
    counters = Counters(Clock())
    counters.request("tickets.get")
    counters.effect("tickets.cancel", "T1")
    counters.connection()
    assert counters.connections == 1
    counters.reset()
    assert (counters.requests, counters.effects, counters.connections) == ({}, (), 0)


def test_counts_of_several_threads_all_count():
    counters = Counters(Clock())

    def count():
        for _ in range(1000):
            counters.request("tickets.get")
            counters.effect("tickets.cancel", "T1")

    threads = [threading.Thread(target=count) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counters.requests["tickets.get"] == len(counters.effects) == 8000
