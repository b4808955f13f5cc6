"""Requests that wait for a rate, in virtual time: event loops that wake late, or not at all."""

import random
from bisect import bisect_left
from functools import partial
from heapq import heappop, heappush
from itertools import count

from ferry_sdk._engine.effects import RunBlocking, Sleep
from ferry_sdk._engine.limiter import RateRequest
from ferry_sdk._runtime.threads import do_nothing


class Loop:
    """An event loop, or a thread: what it does waits until it is free; it wakes late."""

    def __init__(self, latency=0.0):
        self.latency = latency
        self.free_at = 0.0


def _run_at_once(function, end):
    try:
        function()
    except BaseException as error:  # noqa: BLE001 -- a test looks at it
        end(error)
    else:
        end(None)


class World:
    """Runs requests by a clock that nobody waits for.

    Attributes:
        now: The clock, in seconds.
        left: When each request left, and its name, in order.
        run_blocking: Calls a function that blocks, and then another one with its error.
    """

    BEGINNING = 1000.0

    def __init__(self):
        self.now = self.BEGINNING
        self.left = []
        self.run_blocking = _run_at_once
        self.random = random.Random(7)  # noqa: S311 -- no secret
        self._events = []
        self._numbers = count()

    @property
    def moments(self):
        return [moment for moment, _ in self.left]

    @property
    def names(self):
        return [name for _, name in self.left]

    @property
    def most(self):
        """The most requests in any second."""
        moments = self.moments
        return max(bisect_left(moments, at + 1) - index for index, at in enumerate(moments))

    @property
    def mean(self):
        """Requests a second, from the first to the last."""
        return (len(self.left) - 1) / (self.moments[-1] - self.moments[0])

    def at(self, moment, work, loop=None):
        """Do something then, or when the loop is free."""
        heappush(self._events, (moment, next(self._numbers), loop or Loop(), work))

    def run(self, until=float("inf")):
        while self._events and self._events[0][0] <= until:
            moment, _, loop, work = heappop(self._events)
            if loop.free_at > moment:
                self.at(loop.free_at, work, loop)
            else:
                self.now = moment
                work()

    def send(self, rate, name, loop, **request):
        return Waiting(self, rate, name, loop, RateRequest(clock=lambda: self.now, **request))

    def send_all(self, rate, names, loop, **request):
        return [self.send(rate, f"{name}", loop, **request) for name in names]

    def saturate(self, rate, loop, seconds, name="a search"):
        """Have 20 requests wait all the time; each takes a third of a second."""
        until = self.now + seconds

        def send():
            if self.now < until:
                self.send(rate, name, loop).then = lambda: self.at(self.now + 0.3, send, loop)

        for _ in range(20):
            self.at(self.now, send, loop)


class Waiting:
    """A request that waits for its turn.

    Attributes:
        error: What ended the wait, if it is not the turn.
        then: Called when the request has left.
    """

    def __init__(self, world, rate, name, loop, request):
        self.error = None
        self.then = do_nothing
        self._world = world
        self._name = name
        self._loop = loop
        self._steps = rate.steps(request)
        self._sleeps = 0
        world.at(world.now, partial(self._go_on, 0), loop)

    def stop(self, error):
        self._advance(partial(self._steps.throw, error))

    def _go_on(self, sleep):
        if sleep == self._sleeps:  # else it was woken, or has ended, before that
            self._advance(partial(next, self._steps))

    def _advance(self, step):
        self._sleeps += 1
        try:
            effect = step()
        except StopIteration:
            self._world.left.append((self._world.now, self._name))
            self.then()
        except BaseException as error:  # noqa: BLE001 -- a test looks at it
            self.error = error
        else:
            if isinstance(effect, RunBlocking):
                self._world.run_blocking(effect.function, self._end_blocking)
            else:
                assert isinstance(effect, Sleep)
                self._sleep(effect)

    def _end_blocking(self, error):
        step = partial(next, self._steps)
        if error is not None:
            step = partial(self._steps.throw, error)
        self._advance(step)

    def _sleep(self, effect):
        go_on = partial(self._go_on, self._sleeps)

        def wake(after=0.0):
            late = self._world.random.uniform(0, self._loop.latency)
            self._world.at(self._world.now + after + late, go_on, self._loop)

        wake(effect.seconds)
        # The block never ends: a signal that is set later finds the request gone on.
        self._signal = effect.signal.call(wake)
        self._signal.__enter__()
