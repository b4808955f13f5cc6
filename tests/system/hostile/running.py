"""One run made against the hostile server, by either client, to its very end."""

import asyncio
import gc
import resource
import ssl
import threading
from contextlib import ExitStack, suppress
from unittest.mock import patch

import httpx

from ferry_sdk import AsyncFerry, Ferry
from ferry_sdk._transport.http11 import client as clients
from tests.support.stopwatch import Stopwatch
from tests.system.effects.running import note_log

from .evidence import Evidence
from .interrupts import Interrupter
from .preparing import WELL, Preparation, capture_log, interruptible
from .runs import PLACES
from .server import HostileServer

_BEAT = 0.05
_LOOKS = 2
_TLS = ssl.create_default_context()
_LIMITED = {
    "limits": httpx.Limits(max_connections=PLACES, max_keepalive_connections=PLACES),
    "verify": _TLS,
    "trust_env": False,
}


class Stage:
    """The server and the interrupter, for any number of runs one after the other."""

    def __enter__(self):
        with ExitStack() as stack:
            self._server = stack.enter_context(HostileServer())
            self._interrupter = stack.enter_context(Interrupter())
            # The library's own clients have as many places as the others are told to have.
            stack.enter_context(patch.object(clients, "MOST_CONNECTIONS", PLACES))
            with Ferry("tkn", base_url=self._server.base_url) as ferry:
                self._server.begin("call-0")  # the first run has another call before it, too
                ferry.with_options(correlation_id="call-0").catalogue.ports()
            gc.freeze()  # what is there before is not looked through after every run
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_):
        self._stack.close()

    def run(self, run):
        """Make a run, to its very end."""
        evidence = Evidence(run)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        with note_log(evidence.noise), capture_log() as lines:
            preparation = Preparation(self._server, evidence)
            if run.is_async:
                asyncio.run(self._arun(evidence, preparation))
            else:
                self._run(evidence, preparation)
            preparation.close()
            gc.collect()
        evidence.log = lines
        # An interrupt between two instructions of the standard library can be nobody's fault.
        swallowed = ("KeyboardInterrupt", "unclosed <socket")
        if not run.is_async and any(call.interrupt for call in run.calls):
            evidence.noise = [one for one in evidence.noise if not any(map(one.count, swallowed))]
        evidence.grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
        return evidence

    def _run(self, evidence, preparation):
        run = evidence.run
        http = httpx.Client(**_LIMITED) if run.client == "sync httpx" else None
        with Ferry(**preparation.settings, http_client=http) as ferry:
            well = ferry.with_options(**WELL)
            if run.is_warm:
                well.mcp.list_tools()
                well.catalogue.ports()
            for call in run.calls:
                outcome, made = preparation.begin(call, ferry)
                self._make(outcome, made)
            self._calm_down()
            for _ in range(_LOOKS):
                self._server.gather(PLACES)
                results = []
                _at_once(lambda results=results: results.append(_result_of(well.catalogue.ports)))
                if self._has_all_places(evidence, results):
                    break
            preparation.count()
            for outcome, made in preparation.again(ferry):
                outcome.again = _result_of(made)
            if run.is_mcp:
                evidence.session = _result_of(well.mcp.list_tools)
        if http is not None:
            http.close()

    def _make(self, outcome, made):
        interruptible(self._server, outcome.call, self._interrupter.interrupt)
        stopwatch = Stopwatch()
        with self._interrupter.arm(is_armed=outcome.call.interrupt is not None):
            try:
                outcome.value = made()
            except BaseException as error:  # noqa: BLE001 -- whatever it is, it is evidence
                outcome.set_error(error)
        outcome.seconds = stopwatch.seconds

    async def _arun(self, evidence, preparation):
        run = evidence.run
        asyncio.get_running_loop().set_exception_handler(
            lambda _, how: evidence.noise.append(f"loop: {how}")
        )
        http = _async_client(run.client)
        async with AsyncFerry(**preparation.settings, http_client=http) as ferry:
            well = ferry.with_options(**WELL)
            if run.is_warm:
                await well.mcp.list_tools()
                await well.catalogue.ports()
            heart = asyncio.create_task(_beat(evidence))
            for call in run.calls:
                outcome, made = preparation.begin(call, ferry)
                await self._amake(outcome, made)
            heart.cancel()
            self._calm_down()
            for _ in range(_LOOKS):
                self._server.gather(PLACES)
                calls = (_aresult_of(well.catalogue.ports) for _ in range(PLACES))
                if self._has_all_places(evidence, await asyncio.gather(*calls)):
                    break
            preparation.count()
            for outcome, made in preparation.again(ferry):
                outcome.again = await _aresult_of(made)
            if run.is_mcp:
                evidence.session = await _aresult_of(well.mcp.list_tools)
        if http is not None:
            await http.aclose()
        for _ in range(3):
            await asyncio.sleep(0)
        for left in asyncio.all_tasks() - {asyncio.current_task()}:
            evidence.noise.append(f"task left behind: {left}")

    async def _amake(self, outcome, made):
        stopwatch = Stopwatch()
        task = asyncio.ensure_future(made())
        interrupt = _cancelling(asyncio.get_running_loop(), task)
        interruptible(self._server, outcome.call, interrupt)
        await asyncio.wait((task,))
        outcome.seconds = stopwatch.seconds
        try:
            outcome.value = task.result()
        except BaseException as error:  # noqa: BLE001 -- whatever it is, it is evidence
            outcome.set_error(error)

    def _calm_down(self):
        """All is well from now on, and nothing is on its way."""
        self._server.strokes = []
        self._server.on_event = lambda _: None
        self._server.hang_up()
        gc.collect()

    def _has_all_places(self, evidence, results):
        """Whether so many calls were made at a time; a place that is lost stays lost."""
        evidence.places = sum(not isinstance(one, BaseException) for one in results)
        self._server.gather(1)
        return evidence.places == PLACES


def _at_once(call):
    """Make a call in as many threads as there are places."""
    threads = [threading.Thread(target=call) for _ in range(PLACES)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _async_client(name):
    if name == "async httpx":
        return httpx.AsyncClient(**_LIMITED)
    return None


async def _beat(evidence):
    while True:
        stopwatch = Stopwatch()
        await asyncio.sleep(_BEAT)
        evidence.standstill = max(evidence.standstill, stopwatch.seconds - _BEAT)


def _cancelling(loop, task):
    def cancel():
        with suppress(RuntimeError):  # the loop has ended meanwhile
            loop.call_soon_threadsafe(task.cancel)

    return cancel


def _result_of(call):
    try:
        return call()
    except Exception as error:  # noqa: BLE001 -- whatever it is, it is evidence
        return error


async def _aresult_of(call):
    try:
        return await call()
    except Exception as error:  # noqa: BLE001 -- whatever it is, it is evidence
        return error
