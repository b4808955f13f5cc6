"""A Redis in virtual time: its clock, its delays and its failures are those of a test."""

import threading
from itertools import chain

from redis import Redis

from ferry_sdk import Rate
from ferry_sdk.rate import redis_schedule


class VirtualRedis:
    """Runs the script of the schedule in a real Redis, which is told the time.

    Attributes:
        ahead: Seconds by which its clock is ahead of the world's.
        paused_until: It runs nothing before this moment.
        delay: Seconds that a request takes, and its answer; called for each.
    """

    def __init__(self, world, url, delay):
        self.ahead = 0.0
        self.paused_until = 0.0
        self.delay = delay
        self.client = Redis.from_url(url)
        self._world = world
        world.run_blocking = self._run_blocking
        time = "{arguments.seconds, arguments.microseconds}"
        text = redis_schedule._SCRIPT.replace("redis.call('TIME')", time)
        assert "'TIME'" not in text
        self._script = self.client.register_script(text)
        self._task = None

    def share(self, text, processes):
        rates = [Rate(text, storage="redis://nowhere") for _ in range(processes)]
        for rate in rates:
            rate._queue().schedule._run = lambda keys, args: self._task.wait_for((keys, args))
        return rates

    def _run_blocking(self, function, end):
        task = _Task(function)

        def go_on(answer=None):
            self._task = task
            request = task.go_on(answer)
            if request is None:
                end(task.error)
                return
            arrival = max(self._world.now + self.delay(), self.paused_until)
            self._world.at(arrival, lambda: answer_to(request))

        def answer_to(request):
            if self._world.now < self.paused_until:  # it was paused on the way
                self._world.at(self.paused_until, lambda: answer_to(request))
                return
            keys, args = request
            microseconds = round((self._world.now + self.ahead) * 1_000_000)
            time = {"seconds": microseconds // 1_000_000, "microseconds": microseconds % 1_000_000}
            args_with_time = [*args, *chain.from_iterable(time.items())]
            answer = self._script(keys=keys, args=args_with_time)
            self._world.at(self._world.now + self.delay(), lambda: go_on(answer))

        go_on()


class _Task:
    """A function in a thread of its own, which runs while the world stands still."""

    def __init__(self, function):
        self.error = self._request = self._answer = None
        self._function = function
        self._runs, self._stands = threading.Semaphore(0), threading.Semaphore(0)
        threading.Thread(target=self._run, daemon=True).start()

    def go_on(self, answer):
        self._request, self._answer = None, answer
        self._runs.release()
        self._stands.acquire()
        return self._request

    def wait_for(self, request):
        self._request = request
        self._stands.release()
        self._runs.acquire()
        return self._answer

    def _run(self):
        self._runs.acquire()
        try:
            self._function()
        except BaseException as error:  # noqa: BLE001 -- the world throws it
            self.error = error
        self._stands.release()
