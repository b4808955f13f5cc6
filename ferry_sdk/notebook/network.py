"""A map of the network."""

# matplotlib leaves its keyword arguments without types.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from math import cos, radians
from typing import Final

from ferry_sdk.models.mcp import McpPort
from ferry_sdk.notebook.charts import Axes, Figure, started, withStroke

_Place = tuple[float, float]

_WIDTH: Final = 11
_LEAST, _MOST = 4, 11
_LETTER, _LINE = 0.0075, 0.022
"""Inches of the figure's width and the least and most of its height; a letter and a line of a
name, in parts of the width."""


def network_map(
    ports: Iterable[McpPort], *, routes: Iterable[tuple[str | None, str | None]] = ()
) -> Figure:
    """The ports where they are, and the routes between them as straight lines.

    There is no coast: the service knows positions only. The ports with the most routes are named
    first, the others as far as there is room. Ports without a position are left out and counted.

    Args:
        ports: The ports, as `mcp.ports` gives them.
        routes: Codes of two ports each; which of the two is first does not matter.

    Returns:
        The figure, 11 inches wide and as high as suits the network. pyplot knows nothing of it,
        so nothing has to be closed.

    Raises:
        ModuleNotFoundError: matplotlib is not installed.
    """
    all_ports = [*ports]
    places: dict[str, _Place] = {}
    names: dict[str, str] = {}
    for port in all_ports:
        if port.code and port.longitude is not None and port.latitude is not None:
            places[port.code] = (port.longitude, port.latitude)
            names[port.code] = port.city or port.name or port.code
    lines = {
        (min(one, other), max(one, other))
        for one, other in routes
        if one in places and other in places
    }
    title = f"{len(places)} ports" + (f", {len(lines)} routes" if lines else "")
    if lost := len(all_ports) - len(places):
        title += f" ({lost} without a position)"
    figure, axes = started(title, width=_WIDTH, height=_height(places.values()))
    axes.set_xlabel("Longitude (degrees east)")
    axes.set_ylabel("Latitude (degrees north)")
    if not places:
        return figure

    for pair in lines:
        axes.plot(
            *zip(*(places[code] for code in pair), strict=True), color="C0", alpha=0.3, lw=0.8
        )
    busy = Counter(code for pair in lines for code in pair)
    sizes = [12 + 6 * busy[code] for code in places]
    longitudes, latitudes = zip(*places.values(), strict=True)
    axes.scatter(longitudes, latitudes, s=sizes, color="C0", zorder=3)
    axes.margins(0.06)
    axes.set_aspect(_stretch(places.values()), adjustable="box")
    _name(axes, places, names, busy)
    return figure


def _stretch(places: Collection[_Place]) -> float:
    """How much longer a degree of latitude is than one of longitude, in the middle of the map."""
    middle = sum(latitude for _, latitude in places) / len(places)
    return 1 / max(cos(radians(middle)), 0.1)


def _height(places: Collection[_Place]) -> float:
    """The height at which the map fills the figure."""
    if not places:
        return _LEAST
    longitudes, latitudes = zip(*places, strict=True)
    wide, high = max(longitudes) - min(longitudes), max(latitudes) - min(latitudes)
    height: float = _WIDTH * high * _stretch(places) / max(wide, 1)
    return min(max(height, _LEAST), _MOST)


def _name(
    axes: Axes, places: Mapping[str, _Place], names: Mapping[str, str], busy: Counter[str]
) -> None:
    """Name the ports, the busiest first, where no other name stands."""
    left, right = axes.get_xlim()
    letter, line = (right - left) * _LETTER, (right - left) * _LINE / _stretch(places.values())
    taken: list[tuple[float, float, float]] = []
    for code in sorted(places, key=lambda code: (-busy[code], code)):
        x, y = places[code]
        end = x + (len(names[code]) + 2) * letter
        if any(
            x < its_end and its_x < end and abs(y - its_y) < line for its_x, its_end, its_y in taken
        ):
            continue
        taken.append((x, end, y))
        axes.annotate(
            names[code],
            (x, y),
            xytext=(5, 3),
            textcoords="offset points",
            fontsize=8,
            parse_math=False,
            path_effects=[withStroke(linewidth=2.5, foreground="white")],
            zorder=4,
        )
