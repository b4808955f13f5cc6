"""The lines of the table: what was compared with what, and the bar that the ratio has to hold."""

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
        """Return whether a ratio holds it."""
        return ratio >= self.limit if self.is_least else ratio <= self.limit

    def __str__(self) -> str:
        sign = ">=" if self.is_least else "<="
        return f"{sign} {self.limit:g}"


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
        """Return the columns after the row's name.

        Args:
            is_judged: Whether the bars are checked.
        """
        verdict = "-"
        if is_judged:
            verdict = "yes" if self.holds else "NO"
        return (
            self.what,
            _format(self.ours, self.unit),
            self._format_all(self.floor),
            self._format_all(self.peers),
            f"{self.ratio:.2f} of {self.to}",
            str(self.bar),
            verdict,
        )

    def _format_all(self, figures: Mapping[str, float]) -> str:
        return ", ".join(f"{name} {_format(figure, self.unit)}" for name, figure in figures.items())


def compare(
    figures: Figures,
    what: str,
    *,
    unit: Unit,
    bar: Bar,
    ours: str,
    to: str,
    floor: str | None = None,
) -> Line:
    """Return the line of a contender beside another one, with the figures of the others.

    Args:
        figures: The figures of all contenders.
        what: The work.
        unit: What the figures are shown in.
        bar: What the ratio has to hold.
        ours: The contender that is judged.
        to: The contender that it is compared with.
        floor: The contender that nothing goes below.
    """
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
    """Return the lines as a Markdown table, each with the name of its row.

    Args:
        lines: The names of rows, with their lines.
        is_judged: Whether the bars are checked.
    """
    rows = [_HEAD, *((row, *line.cells(is_judged=is_judged)) for row, line in lines)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    head, *others = [_format_row(row, widths) for row in rows]
    rule = "|" + "|".join("-" * (width + 2) for width in widths) + "|"
    return "\n".join([head, rule, *others])


def _format_row(row: Sequence[str], widths: Sequence[int]) -> str:
    cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
    return f"| {' | '.join(cells)} |"


def _format(figure: float, unit: Unit) -> str:
    number = figure * _SCALE[unit]
    return f"{number:.3g} {unit}" if number < 1000 else f"{number:,.0f} {unit}"  # noqa: PLR2004 -- where 3 digits are too few
