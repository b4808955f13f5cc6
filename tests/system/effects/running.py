"""Schedules run against the world, by either client, and judged."""

import asyncio
import gc
import pickle
import sys
import threading
import time
import warnings
from contextlib import contextmanager
from functools import partial
from itertools import chain, repeat

from anyio.from_thread import start_blocking_portal
from hypothesis import Phase, given, seed, settings

from ferry_sdk import OutcomeUnknownError
from ferry_sdk._engine.http import RawResponse
from tests.support.both import Clients

from .judging import SOFT, Evidence, Judgement, Outcome, correlation_of, operation_of
from .schedules import schedules
from .world import CALLS, GUARDED

_AGES = 60.0
STRETCHES = (1, 3, 10)
"""The clocks, each slower, on which a schedule is run before a slow machine is ruled out."""


def run(world, schedule):
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
        if self._has_left(intent.correlation_id, intent.operation):
            self.too_late.append(intent)
        with self._lock:
            entry_id = f"{len(self._states)}-{intent.effect}"
            self._states[entry_id] = "open"
            return entry_id

    def end(self, entry_id, state, details=None):
        self._states[entry_id] = state

    def states(self):
        return dict(self._states)


class _Run:
    def __init__(self, world, schedule, evidence):
        self.world, self.schedule, self.evidence = world, schedule, evidence
        self.call = (GUARDED if schedule.is_guarded else CALLS)[schedule.operation]
        self.notebook = _Notebook(self._has_left) if schedule.is_recorded else None

    def run(self, clients):
        schedule = self.schedule
        with clients(**self._settings(), base_url=self.world.proxy.base_url) as ferry:
            view = ferry.with_options(**self._times()) if schedule.by_view else ferry
            view = view.with_raw_response if schedule.is_raw else view
            if schedule.is_warm:
                warm = ferry.with_options(deadline=None, timeout=None)
                _ = warm.mcp.list_tools() if schedule.is_mcp else warm.catalogue.vehicle_types()
            self._go_wrong()
            make = partial(_measure, partial(self.call, view, self.evidence.subject))
            at_once(lambda: self.evidence.outcomes.append(make()), self.schedule.callers)
            self._count()
            for outcome in [*self.evidence.outcomes]:
                if isinstance(outcome.error, OutcomeUnknownError):
                    recover = partial(self._recover, ferry, outcome.error)
                    self.evidence.recovered.append(_measure(recover))
            if self.notebook is not None:
                late = (f"on record when it had left: {one}" for one in self.notebook.too_late)
                self.evidence.noise.extend(late)
                self.evidence.records_after = self.notebook.states()

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
                settings[name] = partial(next, chain(tokens, repeat(settings[name])))
        return settings if schedule.by_view else settings | self._times()

    def _times(self):
        times = {"deadline": self.schedule.deadline, "timeout": self.schedule.timeout}
        return {name: value for name, value in times.items() if value is not None}

    def _go_wrong(self):
        proxy = self.world.proxy
        proxy.settle()
        self.warm_passages = len(proxy.passages)
        self.warm_connections = proxy.accepted
        for trouble in self.schedule.troubles:
            often = {"after": trouble.after, "times": trouble.times}
            self.world.sandbox.faults.add(
                trouble.kind, trouble.operation, **often | trouble.details
            )
        for harm in self.schedule.harms:
            proxy.order(harm)

    def _has_left(self, correlation_id, operation):
        return any(
            (correlation_of(one), operation_of(one)) == (correlation_id, operation)
            for one in self.world.proxy.passages
        )

    def _count(self):
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


def _measure(call):
    began, result, error = time.perf_counter(), None, None
    try:
        result = call()
    except BaseException as failure:  # noqa: BLE001 -- whatever it is, it is evidence
        error = failure
    seconds = time.perf_counter() - began
    if isinstance(result, RawResponse):
        return Outcome(result.parse(), None, seconds, result.attempts)
    return Outcome(result, error, seconds, getattr(error, "attempts", None))


@contextmanager
def note_log(noise):
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


def first_clear(tries):
    """The promises broken in the last try; one more is made where time may be to blame."""
    violations = []
    for violations in tries:
        if not violations or not all(one.startswith(SOFT) for one in violations):
            break
    return violations


def gather(named, judge):
    ran, findings = 0, []
    for words, one in named:
        ran += 1
        if violations := judge(one):
            findings.append("\n    ".join([words, *violations]))
    return ran, findings


def explore(world, operations, numbers, *, is_async):
    def judge(schedule):
        slower = (schedule.stretch(factor) for factor in STRETCHES)
        return first_clear(Judgement(one, run(world, one)).violations() for one in slower)

    strategy = schedules(operations, is_async=is_async)
    drawn = (_draw(strategy, number) for number in numbers)
    # The text of a schedule is the expression that makes it again.
    return gather(((repr(one), one) for one in drawn), judge)


def _draw(strategy, number):
    """One schedule, drawn without regard to any other: hypothesis varies what it drew before."""
    drawn = []

    @seed(number)
    @settings(max_examples=2, phases=[Phase.generate], database=None)
    @given(strategy)
    def draw(schedule):
        drawn.append(schedule)

    draw()
    return drawn[-1]  # the first is the simplest there is
