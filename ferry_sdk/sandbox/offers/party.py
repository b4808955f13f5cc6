"""Who travels together, counted as the operator counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import date

    from ferry_sdk.sandbox.network.geography import Company
    from ferry_sdk.sandbox.offers.accommodation import PlaceKind

_COUPLE, _SHARING = 2, 3


@dataclass(frozen=True, slots=True)
class Traveller:
    """One of a party, as the search describes them.

    Attributes:
        kind: Adult, Child or Infant, as declared; fares go by the age.
        age: In years, on the day of the leg.
        gender: Male or Female.
    """

    kind: str
    age: int
    gender: str


@dataclass(frozen=True, slots=True)
class Party:
    """The travellers of one search with one operator."""

    company: Company
    travellers: tuple[Traveller, ...]

    def age_band_of(self, traveller: Traveller) -> str:
        """Adult, Child or Infant by the operator's age bands, whatever was declared."""
        return age_band(self.company, traveller.age)

    def number(self, kind: str) -> int:
        """How many of the party are Adult, Child or Infant."""
        return sum(self.age_band_of(each) == kind for each in self.travellers)

    @property
    def berths(self) -> int:
        """How many seats or berths it needs: infants travel on a lap."""
        return max(1, len(self.travellers) - self.number("Infant"))

    def fits(self, kind: PlaceKind) -> bool:
        """Whether the party can be put in places of this kind, few as they may be.

        Those for two are for two; a shared cabin is for a few adults of one gender.
        """
        if kind.use == "Shared":
            return self.number("Adult") == len(self.travellers) <= _SHARING and {
                each.gender for each in self.travellers
            } == {kind.gender}
        return kind.berths != _COUPLE or self.berths <= _COUPLE


def age_band(company: Company, age: int) -> str:
    """Adult, Child or Infant: what an operator counts somebody of this age as."""
    if age < company.infant_below:
        return "Infant"
    return "Child" if age < company.child_below else "Adult"


def age_on(birth_date: date, day: date) -> int:
    """The age in whole years on a day; someone born on 29 February is older on 1 March."""
    before_birthday = (day.month, day.day) < (birth_date.month, birth_date.day)
    return day.year - birth_date.year - before_birthday
