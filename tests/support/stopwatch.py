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
        # By thread, because one that has ended takes its own along.
        starved = sum(count - self._starved.get(thread, 0) for thread, count in _starved().items())
        return max(0.0, time.monotonic() - self._began - starved / 1e9)


def _starved() -> dict[str, int]:
    """Nanoseconds that each thread has waited for a core; none where no one counts."""
    nanoseconds: dict[str, int] = {}
    for file in _THREADS.glob("*/schedstat"):
        with suppress(OSError):  # it has ended meanwhile
            nanoseconds[file.parent.name] = int(file.read_text("ascii").split()[1])
    return nanoseconds
