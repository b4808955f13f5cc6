"""Calls end while a test has frozen the clock, as freezegun does."""

import asyncio
import socket
import threading
import time
from functools import partial

import pytest
from pydantic import VERSION

from ferry_sdk import OutcomeUnknownError, Rate, RequestTimeoutError, Timeout
from ferry_sdk._transport.http11 import client
from ferry_sdk.journal import time_limits
from tests.backend.gathering import UnderWay
from tests.support.blocks import python
from tests.transport import scripted as do
from tests.transport.calls import CREATE, READ, error_once_sent
from tests.transport.scripted import Service

pytestmark = pytest.mark.own_http_client(reason="httpx waits for the clock in its own way")

HANG = do.in_turn(do.read_request, do.hang)
FIRST_IMPORTS = """
import importlib
import pkgutil
import sys
from contextlib import suppress

from freezegun import freeze_time
from pydantic import BaseModel

def import_everything():
    import ferry_sdk
    for module in pkgutil.walk_packages(ferry_sdk.__path__, "ferry_sdk."):
        if not module.name.endswith("__main__"):
            with suppress(ModuleNotFoundError):  # an extra is not installed
                importlib.import_module(module.name)

def all_models(model=BaseModel):
    for subclass in model.__subclasses__():
        yield subclass
        yield from all_models(subclass)

import_everything()  # what it needs: some libraries in C crash if they are imported while frozen
for name in [name for name in sys.modules if name.partition(".")[0] == "ferry_sdk"]:
    del sys.modules[name]

from ferry_sdk import Ferry
with freeze_time("2027-06-01"):
    import_everything()
    for model in all_models():
        if model.__module__.startswith("ferry_sdk."):
            model.model_rebuild()
"""


def refuse(connection):
    while connection.request():
        connection.send("503 Service Unavailable")


@pytest.fixture
def frozen(clients, monkeypatch):
    """Every clock of `time` stands still; an event loop has the real one (``real_asyncio``)."""
    real = time.monotonic
    monkeypatch.setattr(asyncio.BaseEventLoop, "time", lambda _: real())
    for name in ("monotonic", "time", "perf_counter"):
        monkeypatch.setattr(time, name, lambda: 1_811_808_000.0)
    return partial(clients, "t", timeout=20)


@pytest.mark.skipif(
    tuple(map(int, VERSION.split(".")[:2])) < (2, 14),
    reason="an older pydantic finds only one of the real class and its stand-in",
)
def test_package_can_be_imported_while_time_is_frozen(tmp_path):
    """freezegun puts stand-ins for `date` and `datetime`, which pydantic does not know."""
    python("-W", "ignore", "-c", FIRST_IMPORTS, cwd=tmp_path)


def test_a_retry_is_sent(frozen, monkeypatch):
    monkeypatch.setattr("ferry_sdk._engine.retry._retry_delay", lambda _: 0.1)
    with Service(do.in_turn(do.read_request, do.cut), do.serve) as service:
        raw = UnderWay(partial(READ.make, frozen(base_url=service.url))).value()
        assert len(raw.attempts) == 2


@pytest.mark.parametrize(
    ("call", "kind"), [(READ, RequestTimeoutError), (CREATE, OutcomeUnknownError)]
)
def test_a_deadline_ends_a_call(frozen, call, kind):
    with Service(HANG) as service:

        def end(deadline):
            ferry = frozen(base_url=service.url, deadline=deadline)
            return UnderWay(partial(call.make, ferry)).error()

        assert type(error_once_sent(end)) is kind


def test_a_timeout_ends_a_call(frozen):
    with Service(HANG) as service:
        ferry = frozen(base_url=service.url, max_retries=0).with_options(timeout=0.2)
        assert type(UnderWay(partial(READ.make, ferry)).error()) is RequestTimeoutError


def test_polling_ends_in_time(frozen):
    with Service(refuse) as service:
        ferry = frozen(base_url=service.url, max_retries=0)
        wait = partial(ferry.bookings.wait, "b-1", until="ticketed", deadline=0.6)
        assert type(UnderWay(wait).error()) is RequestTimeoutError


def test_reading_back_ends_in_time(frozen):
    with Service(do.in_turn(do.read_request, do.cut), refuse) as service:

        def end(deadline):
            ferry = frozen(base_url=service.url, deadline=deadline)
            return UnderWay(partial(ferry.bookings.confirm, "b-1")).error()

        assert type(error_once_sent(end)) is OutcomeUnknownError


def test_the_wait_for_a_connection_ends(frozen, monkeypatch):
    monkeypatch.setattr(client, "MOST_CONNECTIONS", 1)
    taken = threading.Event()
    with Service(do.in_turn(do.read_request, lambda _: taken.set(), do.hang)) as service:
        ferry = frozen(base_url=service.url, max_retries=0)
        UnderWay(ferry.catalogue.ports)
        assert taken.wait(20)
        view = ferry.with_options(timeout=Timeout(pool=0.1))
        assert UnderWay(partial(READ.make, view)).error().outcome == "not_sent"


@pytest.mark.usefixtures("frozen")
def test_the_watch_of_a_database_ends_in_time(monkeypatch):
    monkeypatch.setattr(time_limits, "LIMIT", 0.1)
    connection, silent_server = socket.socketpair()
    with connection, silent_server, time_limits.limit_time() as limit:
        watch = time_limits.Watch(limit.until)
        watch.attach(connection)
        connection.settimeout(20)
        assert connection.recv(1) == b"", "the watch shuts it down"


def test_a_limiter_lets_requests_leave(frozen):
    with Service(do.serve) as service:
        ferry = frozen(base_url=service.url, limiter=Rate("5/second"))
        for _ in range(3):
            UnderWay(partial(READ.make, ferry)).value()
        assert service.asked == [READ.line] * 3


def test_call_that_joined_a_write_has_a_deadline(frozen):
    taken = threading.Event()
    with Service(do.in_turn(do.read_request, lambda _: taken.set(), do.hang)) as service:
        ferry = frozen(base_url=service.url)
        UnderWay(partial(ferry.bookings.confirm, "b-1"))
        assert taken.wait(20)
        confirm = partial(ferry.with_options(deadline=0.3).bookings.confirm, "b-1")
        assert isinstance(UnderWay(confirm).error(), RequestTimeoutError | OutcomeUnknownError)
