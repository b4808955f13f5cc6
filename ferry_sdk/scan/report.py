"""The progress of a scan."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field


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

    def __add__(self, other: ScanReport) -> ScanReport:
        return ScanReport(
            size=self.size + other.size,
            answered=self.answered + other.answered,
            nothing=self.nothing + other.nothing,
            failed=self.failed + other.failed,
            unreadable=self.unreadable + other.unreadable,
            reasons=dict(Counter(self.reasons) + Counter(other.reasons)),
        )
