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

from ferry_sdk import ConfigurationError, Ferry
from ferry_sdk._engine.token_file import FileToken
from tests.backend.gathering import UnderWay, at_once, eventually

CROWD = 50


class Tokens:
    """Gives a token that the service no longer takes, then good ones.

    Attributes:
        asked: How often it was asked.
        most: How many asked at the same time at most.
    """

    def __init__(self, good, *, is_first_good=False):
        self._good = good
        self._is_first_good = is_first_good
        self._lock = threading.Lock()
        self._asking = 0
        self.asked = 0
        self.most = 0

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
            return self._good if self._is_first_good or self._number > 1 else "expired"


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
        assert tokens.asked == 2
        assert tokens.most == 1
        assert rest(ferry)
        assert tokens.asked == 2


def test_a_client_of_its_own_has_a_token_of_its_own(ferry_sandbox):
    tokens = Tokens(ferry_sandbox.token, is_first_good=True)
    for _ in range(2):
        with Ferry(tokens, base_url=ferry_sandbox.base_url) as ferry:
            assert rest(ferry)
            assert mcp(ferry)
    assert tokens.asked == 2


# ---- files ------------------------------------------------------------------------------------


def test_a_token_of_a_file_is_read_again(tmp_path):
    file = tmp_path / "token"
    file.write_text("\ufeffone\n", "utf-8")
    give = FileToken(file)
    assert give() == "one"
    file.write_text("two", "utf-8")
    assert give() == "two"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such files")
def test_a_token_that_comes_through_a_pipe_is_read_once(tmp_path):
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
@pytest.mark.parametrize("kind", ["device", "pipe", "folder", "huge", "NUL", "binary", "missing"])
def test_what_holds_no_token_is_refused_at_once(tmp_path, kind):
    file = tmp_path / "token"
    if kind == "device":
        file = Path("/dev/zero")
    elif kind == "pipe":
        os.mkfifo(file)
    elif kind == "folder":
        file.mkdir()
    elif kind == "huge":
        with file.open("wb") as sparse:
            sparse.truncate(2**32)
    elif kind == "NUL":
        file = Path("a\0b")
    elif kind == "binary":
        file.write_bytes(b"\xff" * 10)
    outcome = UnderWay(lambda: FileToken(file)).outcome()
    assert isinstance(outcome.error, ConfigurationError)
    assert str(outcome.error).startswith(f"token file {file}: ")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such files")
def test_a_pipe_that_nothing_comes_through_is_given_up(tmp_path, monkeypatch):
    monkeypatch.setattr("ferry_sdk._runtime.files._READ_TIMEOUT", 0.05)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = os.open(pipe, os.O_RDWR)
    try:
        assert "cannot be read" in str(UnderWay(lambda: FileToken(pipe)).error())
    finally:
        os.close(writer)
