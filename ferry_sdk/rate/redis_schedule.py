"""A schedule in Redis, which processes and machines share.

1. A process runs the script ``schedule.lua`` in Redis. It reads the clock of the server and
   reserves the next turn in one step, so no process reserves by its own clock. It reserves a turn
   only if it is near, so that an urgent request of another process can still come before.
2. The process converts the turn to a moment of its monotonic clock, see `_Clock`.
3. If the turn has passed when the answer arrives, the process asks again, and may reserve its next
   turn earlier than others. If the turn is far away, it asks again shortly before it.

If the clock of Redis is set back, the script moves the schedule with it: else nobody would have a
turn for as long. But if Redis loses the schedule, by a failover or a flush, or its clock is set
forward, the turns that are reserved already are given again: usually those of the next `_FURTHEST`
seconds. That is not prevented, because the service is the guard: it refuses with a 429, which is
retried.
"""

from __future__ import annotations

import math
import random
from collections import deque
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from redis import Redis, RedisError
from redis.backoff import NoBackoff
from redis.retry import Retry

from ferry_sdk._runtime.data import read_data
from ferry_sdk.errors import ConnectionFailedError, InvalidInputError
from ferry_sdk.rate.schedule import LATENESS, UNITS, Turn

if TYPE_CHECKING:
    from collections.abc import Callable

    from ferry_sdk.rate.schedule import Limit

_AHEAD: Final = 0.1
"""Seconds before a turn at which it is reserved."""
_FURTHEST: Final = 2 * _AHEAD
"""The same for a process that was too late the last time, so that all have their share."""
_ANY_TIME_AHEAD: Final = 5e9
"""The same for an urgent request: more seconds than any turn is ahead."""
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

_SCRIPT: Final = read_data(Path(__file__).with_name("schedule.lua")).decode()


class _Clock:
    """The clock of Redis, as far as the last answers tell.

    For example, Redis is asked at the monotonic moment 900.000, and answers at 900.004 that its
    time is 50.000. So the offset between the two clocks is from 850.000 to 850.004. Further answers
    narrow this down.
    """

    def __init__(self) -> None:
        self._offsets: deque[tuple[float, float]] = deque(maxlen=_ANSWERS)

    def observe(self, asked_at: float, time: float, answered_at: float) -> None:
        """Note that Redis had a time between two moments of the monotonic clock."""
        self._offsets.append((asked_at - time, answered_at - time))
        if self._least > self._most:  # no offset fits all answers, so the clock was set
            newest = self._offsets.pop()
            self._offsets.clear()
            self._offsets.append(newest)

    @property
    def _least(self) -> float:
        return max(least for least, _ in self._offsets)

    @property
    def _most(self) -> float:
        return min(most for _, most in self._offsets)

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
        self._pause = math.ceil(limit.interval / limit.number)
        self._tolerance = (limit.burst - 1) * self._pause
        self._clock = _Clock()
        self._was_late = False

    def reserve(self, clock: Callable[[], float], *, is_urgent: bool) -> Turn:
        """Reserve the next turn.

        Raises:
            ConnectionFailedError: Redis does not answer.
        """
        arguments = {
            "pause": self._pause,
            "tolerance": self._tolerance,
            "lateness": int(LATENESS * UNITS),
            "ahead": int(self._furthest_ahead(is_urgent=is_urgent) * UNITS),
            "kept": _KEPT,
        }
        asked_at = clock()
        try:
            answer = self._run(keys=[self._key], args=[*chain.from_iterable(arguments.items())])
        except (RedisError, UnicodeError) as error:  # the second: a host that is not a domain
            problem = f"{type(error).__name__} ({self._address})"
            failure = ConnectionFailedError(f"the storage of the rate limiter failed: {problem}")
            raise failure from error
        answered_at = clock()

        time, ahead, is_reserved = answer
        self._clock.observe(asked_at, time / UNITS, answered_at)
        moment = self._clock.moment_of((time + ahead) / UNITS)
        # A slow rate has few turns, so a late one is used, too, if it is not late by a whole pause.
        has_passed = answered_at - moment > max(_JITTER, self._pause / UNITS)
        self._was_late = has_passed or not is_reserved

        if not is_reserved:
            # At random, so that a process far from the storage has its turns as well.
            ask_at = moment - random.uniform(0, _AHEAD)  # noqa: S311 -- no secret
            return Turn(min(ask_at, answered_at + _LONGEST_WAIT), is_reserved=False)
        if has_passed:
            return Turn(answered_at, is_reserved=False)
        return Turn(moment, is_reserved=True)

    def _furthest_ahead(self, *, is_urgent: bool) -> float:
        """Return how many seconds ahead a turn may be for it to be reserved."""
        if is_urgent:
            return _ANY_TIME_AHEAD
        return _FURTHEST if self._was_late else _AHEAD
