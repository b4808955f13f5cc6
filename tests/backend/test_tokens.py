"""A token of a function is renewed once for all who meet its end; a file's is read with care."""

import os
import select
import sys
import threading
import time
from functools import partial

import anyio
import pytest

from ferry_sdk import AsyncFerry, ConfigurationError
from ferry_sdk._engine.token_file import FileToken
from tests.backend.gathering import UnderWay, at_once, eventually
from tests.support.both import Waiting
from tests.support.trip import DAY, TRAVELLERS

CROWD = 48
on_posix = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such files")


class Tokens:
    """Gives a token that the service no longer takes, then good ones.

    Attributes:
        calls: How often a token was asked for.
        most: How many asked at the same time, at most.
    """

    def __init__(self, good):
        self.calls = 0
        self.most = 0
        self._good = good
        self._lock = threading.Lock()
        self._asking = 0

    def __call__(self):
        number = self._begin()
        time.sleep(0.05)
        return self._end(number)

    async def awaited(self):
        number = self._begin()
        await anyio.sleep(0.05)
        return self._end(number)

    def _begin(self):
        with self._lock:
            self.calls += 1
            self._asking += 1
            self.most = max(self.most, self._asking)
            return self.calls

    def _end(self, number):
        with self._lock:
            self._asking -= 1
            return self._good if number > 1 else "expired"


@pytest.fixture
def tokens(ferry_sandbox):
    return Tokens(ferry_sandbox.token)


def rest(ferry):
    return ferry.catalogue.vehicle_types()


def mcp(ferry):
    return ferry.mcp.countries()


def check_one_renewal(ferry, tokens):
    """Check that a crowd of callers asks for one token, after the one that had expired."""
    views = [ferry, ferry.with_options(language="fr"), ferry.with_options(language="it")]
    calls = [partial(call, view) for call in (rest, mcp) for view in views]
    crowd = at_once(*calls * (CROWD // len(calls)))
    assert all(call.value() for call in crowd)
    assert (tokens.calls, tokens.most) == (2, 1)
    assert rest(ferry)
    assert tokens.calls == 2


@pytest.mark.slow
def test_a_crowd_makes_one_renewal(any_clients, ferry_sandbox, tokens):
    check_one_renewal(any_clients(tokens, base_url=ferry_sandbox.base_url), tokens)


@pytest.mark.slow
def test_a_crowd_awaits_one_renewal(portal, ferry_sandbox, tokens):
    aferry = AsyncFerry(tokens.awaited, base_url=ferry_sandbox.base_url)
    with Waiting(aferry, portal) as ferry:
        check_one_renewal(ferry, tokens)


def test_each_client_has_its_own_token(any_clients, ferry_sandbox, tokens):
    assert rest(any_clients(tokens, base_url=ferry_sandbox.base_url))
    assert tokens.calls == 2
    assert mcp(any_clients(tokens, base_url=ferry_sandbox.base_url))
    assert tokens.calls == 3


class SelfCalling:
    """A token function that calls its own client before it gives the token."""

    def __init__(self, good, call):
        self.ferry = None
        self.records = []
        self._good = good
        self._call = call

    def __call__(self):
        if not self.records:
            self.records.append("called")
            self.records += self._call(self.ferry)
        return self._good

    async def awaited(self):
        if not self.records:
            self.records.append("called")
            self.records += await self._call(self.ferry._target)
        return self._good


def search(ferry):
    """Search in several threads or tasks."""
    return ferry.trips.search("Marseille", "La Goulette", on=DAY, passengers=TRAVELLERS[:1])


@pytest.mark.parametrize("call", [rest, mcp, search])
def test_a_token_function_may_call_its_client(any_clients, ferry_sandbox, call):
    token = SelfCalling(ferry_sandbox.token, call)
    function = token.awaited if any_clients.is_async else token
    ferry = any_clients(function, base_url=ferry_sandbox.base_url)
    token.ferry = ferry
    assert UnderWay(ferry.catalogue.ports).value()
    assert len(token.records) > 1


def test_a_token_file_is_read_again(tmp_path):
    file = tmp_path / "token"
    file.write_text("\ufeffone\n", "utf-8")
    give = FileToken(file)
    assert give() == "one"
    file.write_text("two", "utf-8")
    assert give() == "two"


@on_posix
def test_a_pipe_is_read_once(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = os.open(pipe, os.O_RDWR)
    reading = UnderWay(lambda: FileToken(pipe))
    os.write(writer, b"to")
    os.write(writer, b"ken\n")
    eventually(lambda: not select.select([writer], [], [], 0)[0])  # it has been read
    os.close(writer)
    give = reading.value()
    assert (give(), give()) == ("token", "token")


@pytest.fixture
def folder(tmp_path):
    """A folder of files that hold no token."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    (tmp_path / "binary").write_bytes(b"\xff" * 10)
    with (tmp_path / "huge").open("wb") as sparse:
        sparse.truncate(2**32)
    return tmp_path


@on_posix
@pytest.mark.parametrize(
    "name",
    [
        pytest.param("/dev/zero", id="device"),
        pytest.param("a\0b", id="no name of a file"),
        "pipe",
        "folder",
        "binary",
        "huge",
        "missing",
    ],
)
def test_a_file_without_a_token_is_refused(folder, name):
    file = folder / name  # of an absolute name, the folder is left out
    error = UnderWay(lambda: FileToken(file)).error()
    assert isinstance(error, ConfigurationError)
    assert str(error).startswith(f"token file {file}: ")


@on_posix
def test_a_silent_pipe_is_refused(folder, monkeypatch):
    monkeypatch.setattr("ferry_sdk._runtime.files._READ_TIMEOUT", 0.05)
    writer = os.open(folder / "pipe", os.O_RDWR)
    try:
        error = UnderWay(lambda: FileToken(folder / "pipe")).error()
        assert "cannot be read" in str(error)
    finally:
        os.close(writer)
