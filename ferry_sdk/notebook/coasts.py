"""The coasts of the earth at 1:50 million, from Natural Earth, which is in the public domain.

`coasts.json` has the closed line of each island and continent: its first point, and the steps to
each next one, in hundredths of a degree. ``scripts/coasts.py`` writes it.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate
from typing import Final, NamedTuple

from ferry_sdk._runtime.data import data_beside

_PARTS: Final = 100
"""The parts of a degree, in which the file counts."""


class Window(NamedTuple):
    """The part of the earth that a map shows, in degrees."""

    west: float
    east: float
    south: float
    north: float


def coasts_in(window: Window) -> Iterator[tuple[list[float], list[float]]]:
    """Yield the longitudes and latitudes of each closed coast that may reach into a window."""
    rings: list[list[int]] = data_beside(__file__)
    for ring in rings:
        longitudes = [parts / _PARTS for parts in accumulate(ring[::2])]
        latitudes = [parts / _PARTS for parts in accumulate(ring[1::2])]

        is_beside = max(longitudes) < window.west or min(longitudes) > window.east
        is_above_or_below = min(latitudes) > window.north or max(latitudes) < window.south
        if not is_beside and not is_above_or_below:
            yield longitudes, latitudes
