"""The travellers of a search, by the age bands of the company."""

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
    """One traveller of a search.

    Attributes:
        kind: Adult, Child or Infant, as declared; fares depend on the age.
        age: The age in years on the day of departure.
        gender: Male or Female.
    """

    kind: str
    age: int
    gender: str


@dataclass(frozen=True, slots=True)
class Party:
    """The travellers of one search with one company."""

    company: Company
    travellers: tuple[Traveller, ...]

    def age_band_of(self, traveller: Traveller) -> str:
        """Return Adult, Child or Infant by the company's age bands."""
        return age_band(self.company, traveller.age)

    def number(self, kind: str) -> int:
        """Return how many of the party are Adult, Child or Infant."""
        return sum(self.age_band_of(each) == kind for each in self.travellers)

    @property
    def berths(self) -> int:
        """The seats or berths needed; infants need none."""
        return max(1, len(self.travellers) - self.number("Infant"))

    def fits(self, kind: PlaceKind) -> bool:
        """Tell whether the party can travel in places of this kind.

        A double cabin takes at most two, a shared one up to three adults of one gender.
        """
        if kind.use == "Shared":
            return self.number("Adult") == len(self.travellers) <= _SHARING and {
                each.gender for each in self.travellers
            } == {kind.gender}
        return kind.berths != _COUPLE or self.berths <= _COUPLE


def age_band(company: Company, age: int) -> str:
    """Return Adult, Child or Infant by the company's age bands."""
    if age < company.infant_below:
        return "Infant"
    return "Child" if age < company.child_below else "Adult"


def age_on(birth_date: date, day: date) -> int:
    """Return the age in whole years on a day; a birthday on 29 February counts from 1 March."""
    before_birthday = (day.month, day.day) < (birth_date.month, birth_date.day)
    return day.year - birth_date.year - before_birthday
