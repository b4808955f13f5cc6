"""One run made against the hostile server, by either client, to its very end."""

import asyncio
import gc
import logging
import resource
import signal
import ssl
import threading
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from unittest.mock import patch

import httpx

import ferry_sdk
from ferry_sdk import AsyncFerry, Ferry
from ferry_sdk._transport.http11 import client as clients
from tests.support.both import Waiting
from tests.support.stopwatch import Stopwatch
from tests.system.effects.running import at_once, event_loop, first_clear, gather, note_log

from .judging import Evidence, violations
from .preparing import WELL, Preparation, capture_log, interruptible
from .runs import PLACES, draw_run
from .server import HostileServer

_LIBRARY = str(Path(ferry_sdk.__file__).parent)
_BEAT = 0.05
_LOOKS = 2
_TRIES = 10
"""How often a run is made before what a slow machine may have caused is believed."""
_LIMITS = httpx.Limits(max_connections=PLACES, max_keepalive_connections=PLACES)
_LIMITED = {"limits": _LIMITS, "verify": ssl.create_default_context(), "trust_env": False}


class Interrupter:
    """Raises KeyboardInterrupt in the main thread as Ctrl-C does, inside the library only."""

    def __init__(self):
        self._is_armed = False

    def __enter__(self):
        self._before = signal.signal(signal.SIGUSR1, self._on_signal)
        return self

    def __exit__(self, *_):
        signal.signal(signal.SIGUSR1, self._before)

    @contextmanager
    def arm(self, *, is_armed):
        self._is_armed = is_armed
        try:
            yield
        finally:
            self._is_armed = False

    def interrupt(self):
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGUSR1)

    def _on_signal(self, _, frame):
        if self._is_armed and _is_in_library(frame):
            self._is_armed = False
            raise KeyboardInterrupt


def _is_in_library(frame):
    """Whether a frame is the library's or below it; not in logging, whose lock may be lost."""
    while frame is not None:
        name = frame.f_code.co_filename
        if name == logging.__file__:
            return False
        if name.startswith(_LIBRARY):
            return True
        frame = frame.f_back
    return False


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
        evidence = Evidence(run)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        with note_log(evidence.noise), capture_log() as lines:
            preparation = Preparation(self._server, evidence)
            if run.is_async:
                with event_loop(evidence.noise) as portal:
                    self._run_async(evidence, preparation, portal)
            else:
                http = httpx.Client(**_LIMITED) if run.client == "sync httpx" else None
                with Ferry(**preparation.settings, http_client=http) as ferry:
                    self._run(evidence, preparation, ferry, ferry, self._make)
                if http is not None:
                    http.close()
            preparation.close()
            gc.collect()
        evidence.log = lines
        # An interrupt between two instructions of the standard library can be nobody's fault.
        swallowed = ("KeyboardInterrupt", "unclosed <socket")
        if not run.is_async and any(call.interrupt for call in run.calls):
            evidence.noise = [one for one in evidence.noise if not any(map(one.count, swallowed))]
        evidence.grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
        return evidence

    def _run_async(self, evidence, preparation, portal):
        is_httpx = evidence.run.client == "async httpx"
        http = httpx.AsyncClient(**_LIMITED) if is_httpx else None
        async_ferry = AsyncFerry(**preparation.settings, http_client=http)

        def make(outcome, made):
            heart = portal.start_task_soon(_beat, evidence)
            portal.call(self._make_async, outcome, made)
            heart.cancel()

        with Waiting(async_ferry, portal) as ferry:
            self._run(evidence, preparation, ferry, async_ferry, make)
        if http is not None:
            portal.call(http.aclose)

    def _run(self, evidence, preparation, ferry, interrupted_ferry, make):
        """Make the calls of a run by one client, and look what it can do after them."""
        run = evidence.run
        well = ferry.with_options(**WELL)
        if run.is_warm:
            well.mcp.list_tools()
            well.catalogue.ports()
        for call in run.calls:
            make(*preparation.begin(call, interrupted_ferry))
        # All is well from now on, and nothing is on its way.
        self._server.strokes, self._server.on_event = [], lambda _: None
        self._server.hang_up()
        gc.collect()
        for _ in range(_LOOKS):  # a place that is lost stays lost
            self._server.gather(PLACES)
            results = []
            look = partial(_result_of, well.catalogue.ports)
            at_once(lambda results=results, look=look: results.append(look()), PLACES)
            evidence.places = sum(not isinstance(one, BaseException) for one in results)
            self._server.gather(1)
            if evidence.places == PLACES:
                break
        preparation.count()
        for outcome, made in preparation.again(ferry):
            outcome.again = _result_of(made)
        if run.is_mcp:
            evidence.session = _result_of(well.mcp.list_tools)

    def _make(self, outcome, made):
        interruptible(self._server, outcome.call, self._interrupter.interrupt)
        stopwatch = Stopwatch()
        with self._interrupter.arm(is_armed=outcome.call.interrupt is not None):
            try:
                outcome.value = made()
            except BaseException as error:  # noqa: BLE001 -- whatever it is, it is evidence
                outcome.set_error(error)
        outcome.seconds = stopwatch.seconds

    async def _make_async(self, outcome, made):
        stopwatch = Stopwatch()
        task = asyncio.ensure_future(made())
        loop = asyncio.get_running_loop()

        def cancel():
            with suppress(RuntimeError):  # the loop has ended meanwhile
                loop.call_soon_threadsafe(task.cancel)

        interruptible(self._server, outcome.call, cancel)
        await asyncio.wait((task,))
        outcome.seconds = stopwatch.seconds
        try:
            outcome.value = task.result()
        except BaseException as error:  # noqa: BLE001 -- whatever it is, it is evidence
            outcome.set_error(error)


async def _beat(evidence):
    while True:
        stopwatch = Stopwatch()
        await asyncio.sleep(_BEAT)
        evidence.standstill = max(evidence.standstill, stopwatch.seconds - _BEAT)


def _result_of(call):
    try:
        return call()
    except Exception as error:  # noqa: BLE001 -- whatever it is, it is evidence
        return error


def explore(stage, numbers):
    runs = (draw_run(number) for number in numbers)
    named = ((f"scripts/soak --hostile 1 --seed {run.number}\n    {run!r}", run) for run in runs)
    return gather(named, lambda run: first_clear(violations(stage.run(run)) for _ in range(_TRIES)))
