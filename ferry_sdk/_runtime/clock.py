"""The clock of every wait, and types of moments, for programs whose tests freeze the time.

Tools such as freezegun replace `time.monotonic`. A wait that compares moments of a frozen clock
never ends, and a moment of the real clock is decades before one of the frozen clock. So the library
measures all waits with a function that these tools do not replace.

They also replace the classes `date` and `datetime`. pydantic then has no schema for what stands in
for them or, in other versions, none for the real ones. A module whose fields pydantic reads may be
imported for the first time while the time is frozen, so it takes `Date` and `Datetime` from here:
they name the schema themselves.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import date, datetime
from functools import partial
from typing import Annotated

from pydantic_core import core_schema

# Windows has no `clock_gettime`. A tool finds functions by name, so it does not find a `partial`.
monotonic: Callable[[], float] = (
    partial(time.clock_gettime, time.CLOCK_MONOTONIC)
    if hasattr(time, "clock_gettime")
    else partial(time.monotonic)
)
"""Return the seconds since a moment in the past."""


class _SchemaOf:
    """Names the schema of a field, so that pydantic does not look at its class."""

    def __init__(self, make_schema: Callable[[], core_schema.CoreSchema]) -> None:
        self._make_schema = make_schema

    def __get_pydantic_core_schema__(self, *_: object) -> core_schema.CoreSchema:
        return self._make_schema()


Date = Annotated[date, _SchemaOf(core_schema.date_schema)]
Datetime = Annotated[datetime, _SchemaOf(core_schema.datetime_schema)]
