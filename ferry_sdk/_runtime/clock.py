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
from typing import TYPE_CHECKING, Annotated

if TYPE_CHECKING:
    from pydantic_core import CoreSchema

# Windows has no `clock_gettime`. A tool finds functions by name, so it does not find a `partial`.
monotonic: Callable[[], float] = (
    partial(time.clock_gettime, time.CLOCK_MONOTONIC)
    if hasattr(time, "clock_gettime")
    else partial(time.monotonic)
)
"""Return the seconds since a moment in the past."""


class _DateSchema:
    """Names the schema of a date, so that pydantic does not look at the class."""

    def __get_pydantic_core_schema__(self, *_: object) -> CoreSchema:
        from pydantic_core.core_schema import date_schema  # noqa: PLC0415 -- slow to import

        return date_schema()


class _DatetimeSchema:
    """Names the schema of a moment, as `_DateSchema` does."""

    def __get_pydantic_core_schema__(self, *_: object) -> CoreSchema:
        from pydantic_core.core_schema import datetime_schema  # noqa: PLC0415 -- slow to import

        return datetime_schema()


Date = Annotated[date, _DateSchema()]
Datetime = Annotated[datetime, _DatetimeSchema()]
