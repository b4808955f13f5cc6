"""The clock of every wait, and types of moments, for programs whose tests freeze the time.

Tools such as freezegun replace `time.monotonic`. A wait that compares moments of a frozen clock
never ends, and a moment of the real clock is decades before one of the frozen clock. So the library
measures all waits with a function that these tools do not replace.

They also replace the classes `date` and `datetime`, and pydantic has no schema for what stands in
for them. A module whose fields pydantic reads may be imported for the first time while the time is
frozen, so it takes `Date` and `Datetime` from here. They are annotations of the real classes, which
the tools do not find.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import date, datetime
from functools import partial
from typing import Annotated

# Windows has no `clock_gettime`. A tool finds functions by name, so it does not find a `partial`.
monotonic: Callable[[], float] = (
    partial(time.clock_gettime, time.CLOCK_MONOTONIC)
    if hasattr(time, "clock_gettime")
    else partial(time.monotonic)
)
"""Return the seconds since a moment in the past."""

Date = Annotated[date, "a date"]
Datetime = Annotated[datetime, "a moment"]
