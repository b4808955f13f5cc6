"""What a run with `--http-client` changes: which library it is, and clients of it for everyone."""

import sys
from contextlib import contextmanager
from functools import cached_property, wraps
from unittest.mock import patch
from weakref import WeakKeyDictionary

import httpx
import httpx2
import pytest

from ferry_sdk import AsyncFerry, Ferry

LIBRARIES = {"httpx": httpx, "httpx2": httpx2}
"""The libraries themselves, whatever the tests know as httpx."""


def give_to_tests(name):
    """Have the tests import this library as httpx."""
    # The package is loaded already and keeps the real one, which its own clients are of.
    sys.modules["httpx"] = LIBRARIES[name]


class Injection:
    """Gives an `http_client` to every `Ferry` and `AsyncFerry` that is made without one."""

    def __init__(self, name):
        self._library = LIBRARIES[name]
        self._given = WeakKeyDictionary()
        self.paused = False

    @contextmanager
    def everywhere(self):
        with (
            patch.object(Ferry, "__init__", self._giving(Ferry.__init__, self._library.Client)),
            patch.object(Ferry, "close", self._closing(Ferry.close)),
            patch.object(
                AsyncFerry, "__init__", self._giving(AsyncFerry.__init__, self._library.AsyncClient)
            ),
            patch.object(AsyncFerry, "aclose", self._closing_async(AsyncFerry.aclose)),
        ):
            yield

    @cached_property
    def _tls(self):
        return self._library.create_ssl_context()

    def _giving(self, init, kind):
        @wraps(init)
        def made(ferry, *args, **settings):
            if self.paused or settings.get("http_client") is not None:
                init(ferry, *args, **settings)
                return
            http_client = kind(verify=self._tls)
            init(ferry, *args, **settings | {"http_client": http_client})
            self._given[ferry] = http_client

        return made

    def _closing(self, close):
        @wraps(close)
        def closed(ferry):
            close(ferry)
            if ferry in self._given:
                self._given[ferry].close()

        return closed

    def _closing_async(self, aclose):
        @wraps(aclose)
        async def closed(ferry):
            await aclose(ferry)
            if ferry in self._given:
                await self._given[ferry].aclose()

        return closed


class InjectionPlugin:
    """Makes a plugin of pytest that injects while tests run, but not into marked ones."""

    def __init__(self, name):
        self._injection = Injection(name)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self):
        with self._injection.everywhere():
            return (yield)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item):
        is_marked = item.get_closest_marker("own_http_client") is not None
        self._injection.paused = is_marked or "ferry_over" in item.fixturenames
