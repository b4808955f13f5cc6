"""What every chart has in common."""

# matplotlib leaves its keyword arguments without types.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from io import BytesIO
from typing import TYPE_CHECKING

from ferry_sdk.models.display.extra import needed

with needed("matplotlib", "numpy"):
    import numpy as np
    from matplotlib.axes import Axes
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter
    from matplotlib.figure import Figure
    from matplotlib.patheffects import withStroke

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Axes", "Chart", "Figure", "days_as_places", "named_by_day", "started", "withStroke"]


class Chart(Figure):
    """A figure that a notebook shows as it is: nothing of pyplot is needed, or touched."""

    def _repr_png_(self) -> bytes:
        content = BytesIO()
        self.savefig(content, format="png")
        return content.getvalue()


def started(title: str, *, width: float = 9, height: float = 4.8) -> tuple[Chart, Axes]:
    """A figure with one pair of axes; the title is text, whatever signs of TeX are in it."""
    figure = Chart(figsize=(width, height), dpi=110, layout="constrained")
    axes = figure.add_subplot()
    axes.set_title(title, loc="left", parse_math=False)
    axes.grid(alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def days_as_places(days: Iterable[date]) -> NDArray[np.datetime64]:
    """Days as an axis takes them."""
    return np.array([*days], dtype="datetime64[D]")


def named_by_day(axes: Axes) -> None:
    """Have the days along the bottom named as briefly as is clear."""
    locator = AutoDateLocator(minticks=2)  # type: ignore[no-untyped-call]  # matplotlib's own
    axes.xaxis.set_major_locator(locator)
    formatter = ConciseDateFormatter(locator)  # type: ignore[no-untyped-call]  # matplotlib's own
    axes.xaxis.set_major_formatter(formatter)
