"""Time that a busy machine does not falsify."""

import os
import time
from contextlib import suppress
from pathlib import Path

_THREADS = Path("/proc/self/task")


class Stopwatch:
    """Measures seconds, less those in which this process was ready and no core took it."""

    def __init__(self):
        self._began = time.monotonic()
        self._starved = _starved()

    @property
    def seconds(self):
        # By thread, because one that has ended takes its own along.
        starved = sum(count - self._starved.get(thread, 0) for thread, count in _starved().items())
        return max(0.0, time.monotonic() - self._began - starved / 1e9)


def _starved():
    """Nanoseconds that each thread has waited for a core; none where no one counts."""
    nanoseconds = {}
    if not _THREADS.is_dir():
        return nanoseconds
    with os.scandir(_THREADS) as threads:  # some tests look at hundreds, for which pathlib is slow
        for thread in threads:
            with suppress(OSError):  # it has ended meanwhile
                text = Path(f"{thread.path}/schedstat").read_bytes()
                nanoseconds[thread.name] = int(text.split()[1])
    return nanoseconds
