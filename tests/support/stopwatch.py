"""Time that a busy machine does not falsify."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path

_THREADS = Path("/proc/self/task")


class Stopwatch:
    """Measures seconds, less those in which this process was ready and no core took it."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._starved = _starved()

    @property
    def seconds(self) -> float:
        """Seconds since it was made."""
        starved = max(0.0, _starved() - self._starved)  # a thread that ended takes its own along
        return max(0.0, time.monotonic() - self._began - starved)


def _starved() -> float:
    """Seconds that the threads of this process have waited for a core; 0 where no one counts."""
    nanoseconds = 0
    for file in _THREADS.glob("*/schedstat"):
        with suppress(OSError):  # it has ended meanwhile
            nanoseconds += int(file.read_text("ascii").split()[1])
    return nanoseconds / 1e9
