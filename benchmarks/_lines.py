"""A line of the table: what was measured beside what, and the bar that its ratio has to hold."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ._measure import Figures

Unit = Literal["ms", "µs", "MB", "KB", "calls", "calls/s", "times"]

_SCALE: Final[Mapping[Unit, float]] = {
    "ms": 1e3,
    "µs": 1e6,
    "MB": 1e-6,
    "KB": 1e-3,
    "calls": 1.0,
    "calls/s": 1.0,
    "times": 1.0,
}
_HEAD: Final = ("row", "what", "ours", "floor", "peers", "ratio", "bar", "holds")


@dataclass(frozen=True, slots=True)
class Bar:
    """Where a ratio has to stay.

    Attributes:
        limit: The ratio that just holds.
        is_least: Whether more is better.
    """

    limit: float
    is_least: bool = False

    def holds(self, ratio: float) -> bool:
        """Whether a ratio holds it."""
        return ratio >= self.limit if self.is_least else ratio <= self.limit

    def __str__(self) -> str:
        return f"{'>=' if self.is_least else '<='} {self.limit:g}"


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the table.

    Attributes:
        what: The work.
        unit: What the figures are shown in; they are seconds, bytes, or calls a second.
        ours: The library's own figure.
        ratio: Of the library's figure to another.
        to: Whose figure that is.
        bar: What the ratio has to hold.
        floor: By name, what nothing goes below.
        peers: By name, the others.
    """

    what: str
    unit: Unit
    ours: float
    ratio: float
    to: str
    bar: Bar
    floor: Mapping[str, float] = field(default_factory=dict[str, float])
    peers: Mapping[str, float] = field(default_factory=dict[str, float])

    @property
    def holds(self) -> bool:
        """Whether the bar holds."""
        return self.bar.holds(self.ratio)

    def cells(self, *, is_judged: bool) -> Sequence[str]:
        """The columns after the row's name."""
        return (
            self.what,
            _shown(self.ours, self.unit),
            self._named(self.floor),
            self._named(self.peers),
            f"{self.ratio:.2f} of {self.to}",
            str(self.bar),
            ("yes" if self.holds else "NO") if is_judged else "-",
        )

    def _named(self, figures: Mapping[str, float]) -> str:
        return ", ".join(f"{name} {_shown(figure, self.unit)}" for name, figure in figures.items())


def compared(
    figures: Figures,
    what: str,
    unit: Unit,
    bar: Bar,
    *,
    ours: str,
    to: str,
    floor: str | None = None,
) -> Line:
    """The line of one contender beside another, with everyone else's figures."""
    others = {name: figures.median(name) for name in figures.rounds if name != ours}
    return Line(
        what=what,
        unit=unit,
        ours=figures.median(ours),
        ratio=figures.ratio(ours, to),
        to=to,
        bar=bar,
        floor={name: figure for name, figure in others.items() if name == floor},
        peers={name: figure for name, figure in others.items() if name != floor},
    )


def table(lines: Iterable[tuple[str, Line]], *, is_judged: bool) -> str:
    """The lines by their rows, as a table that is Markdown as well."""
    rows = [_HEAD, *((row, *line.cells(is_judged=is_judged)) for row, line in lines)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    written = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |"
        for row in rows
    ]
    written.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(written)


def _shown(figure: float, unit: Unit) -> str:
    number = figure * _SCALE[unit]
    return f"{number:.3g} {unit}" if number < 1000 else f"{number:,.0f} {unit}"  # noqa: PLR2004 -- where 3 digits are too few
