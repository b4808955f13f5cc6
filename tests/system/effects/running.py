"""One schedule run against the world, by either client, to its very end."""

import asyncio
import gc
import pickle
import sys
import threading
import time
import warnings
from contextlib import contextmanager
from functools import partial

from anyio.from_thread import start_blocking_portal

from ferry_sdk import FerryError, OutcomeUnknownError
from ferry_sdk._engine.http import RawResponse
from tests.support.both import Clients

from .calling import CALLS, GUARDED
from .judging import Evidence, Outcome
from .passages import correlation_of, operation_of

_AGES = 60.0


def run(world, schedule):
    """Run a schedule, to its very end."""
    evidence = Evidence(world.prepare(schedule.operation, is_repeated=schedule.is_repeated))
    with note_log(evidence.noise):
        if schedule.is_async:
            with event_loop(evidence.noise) as portal:
                _Run(world, schedule, evidence).run(Clients(portal))
        else:
            _Run(world, schedule, evidence).run(Clients(None))
        gc.collect()
    evidence.effects = world.sandbox.counters.effects
    return evidence


@contextmanager
def event_loop(noise):
    """Run an event loop in a thread; write down what fails in it and what is left behind."""

    def set_handler():
        asyncio.get_running_loop().set_exception_handler(
            lambda _, how: noise.append(f"loop: {how}")
        )
        return asyncio.all_tasks()

    async def tasks():
        for _ in range(3):
            await asyncio.sleep(0)
        return asyncio.all_tasks() - {asyncio.current_task()}

    with start_blocking_portal("asyncio") as portal:
        before = portal.call(set_handler)
        yield portal
        noise.extend(f"task left behind: {task}" for task in portal.call(tasks) - before)


def at_once(call, times):
    """Make a call in so many threads at the same time, one of which is this one."""
    barrier = threading.Barrier(times)

    def make():
        barrier.wait()
        call()

    threads = [threading.Thread(target=make) for _ in range(times - 1)]
    for thread in threads:
        thread.start()
    make()
    for thread in threads:
        thread.join()


class _Notebook:
    """Notes in memory what a client puts on record and when; the same intent twice as well."""

    def __init__(self, has_left):
        self._has_left = has_left
        self.too_late = []
        self._lock = threading.Lock()
        self._states = {}

    def begin(self, intent):
        """Write down an intent."""
        if self._has_left(intent.correlation_id, intent.operation):
            self.too_late.append(intent)
        with self._lock:
            entry_id = f"{len(self._states)}-{intent.effect}"
            self._states[entry_id] = "open"
            return entry_id

    def end(self, entry_id, state, details=None):
        """Write down an outcome."""
        with self._lock:
            self._states[entry_id] = state

    def states(self):
        """How every entry stands."""
        with self._lock:
            return dict(self._states)


class _Run:
    def __init__(self, world, schedule, evidence):
        self.world = world
        self.schedule = schedule
        self.evidence = evidence
        self.call = (GUARDED if schedule.is_guarded else CALLS)[schedule.operation]
        self.notebook = _Notebook(self._has_left) if schedule.is_recorded else None

    def run(self, clients):
        with clients(**self._settings(), base_url=self.world.proxy.base_url) as ferry:
            view = self._view(ferry)
            if self.schedule.is_warm:
                self._warm(ferry.with_options(deadline=None, timeout=None))
            self._go_wrong()
            at_once(lambda: self._make(view), self.schedule.callers)
            self._count()
            for outcome in [*self.evidence.outcomes]:
                if isinstance(outcome.error, OutcomeUnknownError):
                    recover = partial(self._recover, ferry, outcome.error)
                    self.evidence.recovered.append(_measure(recover))
            self._close_books()

    def _make(self, view):
        outcome = _measure(partial(self.call, view, self.evidence.subject))
        self.evidence.outcomes.append(outcome)

    def _settings(self):
        schedule, sandbox = self.schedule, self.world.sandbox
        settings = {
            "token": sandbox.token,
            "organisation_token": sandbox.organisation_token,
            "max_retries": schedule.max_retries,
            "journal": self.notebook,
        }
        if schedule.token != "text":
            for name in ("token", "organisation_token"):
                tokens = [settings[name]] if schedule.token == "function" else ["stale-token"]
                settings[name] = _give_in_turn([*tokens, settings[name]])
        return settings if schedule.by_view else settings | self._times()

    def _times(self):
        times = {"deadline": self.schedule.deadline}
        return (
            times if self.schedule.timeout is None else times | {"timeout": self.schedule.timeout}
        )

    def _view(self, ferry):
        view = ferry.with_options(**self._times()) if self.schedule.by_view else ferry
        return view.with_raw_response if self.schedule.is_raw else view

    def _warm(self, ferry):
        return ferry.mcp.list_tools() if self.schedule.is_mcp else ferry.catalogue.vehicle_types()

    def _go_wrong(self):
        """From here on it counts."""
        proxy = self.world.proxy
        proxy.settle()
        self.warm_passages = len(proxy.passages)
        self.warm_connections = proxy.accepted
        for trouble in self.schedule.troubles:
            self.world.sandbox.faults.add(
                trouble.kind,
                trouble.operation,
                after=trouble.after,
                times=trouble.times,
                **trouble.details,
            )
        for harm in self.schedule.harms:
            proxy.order(harm)

    def _has_left(self, correlation_id, operation):
        return any(
            (correlation_of(one), operation_of(one)) == (correlation_id, operation)
            for one in self.world.proxy.passages
        )

    def _close_books(self):
        if self.notebook is not None:
            late = (f"on record when it had left: {one}" for one in self.notebook.too_late)
            self.evidence.noise.extend(late)
            self.evidence.records_after = self.notebook.states()

    def _count(self):
        """What came about, once nothing is on its way; then all is well again."""
        world, evidence = self.world, self.evidence
        if not world.proxy.settle():
            evidence.noise.append("the proxy never came to rest")
        world.calm()
        evidence.passages = world.proxy.passages[self.warm_passages :]
        evidence.accepted = world.proxy.accepted - self.warm_connections
        if self.notebook is not None:
            evidence.records = self.notebook.states()

    def _recover(self, ferry, error):
        if not self.schedule.is_pickled:
            return ferry.with_options(deadline=_AGES, timeout=_AGES).recover(error)
        return self.world.direct.recover(pickle.loads(pickle.dumps(error)))


def _give_in_turn(tokens):
    return lambda: tokens.pop(0) if len(tokens) > 1 else tokens[0]


def _measure(call):
    began = time.perf_counter()
    try:
        given = call()
    except BaseException as error:  # noqa: BLE001 -- whatever it is, it is evidence
        return _outcome(time.perf_counter() - began, error=error)
    return _outcome(time.perf_counter() - began, given)


def _outcome(seconds, given=None, *, error=None):
    if isinstance(given, RawResponse):
        return Outcome(given.parse(), None, seconds, given.attempts)
    return Outcome(given, error, seconds, error.attempts if isinstance(error, FerryError) else None)


@contextmanager
def note_log(noise):
    """Write down what goes wrong where nobody can catch it."""
    hooks = sys.unraisablehook, threading.excepthook
    sys.unraisablehook = lambda what: noise.append(
        f"unraisable: {what.exc_value!r} {what.object!r}"
    )
    threading.excepthook = lambda what: noise.append(f"thread: {what.exc_value!r}")
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield
        noise.extend(f"warning: {one.message}" for one in caught)
    finally:
        sys.unraisablehook, threading.excepthook = hooks
