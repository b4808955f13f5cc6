"""A schedule in Redis, which processes and machines share.

A script in Redis reads the clock of the server and reserves a turn in one step, so a process never
reserves by a clock of its own. It only converts its turn: an answer shows that the clock of Redis
had a value between two moments of the monotonic clock, and several answers narrow this down.

Four things could make turns come too close together, or not at all:

- **The clock of Redis is set back.** Redis keeps when it was asked last, and moves the schedule
  with its clock.
- **The schedule is lost**, by a failover or a flush. Each process tells Redis which end of the
  schedule it has seen. If Redis has an earlier one, the next turn is so far away that all turns
  pass that were reserved before.
- **The clock is set forward.** Each process tells Redis the latest time that it expects. If Redis
  has a later one, it gives no turn. The answer shows whether the request was only delayed. If the
  clock was set, the process declares the schedule lost.
- **An answer is slow.** If its turn has passed when it arrives, the process asks again, and may
  reserve its next turn earlier than others.
"""

from __future__ import annotations

import random
from collections import deque
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from redis import Redis, RedisError
from redis.backoff import NoBackoff
from redis.retry import Retry

from ferry_sdk._runtime.data import read_data
from ferry_sdk.errors import ConnectionFailedError, InvalidInputError
from ferry_sdk.rate.schedule import LATENESS, UNITS

if TYPE_CHECKING:
    from collections.abc import Callable

    from ferry_sdk.rate.schedule import Limit

_AHEAD: Final = 0.1
"""Seconds before a turn at which it is reserved."""
_FURTHEST: Final = 2 * _AHEAD
"""The same for a process that was too late the last time, so that all have their share."""
_JITTER: Final = 0.05
"""Seconds by which requests and answers differ in speed, if nothing is wrong."""
_ANSWERS: Final = 5
"""The answers that narrow down the clock of Redis."""
_LONGEST_WAIT: Final = 60.0
"""Seconds after which a process asks again, however far away its turn is."""
_TIMEOUT: Final = 3.0
"""Seconds to wait for Redis."""
_KEPT: Final = 24 * 3600
"""Seconds that Redis keeps a schedule that is not used."""
_NEVER: Final = 5e9
"""A time that Redis never has, in seconds."""

_SCRIPT: Final = read_data(Path(__file__).with_name("schedule.lua")).decode()


class _Clock:
    """The clock of Redis, as far as the last answers tell."""

    def __init__(self) -> None:
        self._offsets: deque[tuple[float, float]] = deque(maxlen=_ANSWERS)

    def observe(self, asked_at: float, time: float, answered_at: float) -> bool:
        """Note that Redis had a time between two moments of the monotonic clock.

        Returns:
            Whether its clock was set since the answers before.
        """
        self._offsets.append((asked_at - time, answered_at - time))
        was_set = self._least > self._most
        if was_set:
            self._offsets = deque([self._offsets[-1]], _ANSWERS)
        return was_set

    @property
    def _least(self) -> float:
        return max(least for least, _ in self._offsets)

    @property
    def _most(self) -> float:
        return min(most for _, most in self._offsets)

    def latest_at(self, moment: float) -> float:
        """Return the latest time that Redis can have at a moment, if a request is not delayed."""
        return moment - self._least + _JITTER if self._offsets else _NEVER

    def moment_of(self, time: float) -> float:
        """Return the moment of a time of Redis, or a moment shortly after it."""
        return time + self._most


class RedisSchedule:
    """A schedule in Redis, by the clock of its server.

    Raises:
        InvalidInputError: The URL is not valid.
    """

    def __init__(self, limit: Limit, url: str) -> None:
        redis: Any = Redis  # its types differ from version to version
        client: Any = None
        retry = Retry(NoBackoff(), 1)  # a connection may be of a server that has ended
        with suppress(ValueError):
            url.encode()  # a lone surrogate fails only when it is sent
            client = redis.from_url(
                url, socket_timeout=_TIMEOUT, socket_connect_timeout=_TIMEOUT, retry=retry
            )
        if client is None:  # raised here, so that the URL's error is not attached
            raise InvalidInputError("not a URL of Redis", field="storage")
        self._run = client.register_script(_SCRIPT)
        server = urlsplit(url)
        host = server.hostname or "localhost"
        self._address = server.path if server.scheme == "unix" else f"{host}:{server.port or 6379}"
        self._key = f"ferry_sdk:{limit.text}:{limit.burst}"
        self._pause = -(-limit.interval // limit.number)
        self._tolerance = (limit.burst - 1) * self._pause
        self._clock = _Clock()
        self._seen_end = 0
        self._was_late = False

    def reserve(self, clock: Callable[[], float], *, is_urgent: bool) -> tuple[float, bool]:
        """Reserve the next turn.

        Raises:
            ConnectionFailedError: Redis does not answer.
        """
        asked_at = clock()
        ahead = _NEVER if is_urgent else _FURTHEST if self._was_late else _AHEAD
        seconds = (ahead, _FURTHEST, LATENESS, self._clock.latest_at(asked_at))
        times = [int(each * UNITS) for each in seconds]
        arguments = (self._pause, self._tolerance, self._seen_end, _KEPT, *times)
        try:
            answer = self._run(keys=[self._key], args=arguments)
        except (RedisError, UnicodeError) as error:  # the second: a host that is not a domain
            problem = f"{type(error).__name__} ({self._address})"
            failure = ConnectionFailedError(f"the storage of the rate limiter failed: {problem}")
            raise failure from error
        now, (wait, is_reserved, time, schedule_end) = clock(), answer
        was_set = self._clock.observe(asked_at, time / UNITS, now)
        if is_reserved < 0:
            if was_set:
                self._seen_end = int(_NEVER * UNITS)
            return now, False
        self._seen_end = schedule_end
        turn = self._clock.moment_of((time + wait) / UNITS)
        # One turn of a slow rate is worth more than its exact moment.
        has_passed = now - turn > max(_JITTER, self._pause / UNITS)
        self._was_late = has_passed or not is_reserved
        if not is_reserved:
            # At random, so that a process far from the storage has its turns as well.
            ask_at = turn - random.uniform(0, _AHEAD)  # noqa: S311 -- no secret
            return min(ask_at, now + _LONGEST_WAIT), False
        return (now, False) if has_passed else (turn, True)
