"""The progress of a scan."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

_MOST_REASONS: Final = 5
"""The reasons that a card shows, the most frequent ones."""


@dataclass(frozen=True, slots=True)
class ScanReport:
    """The progress of a scan, or of a part of it.

    Attributes:
        size: The number of searches.
        answered: Searches that found sailings.
        nothing: Searches for which nothing sails.
        failed: Searches that failed. The next run repeats them.
        unreadable: Sailings and prices that could not be read. Their searches are answered, and
            not repeated. Records of the catalogues count too: routes may be missing in the scan.
        reasons: How often a search failed, or a record could not be read, by the reason. Prices
            whose expiration date could not be read count here, and not in `unreadable`.
    """

    size: int = 0
    answered: int = 0
    nothing: int = 0
    failed: int = 0
    unreadable: int = 0
    reasons: Mapping[str, int] = field(default_factory=dict[str, int], repr=False)

    @property
    def done(self) -> int:
        """The searches that are not repeated."""
        return self.answered + self.nothing

    @property
    def not_asked(self) -> int:
        """The searches that no run has asked yet."""
        return self.size - self.done - self.failed

    @property
    def is_complete(self) -> bool:
        """Whether every search has been answered, also those with `unreadable` sailings."""
        return self.done == self.size

    def __str__(self) -> str:
        """Return the report in a few lines; the repr has its numbers on one."""
        width = max(len(name) for name, _ in self._facts())
        lines = [f"{name:{width}}  {value}" for name, value in self._facts()]
        return "\n  ".join([self._title(), *lines])

    def _repr_html_(self) -> str:
        from ferry_sdk.notebook.html import card, facts  # noqa: PLC0415 -- for notebooks only

        return card(self._title(), facts(self._facts()))

    def _title(self) -> str:
        state = "complete" if self.is_complete else "not complete"
        return f"Scan: {self.done} of {self.size} searches done, {state}"

    def _facts(self) -> list[tuple[str, object]]:
        """Return what became of the searches, and why some failed."""
        facts: list[tuple[str, object]] = [
            ("with sailings", self.answered),
            ("nothing sails", self.nothing),
        ]
        others = {
            "failed": self.failed,
            "not asked": self.not_asked,
            "could not be read": self.unreadable,
        }
        facts += [(name, number) for name, number in others.items() if number]

        reasons = Counter(self.reasons).most_common()
        facts += [("reason", f"{reason} ({number})") for reason, number in reasons[:_MOST_REASONS]]
        if len(reasons) > _MOST_REASONS:
            facts.append(("more reasons", len(reasons) - _MOST_REASONS))
        return facts

    def __add__(self, other: ScanReport) -> ScanReport:
        return ScanReport(
            size=self.size + other.size,
            answered=self.answered + other.answered,
            nothing=self.nothing + other.nothing,
            failed=self.failed + other.failed,
            unreadable=self.unreadable + other.unreadable,
            reasons=dict(Counter(self.reasons) + Counter(other.reasons)),
        )
