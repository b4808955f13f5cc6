"""One run made against the hostile server, by either client, to its very end."""

import asyncio
import gc
import logging
import resource
import signal
import ssl
import threading
import time
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from itertools import count
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from unittest.mock import patch

import httpx

import ferry_sdk
from ferry_sdk import AsyncFerry, Ferry
from ferry_sdk._transport.http11 import client as clients
from ferry_sdk.journal import Journal
from tests.support.both import Waiting
from tests.support.stopwatch import Stopwatch
from tests.system.effects.running import at_once, event_loop, first_clear, gather, note_log
from tests.system.effects.schedules import EFFECTS
from tests.system.effects.world import CALLS, GUARDED, Subject

from .judging import Evidence, Outcome, violations
from .runs import PLACES, TOKENS, draw_run
from .server import HostileServer

_LIBRARY = str(Path(ferry_sdk.__file__).parent)
_BEAT = 0.05
_LOOKS = 2
_TRIES = 10
"""How often a run is made before what a slow machine may have caused is believed."""
_LIMITS = httpx.Limits(max_connections=PLACES, max_keepalive_connections=PLACES)
_LIMITED = {"limits": _LIMITS, "verify": ssl.create_default_context(), "trust_env": False}
_NAMES = (
    ("Zoë", "Quarrington-Ünsal"),
    ("Noëlle", "O'Cañary"),
    ("Qi", "Xø"),
    ("Straße", "Ğüvenoğlu"),
    ("ANNELIESE", "van der Qvist"),
)
_OF_SAMPLES = ("Marguerite", "Okonkwo", "AB1234567")
_UNCONFIRMED = {"bookings.confirm", "mcp.confirm_booking", "tickets.mark_paid"}
_OF_BOOKING = {"bookings.confirm", "bookings.cancel", "bookings.get", "mcp.confirm_booking"}
WELL = {"deadline": 4.0, "timeout": 4.0, "max_retries": 2}
"""The options of a call that nothing happens to."""
_SOON = 1.0
"""Seconds within which an outcome that came too late for its call is on record."""
_numbers = count(1)


class Preparation:
    def __init__(self, server, evidence):
        self._server = server
        self._evidence = evidence
        self._folder = TemporaryDirectory()
        url = f"sqlite:///{self._folder.name}/journal.db"
        self._journal = Journal(url) if evidence.run.has_journal else None
        self._subjects = []
        dice = Random(evidence.run.number)  # noqa: S311 -- no secret is drawn
        first, last = dice.choice(_NAMES)
        self._document = f"QX{next(_numbers)}Z"
        self._traveller = {
            "type": "Adult",
            "first_name": first,
            "last_name": last,
            "birth_date": "1987-11-23",
            "email": f"{self._document.lower()}@mail.example",
        }
        told = (f"{first} {last}", last, first, f"{self._document}-0", "23.11.1987", "1987-11-23")
        server.reset(dice.choice(told))
        documents = [f"{self._document}-{number}" for number in range(len(evidence.run.calls))]
        evidence.secrets = (*TOKENS, *_OF_SAMPLES, first, last, "23.11.1987", *documents)
        evidence.secrets += (self._traveller["birth_date"], self._traveller["email"])
        self.settings = {"base_url": server.base_url, "journal": self._journal}
        self.settings |= dict(zip(("token", "organisation_token"), TOKENS, strict=True))

    def begin(self, call, ferry):
        number = len(self._subjects)
        booking = self._server.service.book(is_confirmed=call.operation not in _UNCONFIRMED)
        selection = {"availability_id": "av-1", "tariff_id": "tar-1", "place_id": "pl-1"}
        traveller = self._traveller | {"doc_number": f"{self._document}-{number}"}
        subject = Subject([selection], booking.booking_id, booking.ticket_id, "148.18", traveller)
        about = ""  # where it makes one or reads a list
        if call.operation in _OF_BOOKING:
            about = subject.booking_id
        elif "ticket" in call.operation:
            about = subject.ticket_id
        intent = (EFFECTS.get(call.operation, ""), about or traveller["doc_number"])
        outcome = Outcome(call, f"call-{next(_numbers)}", intent, about)
        self._subjects.append(subject)
        self._evidence.outcomes.append(outcome)
        self._server.begin(outcome.correlation_id, call.strokes)
        view = ferry.with_options(**call.options, correlation_id=outcome.correlation_id)
        function = (GUARDED if call.is_guarded else CALLS)[call.operation]
        return outcome, partial(function, view, subject)

    def count(self):
        for outcome in self._evidence.outcomes:
            outcome.exchanges = self._server.of_call(outcome.correlation_id)
            outcome.effects = self._effects(outcome)
            outcome.effects_after = len(outcome.effects)
            if self._journal is not None and outcome.call.operation in EFFECTS:
                outcome.state = self._state_of(outcome)

    def again(self, ferry):
        """Writes that did not end well, and what makes each once more, if that may be done."""
        for outcome, subject in zip(self._evidence.outcomes, self._subjects, strict=True):
            operation = outcome.call.operation
            may_be_made = not outcome.effects or outcome.state in {"open", "unknown", "not_sent"}
            if outcome.error is not None and operation in EFFECTS and may_be_made:
                name = f"{outcome.correlation_id}-again"
                view = ferry.with_options(**WELL, correlation_id=name)
                yield outcome, partial(CALLS[operation], view, subject)
                outcome.effects_after = len(self._effects(outcome))

    def close(self):
        if self._journal is not None:
            self._journal.close()
        self._folder.cleanup()

    def _state_of(self, outcome):
        """How a call that is over stands on record; ``none`` where it does not."""
        until = time.monotonic() + _SOON
        while True:
            entries = self._journal.entries(correlation_id=outcome.correlation_id)
            state = entries[-1].state if entries else "none"
            if state != "open" or time.monotonic() > until:
                return state
            time.sleep(0.01)

    def _effects(self, outcome):
        return [one for one in self._server.service.effects if one.intent == outcome.intent]


def interruptible(server, call, interrupt):
    """Have a call that begins now interrupted when it says so."""
    when = call.interrupt
    server.on_event = lambda _: None
    if when is None:
        return
    timer = threading.Timer(when.seconds, interrupt)
    timer.daemon = True
    events = []

    def on_event(event):
        events.append(event)
        if events.count(when.event) == 1 and event == when.event:
            timer.start()

    server.on_event = on_event
    on_event("start")


class _Log(logging.Handler):
    """Keeps what is logged, but for what HTTP libraries say of the replies that they read."""

    def __init__(self):
        super().__init__(logging.DEBUG)
        self.lines = []
        self.setFormatter(logging.Formatter())

    def emit(self, record):
        if not record.getMessage().startswith("receive_response_headers"):
            self.lines.append(self.format(record))


@contextmanager
def capture_log():
    log, root = _Log(), logging.getLogger()
    level = root.level
    root.addHandler(log)
    root.setLevel(logging.DEBUG)
    try:
        yield log.lines
    finally:
        root.setLevel(level)
        root.removeHandler(log)


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
    """Makes one run after the other against one hostile server."""

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
