"""Write the coasts of maps in notebooks, from Natural Earth's land at 1:50 million.

The file is `land-50m.json` of the npm package world-atlas 2; Natural Earth is in the public domain.

Usage: coasts.py LAND_50M_JSON
"""

from __future__ import annotations

import json
import sys
from itertools import pairwise
from math import hypot
from pathlib import Path
from typing import Any

COASTS = Path(__file__).parents[1] / "ferry_sdk" / "notebook" / "coasts.json"
PARTS = 100
"""The parts of a degree, in which the file counts."""
TOLERANCE = 0.02
"""How far a coast may be from the original, in degrees."""
ANTARCTIC = -60
"""The latitude south of which there is no port."""

Point = tuple[float, float]
"""A longitude and a latitude."""


def arcs_of(topology: dict[str, Any]) -> list[list[Point]]:
    """Return the arcs of a TopoJSON file, which counts from point to point."""
    (scale_x, scale_y), (left, bottom) = topology["transform"].values()
    arcs: list[list[Point]] = []
    for steps in topology["arcs"]:
        x = y = 0
        arc: list[Point] = []
        for step_x, step_y in steps:
            x += step_x
            y += step_y
            arc.append((x * scale_x + left, y * scale_y + bottom))
        arcs.append(arc)
    return arcs


def rings_of(topology: dict[str, Any]) -> list[list[Point]]:
    """Return the closed lines of all land; a lake's line runs the other way round."""
    arcs = arcs_of(topology)
    rings: list[list[Point]] = []
    for land in topology["objects"]["land"]["geometries"]:
        polygons: list[list[list[int]]] = land["arcs"]
        for polygon in polygons:
            for numbers in polygon:
                ring: list[Point] = []
                for number in numbers:
                    # ~number is an arc that is taken backwards.
                    arc = arcs[number] if number >= 0 else arcs[~number][::-1]
                    # An arc begins where the one before it ends.
                    ring += arc[1:] if ring else arc
                rings.append(ring)
    return rings


def distance(point: Point, start: Point, end: Point) -> float:
    """Return the distance of a point from the line through two others, or from them if equal."""
    across = end[0] - start[0]
    up = end[1] - start[1]
    x = point[0] - start[0]
    y = point[1] - start[1]
    length = hypot(across, up)
    return abs(across * y - up * x) / length if length else hypot(x, y)


def northernmost(ring: list[Point]) -> float:
    """Return the largest latitude of a ring."""
    return max(latitude for _, latitude in ring)


def unwrap(ring: list[Point]) -> list[Point]:
    """Let a coast that crosses the meridian of 180 degrees go on beyond it."""
    unwrapped = [ring[0]]
    for x, y in ring[1:]:
        before = unwrapped[-1][0]
        unwrapped.append((x - 360 * round((x - before) / 360), y))

    # A ring that starts on the other side of the meridian is one turn away from its place.
    longitudes = [x for x, _ in unwrapped]
    turns = round((min(longitudes) + max(longitudes)) / 2 / 360)
    return [(x - 360 * turns, y) for x, y in unwrapped]


def simplify(ring: list[Point]) -> list[Point]:
    """Leave out points that are near the line between their neighbours (Douglas and Peucker)."""
    kept = {0, len(ring) - 1}
    spans = [(0, len(ring) - 1)]
    while spans:
        first, last = spans.pop()
        between = range(first + 1, last)
        if not between:
            continue

        farthest = max(between, key=lambda at: distance(ring[at], ring[first], ring[last]))
        if distance(ring[farthest], ring[first], ring[last]) > TOLERANCE:
            kept.add(farthest)
            spans += [(first, farthest), (farthest, last)]
    return [ring[at] for at in sorted(kept)]


def encode(ring: list[Point]) -> list[int]:
    """Return the first point, and the steps to each next one, in parts of a degree."""
    points = [(round(x * PARTS), round(y * PARTS)) for x, y in ring]
    numbers = [*points[0]]
    for (x, y), (next_x, next_y) in pairwise(points):
        if (x, y) != (next_x, next_y):
            numbers += [next_x - x, next_y - y]
    return numbers


def main(path: str) -> None:
    """Write the file."""
    topology = json.loads(Path(path).read_text("utf-8"))
    coasts = [ring for ring in rings_of(topology) if northernmost(ring) > ANTARCTIC]
    rings = [encode(simplify(unwrap(ring))) for ring in coasts]
    # Three points and the first one again are the smallest island.
    lines = [json.dumps(ring, separators=(",", ":")) for ring in rings if len(ring) >= 4 * 2]
    COASTS.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
