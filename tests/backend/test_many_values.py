"""A reply's JSON is bounded before it becomes objects, and long reading stops nobody else."""

import gzip
import json
import threading
import time
import tracemalloc
from functools import cache
from unittest.mock import Mock

import anyio
import pytest
from pydantic_core import from_json

from ferry_sdk import AsyncFerry, Ferry, OutcomeUnknownError, UnexpectedResponseError
from ferry_sdk._engine.effects import RunBlocking
from ferry_sdk._engine.reply_limits import LONG_REPLY
from ferry_sdk._engine.requests import is_in_worker_thread
from ferry_sdk._protocols import json_body
from tests.backend.test_large_replies import PACKED, replied
from tests.engine.replies import good, scripted_driver
from tests.support.exchanges import caught
from tests.support.samples import BOOKING
from tests.support.tiers import mostly_long
from tests.transport.calls import CREATE, READ
from tests.transport.scripted import Service, serve

LISTS = b"[" + b"[]," * 5_000_000 + b"[]]"
OBJECTS = b"[" + b'{"a":0},' * 2_100_000 + b"{}]"
NUMBERS = b"[" + b"0," * 4_100_000 + b"0]"
MANY = {"lists": LISTS, "objects": OBJECTS, "numbers": NUMBERS}
NUMBER = 45_000
"""Ports of a list that is a long reply."""


def packed(content):
    return replied(gzip.compress(content, 1), PACKED)


@pytest.mark.parametrize("content", MANY.values(), ids=MANY)
def test_more_values_than_are_read_never_become_objects(content):
    tracemalloc.start()
    try:
        assert "JSON values" in str(caught(UnexpectedResponseError, json_body.decode_json, content))
        assert tracemalloc.get_traced_memory()[1] < 2 * 2**20, "a piece of it"
    finally:
        tracemalloc.stop()


def test_values_inside_a_text_count_too():
    content = json.dumps({"content": [{"type": "text", "text": LISTS.decode()}]}).encode()
    assert "JSON values" in str(caught(UnexpectedResponseError, json_body.decode_json, content))


def test_a_read_of_many_values_fails(clients):
    with Service(packed(LISTS)) as service:
        ferry = clients("t", base_url=service.url, max_retries=0, deadline=20)
        error = caught(UnexpectedResponseError, ferry.bookings.get, "b-1")
    assert "JSON values" in str(error)
    assert error.status_code == 200


def test_no_memory_for_a_body_loses_a_reply(clients, monkeypatch):
    full = Mock(side_effect=MemoryError)
    monkeypatch.setattr("ferry_sdk._transport.exchange.Exchange._feed", full)
    with Service(packed(b"{}"), serve) as service:
        ferry = clients("t", base_url=service.url, max_retries=0, deadline=20)
        assert "MemoryError" in str(caught(OutcomeUnknownError, CREATE.make, ferry))
        assert len(service.asked) == 1


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("bookings.create", OutcomeUnknownError),
        ("bookings.get", UnexpectedResponseError),
        ("mcp.create_booking", OutcomeUnknownError),
    ],
)
def test_no_memory_for_values_loses_a_reply(monkeypatch, name, kind):
    monkeypatch.setattr(json_body, "from_json", Mock(side_effect=MemoryError))
    error = caught(kind, scripted_driver(then=good(BOOKING)).raw, name, max_retries=0)
    assert "memory" in str(error)
    assert error.outcome == "unknown"


@cache
def list_of_ports(count):
    ports = [{"code": f"P{index:05}", "name": "Port", "country": "IT"} for index in range(count)]
    return json.dumps(ports).encode()


@pytest.mark.parametrize(
    ("count", "until"),
    [
        pytest.param(NUMBER, [1009.0], id="long"),
        pytest.param(10, [], id="short"),
    ],
)
def test_only_a_long_reply_is_read_aside(count, until):
    driver = scripted_driver(good(json.loads(list_of_ports(count))))
    ports = driver.raw("catalogue.ports", deadline=9.0).parse()
    asides = [effect for effect in driver.effects if isinstance(effect, RunBlocking)]
    assert [aside.until for aside in asides] == until
    assert len(ports) == count


def test_a_thread_without_deadline_reads_it_alone(monkeypatch):
    threads = []

    def note(*args, **options):
        threads.append(threading.get_ident())
        return from_json(*args, **options)

    monkeypatch.setattr(json_body, "from_json", note)
    with (
        Service(packed(list_of_ports(NUMBER))) as service,
        Ferry("t", base_url=service.url) as ferry,
    ):
        assert len(ferry.catalogue.ports()) == NUMBER
    assert threads == [threading.get_ident()]


@pytest.mark.parametrize("pattern", [b"%s", b'{"ports":%s}'], ids=["list", "list in an object"])
def test_a_long_reply_leaves_the_loop_to_others(monkeypatch, pattern):
    """A worker thread lets others in at every part: they do not wait for all of it."""
    content = pattern % list_of_ports(NUMBER)
    assert len(content) > LONG_REPLY
    threads = []

    def slow_at_the_first(*args, **options):
        threads.append(is_in_worker_thread.get())
        if len(threads) == 1:  # the first part takes as long as many others together
            time.sleep(0.15)
        return from_json(*args, **options)

    async def main(url):
        turns = 0

        async def tick():
            nonlocal turns
            while True:
                await anyio.sleep(0.001)
                turns += bool(threads)

        async with AsyncFerry("t", base_url=url) as ferry, anyio.create_task_group() as group:
            group.start_soon(tick)
            await ferry.catalogue.ports()
            group.cancel_scope.cancel()
        return turns

    monkeypatch.setattr(json_body, "from_json", slow_at_the_first)
    with Service(packed(content)) as service:
        assert anyio.run(main, service.url) > 5
    assert len(threads) > 20
    assert all(threads)


@pytest.mark.parametrize("call", mostly_long([CREATE, READ]))
def test_the_deadline_holds_while_a_reply_is_read(clients, monkeypatch, call):
    go_on = threading.Event()

    def slow(*args, **options):
        go_on.wait(20)
        return from_json(*args, **options)

    monkeypatch.setattr(json_body, "from_json", slow)
    with Service(packed(list_of_ports(NUMBER))) as service:
        ferry = clients("t", base_url=service.url, max_retries=0)
        try:
            for deadline in (0.2, 0.8, 3.2):  # a busy machine may take longer to send it
                with pytest.raises((OutcomeUnknownError, TimeoutError)) as info:
                    call.make(ferry.with_options(deadline=deadline))
                if service.asked:
                    break
            assert not go_on.is_set()
            assert getattr(info.value, "outcome", None) == "unknown"
        finally:
            go_on.set()
