"""Values of other libraries that are not what their class says.

- ``numpy.array(3)`` has a method `__iter__`, which raises a TypeError.
- ``pandas.NaT`` is an instance of `datetime`, and is no moment.
- The truth of an array, and of ``pandas.NA``, is an error: ``value in (None, "")`` raises.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, datetime
from typing import TypeVar

from typing_extensions import TypeIs

DateT = TypeVar("DateT", date, datetime)


def is_iterable(value: object) -> TypeIs[Iterable[object]]:
    """Return whether a value can be iterated over."""
    try:
        iter(value)  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType, reportCallIssue] -- any value may be given
    except TypeError:
        return False
    return True


def is_a(value: object, kind: type[DateT]) -> TypeIs[DateT]:
    """Return whether a value is a date, or a moment; `NaT` does not equal itself."""
    return isinstance(value, kind) and value == value  # noqa: PLR0124 -- see above


def is_text(value: object, *texts: str) -> bool:
    """Return whether a value is one of these texts."""
    return isinstance(value, str) and value in texts
