"""The clock of every wait, which goes on while a test has frozen the time.

Tools such as freezegun replace `time.monotonic`. A wait that compares moments of a frozen clock
never ends, and a moment of the real clock is decades before one of the frozen clock. So the library
measures all waits with a function that these tools do not replace.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

# Windows has no `clock_gettime`. A tool finds functions by name, so it does not find a `partial`.
monotonic: Callable[[], float] = (
    partial(time.clock_gettime, time.CLOCK_MONOTONIC)
    if hasattr(time, "clock_gettime")
    else partial(time.monotonic)
)
"""Return the seconds since a moment in the past."""
