"""The schedule of turns: GCRA of pyrate-limiter, in memory or in Redis."""

from __future__ import annotations

import random
import time
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from ferry_sdk._threads import uninterrupted
from ferry_sdk.errors import ConfigurationError, ConnectionFailedError, InvalidInputError

if TYPE_CHECKING:
    from pyrate_limiter import StateStore

LATENESS: Final = 0.025
"""Seconds after which a turn lapses. What was missed for longer is not made up for."""
_HEADROOM: Final = 1.03
"""How much longer than necessary the pauses are, because the network shortens some of them."""
_AHEAD: Final = 0.1
"""Seconds before a turn of a shared schedule at which it is reserved."""
_UNITS: Final = 1_000_000
"""The bucket counts in units of its clock: microseconds, as milliseconds round a fast rate."""
_TIMEOUT: Final = 3.0
"""Seconds to wait for Redis."""
_CLOCK_AGE: Final = 60.0
"""Seconds after which the clock of Redis is read again."""
_CLOCK_STEP: Final = 2.0
"""Seconds from which that clock was set back, and does not only run slowly."""


class Limit(NamedTuple):
    """A number of requests in a number of seconds.

    Attributes:
        text: The rate as the user gave it.
    """

    text: str
    number: int
    seconds: int
    burst: int


class Schedule:
    """A schedule of turns, in memory unless a store is given."""

    is_shared: bool = False
    """Whether other processes use it as well, so that asking it takes time."""

    def __init__(self, limit: Limit, store: StateStore | None = None) -> None:
        from pyrate_limiter import GCRA, Rate, RateItem, StateBucket  # noqa: PLC0415 -- an extra installs it

        interval = int(limit.seconds * _HEADROOM * _UNITS)
        rate = Rate(limit.number, interval, burst=limit.burst)
        self._bucket = StateBucket([rate], GCRA(), store)
        self._new_item = RateItem

    def reserve(self, now: float, *, is_urgent: bool) -> tuple[float, bool]:
        """Reserve the next turn.

        Args:
            now: The monotonic clock.
            is_urgent: Reserve it however far ahead it is. Else a turn of a shared schedule is
                reserved late, so that an urgent request of another process can have it.

        Returns:
            When the turn is, and True; or when to ask again, and False.
        """
        zero = self._zero(now)
        turn = now - LATENESS
        while True:
            item = self._new_item("ferry_sdk", int((turn - zero) * _UNITS))
            if self._bucket.put(item):
                return turn, True
            turn += cast("int", self._bucket.waiting(item)) / _UNITS
            if self.is_shared and not is_urgent and turn - now > _AHEAD:
                # At random, so that a process far from the storage has its turns as well.
                ask_at = turn - random.uniform(0, _AHEAD)  # noqa: S311 -- no secret
                return min(ask_at, now + _CLOCK_AGE), False

    def _zero(self, now: float) -> float:
        """Return the moment on the monotonic clock at which the schedule's clock was 0."""
        del now
        return 0.0


class RedisSchedule(Schedule):
    """A schedule in Redis, by the clock of its server."""

    is_shared = True

    def __init__(self, limit: Limit, url: str) -> None:
        from pyrate_limiter import RedisStateStore  # noqa: PLC0415 -- an extra installs it
        from redis import Redis, RedisError  # noqa: PLC0415 -- the same
        from redis.backoff import NoBackoff  # noqa: PLC0415 -- the same
        from redis.retry import Retry  # noqa: PLC0415 -- the same

        redis: Any = Redis  # its types differ from version to version
        try:
            client = redis.from_url(
                url,
                socket_timeout=_TIMEOUT,
                socket_connect_timeout=_TIMEOUT,
                retry=Retry(NoBackoff(), 1),  # a connection may be of a server that has ended
            )
        except ValueError:
            raise InvalidInputError("not a URL of Redis", field="storage") from None
        self._client = client
        self._error: type[Exception] = RedisError
        self._measured: tuple[float, float] | None = None
        key = f"ferry_sdk:{limit.text}:{limit.burst}"
        super().__init__(limit, RedisStateStore(client, key))

    def reserve(self, now: float, *, is_urgent: bool) -> tuple[float, bool]:
        """Reserve the next turn.

        Raises:
            ConnectionFailedError: Redis does not answer.
        """
        try:
            return super().reserve(now, is_urgent=is_urgent)
        except self._error as error:
            raise ConnectionFailedError(
                f"the storage of the rate limiter failed: {type(error).__name__}"
            ) from error

    def _zero(self, now: float) -> float:
        known = self._measured
        if known is None or now - known[0] > _CLOCK_AGE:
            began = time.monotonic()
            seconds, microseconds = self._client.time()
            middle = now + (time.monotonic() - began) / 2
            zero: float = middle - (seconds + microseconds / 1_000_000)
            if known is not None and zero > known[1] + _CLOCK_STEP:
                self._bucket.flush()  # else nobody has a turn until the clock is where it was
            self._measured = now, zero
            return zero
        return known[1]


@uninterrupted
def open_schedule(limit: Limit, storage: str | None) -> Schedule:
    """Return the schedule of a limit; it connects when it is used.

    Raises:
        ConfigurationError: The extra is not installed.
        InvalidInputError: The URL is not valid.
    """
    try:
        return Schedule(limit) if storage is None else RedisSchedule(limit, storage)
    except ModuleNotFoundError as error:
        raise ConfigurationError(
            f'Rate requires an extra: pip install "ferry-sdk[rate]" ({error.name} is not installed)'
        ) from error
