"""Which tests `scripts/test` leaves to `scripts/test --all`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

LONG = pytest.mark.long


def mostly_long(
    values: Iterable[Any], *, short: int = 1, ids: Callable[[Any], str] | None = None
) -> list[Any]:
    """Return the parameters of a test; all but the first `short` are marked `long`.

    A tuple holds one value for each argument, as in `pytest.mark.parametrize`.
    """
    given = []
    for index, value in enumerate(values):
        if hasattr(value, "marks"):
            known = value
        else:
            known = pytest.param(*value) if isinstance(value, tuple) else pytest.param(value)
        marks = known.marks if index < short else (*known.marks, LONG)
        name = ids(value) if ids else known.id
        given.append(pytest.param(*known.values, marks=marks, id=name))
    return given
