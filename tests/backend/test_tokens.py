"""A token of a function is renewed once for all who meet its end; a file's is read with care."""

import os
import select
import sys
import threading
import time
from functools import partial
from pathlib import Path

import anyio
import pytest

from ferry_sdk import ConfigurationError
from ferry_sdk._engine.token_file import FileToken
from tests.backend.gathering import UnderWay, at_once, eventually
from tests.support.trip import DAY, TRAVELLERS

CROWD = 50


class Tokens:
    """Gives a token that the service no longer takes, then good ones."""

    def __init__(self, good):
        self._good = good
        self._lock = threading.Lock()
        self._asking = self.asked = self.most = 0  # `most` of those who ask at the same time

    def __call__(self):
        self._begin()
        time.sleep(0.05)
        return self._end()

    async def awaited(self):
        self._begin()
        await anyio.sleep(0.05)
        return self._end()

    def _begin(self):
        with self._lock:
            self.asked += 1
            self._asking += 1
            self.most = max(self.most, self._asking)
            self._number = self.asked

    def _end(self):
        with self._lock:
            self._asking -= 1
            return self._good if self._number > 1 else "expired"


def rest(ferry):
    return ferry.catalogue.vehicle_types()


def mcp(ferry):
    return ferry.mcp.countries()


def test_a_crowd_makes_one_renewal(any_clients, ferry_sandbox):
    for is_awaited in {False, any_clients.is_async}:
        tokens = Tokens(ferry_sandbox.token)
        give = tokens.awaited if is_awaited else tokens
        ferry = any_clients(give, base_url=ferry_sandbox.base_url)
        views = [ferry, *(ferry.with_options(language=language) for language in ("fr", "it"))]
        pairs = [partial(call, view) for call in (rest, mcp) for view in views]
        assert all(one.value() for one in at_once(*pairs * (CROWD // 6)))
        assert (tokens.asked, tokens.most) == (2, 1)
        assert rest(ferry)
        assert tokens.asked == 2
        assert mcp(any_clients(give, base_url=ferry_sandbox.base_url))
        assert tokens.asked == 3, "a client of its own has a token of its own"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such files")
class SelfCalling:
    """A token function that calls its own client before it gives the token."""

    def __init__(self, good, call):
        self.ferry = None
        self._good, self._call = good, call
        self.records = []

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


CALLS = {
    "one call": lambda ferry: ferry.catalogue.vehicle_types(),
    "a search in threads or tasks": lambda ferry: ferry.trips.search(
        "Marseille", "La Goulette", on=DAY, passengers=TRAVELLERS[:1]
    ),
    "a call of MCP": lambda ferry: ferry.mcp.countries(),
}


@pytest.mark.parametrize("call", CALLS)
def test_a_token_function_may_call_its_client(any_clients, ferry_sandbox, call):
    token = SelfCalling(ferry_sandbox.token, CALLS[call])
    function = token.awaited if any_clients.is_async else token
    token.ferry = ferry = any_clients(function, base_url=ferry_sandbox.base_url)
    assert UnderWay(ferry.catalogue.ports).value()
    assert len(token.records) > 1


def test_a_token_of_a_file_is_read_again_and_one_that_comes_through_a_pipe_once(tmp_path):
    file = tmp_path / "token"
    file.write_text("\ufeffone\n", "utf-8")
    give = FileToken(file)
    assert give() == "one"
    file.write_text("two", "utf-8")
    assert give() == "two"
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


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such files")
def test_what_holds_no_token_is_refused_at_once(tmp_path, monkeypatch):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    (tmp_path / "binary").write_bytes(b"\xff" * 10)
    with (tmp_path / "huge").open("wb") as sparse:
        sparse.truncate(2**32)
    names = ("pipe", "folder", "binary", "huge", "missing")
    for file in (Path("/dev/zero"), Path("a\0b"), *(tmp_path / name for name in names)):
        error = UnderWay(lambda file=file: FileToken(file)).error()
        assert isinstance(error, ConfigurationError), file
        assert str(error).startswith(f"token file {file}: ")
    monkeypatch.setattr("ferry_sdk._runtime.files._READ_TIMEOUT", 0.05)
    writer = os.open(tmp_path / "pipe", os.O_RDWR)
    try:  # nothing comes through it
        assert "cannot be read" in str(UnderWay(lambda: FileToken(tmp_path / "pipe")).error())
    finally:
        os.close(writer)
