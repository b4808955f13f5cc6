"""The pytest plugin, in separate pytest runs."""

import os
import sys

import pytest

from tests.support.tiers import LONG

pytest_plugins = ["pytester"]

MODULE = "ferry_sdk.sandbox.pytest_plugin"

NOTHING_IS_LOADED = """
    import sys

    def test_a_run_without_the_fixtures_loads_nothing_heavy(request):
        assert request.config.pluginmanager.has_plugin("ferry_sdk.sandbox.pytest_plugin")
        heavy = {"starlette", "uvicorn", "httpx", "fpdf", "segno", "pydantic"}
        assert heavy & set(sys.modules) == set()
"""
"""The first file of a run, before a fixture is used."""

SERVICE_IS_RESET = """
    ADDRESSES = set()

    def ask(sandbox):
        from ferry_sdk import Ferry

        with Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
            return ferry.catalogue.ports()

    def test_changes_the_service(ferry_sandbox):
        ADDRESSES.add(ferry_sandbox.base_url)
        assert ask(ferry_sandbox)
        assert ferry_sandbox.counters.requests["catalogue.ports"] == 1
        ferry_sandbox.faults.add("server_error", times=None)
        ferry_sandbox.clock.freeze()
        ferry_sandbox.mcp.set(result="bare")

    def test_finds_the_service_reset(ferry_sandbox):
        ADDRESSES.add(ferry_sandbox.base_url)
        assert ferry_sandbox.counters.requests == {}
        assert ferry_sandbox.faults.pending == ()
        assert not ferry_sandbox.clock.frozen
        assert ask(ferry_sandbox)
        ferry_sandbox.stop()

    def test_finds_a_stopped_service_running(ferry_sandbox, ferry_sandbox_server):
        ADDRESSES.add(ferry_sandbox.base_url)
        assert ferry_sandbox is ferry_sandbox_server
        assert ask(ferry_sandbox)
        assert len(ADDRESSES) == 1
"""
"""Each test changes the service, and the next one finds it as new."""

CLIENTS_SPEAK_TO_IT = """
    import asyncio

    def test_sync(ferry, ferry_sandbox):
        from ferry_sdk import Ferry

        assert isinstance(ferry, Ferry)
        assert ferry.catalogue.ports()
        assert ferry_sandbox.counters.requests == {"catalogue.ports": 1}

    def test_async(async_ferry, ferry_sandbox):
        from ferry_sdk import AsyncFerry

        async def main():
            async with async_ferry:
                return await async_ferry.catalogue.ports()

        assert isinstance(async_ferry, AsyncFerry)
        assert asyncio.run(main())
        assert ferry_sandbox.counters.requests == {"catalogue.ports": 1}
"""
"""Tests with the clients of the plugin."""

ONE_TEST_OF_TWO_USES_THE_SERVICE = """
    def test_other():
        pass

    def test_with(ferry_sandbox):
        pass
"""


@pytest.fixture
def run(pytester, monkeypatch):
    """Return a function that runs tests in a pytest of their own."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")

    def run(*tests, conftest=""):
        files = {f"test_{number}": test for number, test in enumerate(tests)}
        pytester.makepyfile(**files)
        pytester.makeconftest(conftest)
        pytester.makeini("[pytest]")  # so that no folder above is taken for the project's
        options = ["-p", MODULE, "-p", "no:cacheprovider", "-W", "error"]
        return pytester.runpytest_subprocess(*options)

    return run


# One run has the tests of all three claims: a run takes seconds.
@pytest.mark.slow
def test_fixtures_share_one_service(run):
    result = run(NOTHING_IS_LOADED, SERVICE_IS_RESET, CLIENTS_SPEAK_TO_IT)

    result.assert_outcomes(passed=6)


@LONG
def test_without_the_extra_only_the_fixtures_fail(run):
    without_extra = "import sys; sys.modules['starlette'] = None"

    result = run(ONE_TEST_OF_TWO_USES_THE_SERVICE, conftest=without_extra)

    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(['*pip install "ferry-sdk[[]sandbox[]]"*'])
