"""One list of travellers for a search and its booking, and the contradictions in a party.

`assess` is the one set of rules: `Travellers.problems` reports what it finds, and a booking
is refused for it before anything is sent, whatever shape its travellers have. It judges only what
cannot be true: limits of ages differ by company, so a type that the caller gives is believed unless
the age is far from it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime, timedelta, timezone
from operator import attrgetter
from typing import Any, Final, NamedTuple, overload

from ferry_sdk._runtime.values import is_a
from ferry_sdk.errors import InvalidInputError
from ferry_sdk.models.enums import PassengerType
from ferry_sdk.models.inputs import Traveller, TravellerDict, elements_of, parse_input

_EARLIEST: Final = timezone(-timedelta(hours=12))
_DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_PLAUSIBLE_AGES: Final = {
    PassengerType.ADULT: range(6, 131),
    PassengerType.CHILD: range(21),
    PassengerType.INFANT: range(7),
}
"""Ages that some company may sell as each type. Others are a gross contradiction."""


@dataclass(frozen=True, slots=True)
class AgeBands:
    """The limits of age that give a traveller's type. They differ by company.

    Attributes:
        infant: Travellers below this age are infants.
        child: Travellers below this age, and not infants, are children.

    Raises:
        InvalidInputError: They are no ages in ascending order.

    Example:
        ```python
        from ferry_sdk import AgeBands

        bands = AgeBands(infant=4, child=16)
        print(bands.type_at(3), bands.type_at(15))
        # > Infant Child
        ```
    """

    infant: int = 2
    child: int = 12

    def __post_init__(self) -> None:
        """Validate the limits.

        Raises:
            InvalidInputError: They are no ages in ascending order.
        """
        for name, value in (("infant", self.infant), ("child", self.child)):
            if type(value) is not int or value < 0:
                raise InvalidInputError("expected an age in whole years", field=name)
        if self.child < self.infant:
            raise InvalidInputError("below the limit of infants", field="child")

    def type_at(self, age: int) -> PassengerType:
        """Return the type of a traveller of an age in whole years."""
        if age < self.infant:
            return PassengerType.INFANT
        if age < self.child:
            return PassengerType.CHILD
        return PassengerType.ADULT


DEFAULT_BANDS: Final = AgeBands()


@dataclass(frozen=True, slots=True)
class TravellerProblem:
    """Something that is missing or contradictory in a party. It contains no traveller's data.

    Attributes:
        traveller: The index of the traveller, from 0; `problem` counts alike.
        field: The field, such as ``birth_date``.
        problem: What is wrong with it.
    """

    traveller: int
    field: str
    problem: str


class Assessment(NamedTuple):
    """The ages and types of a party on the day of the first sailing, and its contradictions.

    Attributes:
        ages: The age of each traveller; None: it is not known.
        types: The type of each traveller, the given one or that of the age; None: neither is known.
        contradictions: What cannot be true.
    """

    ages: list[int | None]
    types: list[PassengerType | None]
    contradictions: list[TravellerProblem]


@dataclass(init=False, repr=False, frozen=True, slots=True)
class Travellers(Sequence[Traveller]):
    """One list of travellers for a search and its booking: an immutable sequence.

    Every method takes it as ``passengers=``. Age and type are those of the day of the first
    sailing, local to its port.

    Attributes:
        bands: The limits of age for travellers without a type.
    """

    _travellers: tuple[Traveller, ...]
    bands: AgeBands

    def __init__(
        self,
        travellers: Iterable[Traveller | TravellerDict],
        *,
        bands: AgeBands = DEFAULT_BANDS,
    ) -> None:
        """Validate the travellers.

        Args:
            travellers: The travellers: models, or dicts of the same shape.
            bands: The limits of age for travellers without a type. The interface names none.

        Raises:
            InvalidInputError: A traveller or a limit is invalid; `field` names it.
        """
        if not isinstance(bands, AgeBands):  # pyright: ignore[reportUnnecessaryIsInstance] -- of callers without a type checker
            raise InvalidInputError("expected AgeBands", field="bands")
        listed = elements_of(travellers, "travellers", may_be_empty=True)
        parsed = tuple(
            parse_input(Traveller, traveller, "travellers", index=index)
            for index, traveller in enumerate(listed)
        )

        # The class is frozen, so its own attributes are set by `object`.
        object.__setattr__(self, "_travellers", parsed)
        object.__setattr__(self, "bands", bands)

    def problems(
        self, *, on: date | str, back: date | str | None = None
    ) -> tuple[TravellerProblem, ...]:
        """Return what is missing for a search or a booking, and every contradiction.

        Nothing is sent. Only contradictions keep `bookings.create` from sending.

        Args:
            on: The day of the first sailing, local to its port; a date or YYYY-MM-DD.
            back: The day of the last sailing; None: the same.

        Returns:
            The problems by traveller; empty if there are none.

        Raises:
            InvalidInputError: A day is invalid; `field` names it.

        Example:
            ```python
            from datetime import date

            from ferry_sdk import Traveller, Travellers

            party = Travellers([Traveller(first_name="Leo", birth_date=date(2031, 8, 9))])
            for problem in party.problems(on=date(2027, 7, 1)):
                print(problem.traveller, problem.field, problem.problem)
                # > 0 last_name required for a booking
                # > 0 gender required for a search
                # > 0 birth_date after the day of travel
                # > 0 type an infant without an adult
            ```
        """
        first = parse_day(on, "on")
        last = first if back is None else parse_day(back, "back")

        problems: list[TravellerProblem] = []
        for index, traveller in enumerate(self):
            problems += _find_missing(index, traveller)
        party = [vars(traveller) for traveller in self]
        problems += assess(party, first, last, bands=self.bands).contradictions

        problems.sort(key=attrgetter("traveller"))
        return tuple(problems)

    @overload
    def __getitem__(self, index: int) -> Traveller: ...

    @overload
    def __getitem__(self, index: slice) -> Travellers: ...

    def __getitem__(self, index: int | slice) -> Traveller | Travellers:
        if isinstance(index, slice):
            return Travellers(self._travellers[index], bands=self.bands)
        return self._travellers[index]

    def __iter__(self) -> Iterator[Traveller]:
        return iter(self._travellers)

    def __len__(self) -> int:
        return len(self._travellers)

    def __repr__(self) -> str:
        return f"<Travellers: {len(self)}>"

    def _repr_html_(self) -> str:
        from ferry_sdk.notebook.cards import travellers_card  # noqa: PLC0415 -- for notebooks

        return travellers_card(self)


def parse_day(value: object, argument: str) -> date:
    """Return a date, also of a datetime or a text as YYYY-MM-DD.

    Raises:
        InvalidInputError: It is none.
    """
    if is_a(value, datetime):
        return value.date()
    if is_a(value, date):
        return value
    if isinstance(value, str) and _DAY.fullmatch(value):
        with suppress(ValueError):
            return date.fromisoformat(value)
    raise InvalidInputError("expected a date, or a text as YYYY-MM-DD", field=argument)


def age_on(birth_date: date, day: date) -> int:
    """Return the age in whole years on a day; a birthday on 29 February counts from 1 March."""
    is_before_birthday = (day.month, day.day) < (birth_date.month, birth_date.day)
    return day.year - birth_date.year - is_before_birthday


def age_of(traveller: Mapping[str, Any], day: date) -> int | None:
    """Return a traveller's age on a day, or None if it is not known; below 0 before birth."""
    born: date | None = traveller.get("birth_date")
    return traveller.get("age") if born is None else age_on(born, day)


def first_day_possible() -> date:
    """Return today, in the time zone where it is earliest."""
    return datetime.now(_EARLIEST).date()


def first_day_at(moment: datetime) -> date:
    """Return the day of a moment, in the time zone where it is earliest."""
    return moment.astimezone(_EARLIEST).date()


_ASSESSED: Final = ("birth_date", "age", "type", "gender", "doc_number", "doc_expiration")
"""The fields by which a party is assessed first; names and other details decide only in doubt."""


def assess(
    party: Sequence[Mapping[str, Any]], first: date | None, last: date | None, *, bands: AgeBands
) -> Assessment:
    """Return the ages and types of a party, and what cannot be true of it.

    Five rules find contradictions:

    1. The age of a traveller fits the birth date, the type and the day of travel.
    2. A travel document is valid on the last day of travel.
    3. An infant travels with an adult.
    4. No person is listed twice.
    5. No travel document is listed twice.

    Every booking is assessed and hardly any breaks a rule. Therefore the loop looks only for signs
    that a rule may be broken, and the function of the rule decides in doubt.

    Args:
        party: The fields of each traveller.
        first: The day of the first sailing. None: it is not known, and today is taken; then an age
            may be that of the next birthday.
        last: The day of the last sailing.
        bands: The limits of age for travellers without a type.
    """
    problems: list[TravellerProblem] = []
    ages: list[int | None] = []
    types: list[PassengerType | None] = []
    identities: set[object] = set()
    documents: list[str | None] = []
    day = first or first_day_possible()
    last_day = last or day

    for index, traveller in enumerate(party):
        # Six calls of `get` are 36 bytecodes and this is 13; a test limits those of a create.
        born, stated_age, kind, gender, number, expiry = map(traveller.get, _ASSESSED)

        age = stated_age if born is None else age_on(born, day)
        if age is not None:
            kind = kind or bands.type_at(max(age, 0))
            if (born and stated_age is not None) or age not in _PLAUSIBLE_AGES[kind]:
                is_day_known = first is not None
                problems += _check_age(index, traveller, day, age=age, is_day_known=is_day_known)
        ages.append(age)
        types.append(kind)

        if expiry is not None and expiry < last_day:
            problem = "the document expires before the last day of travel"
            problems.append(TravellerProblem(index, "doc_expiration", problem))

        if born and gender:
            identities.add((born, gender))
        documents.append(number and "".join(number.casefold().split()))

    if PassengerType.INFANT in types and PassengerType.ADULT not in types:
        infant = types.index(PassengerType.INFANT)
        problems.append(TravellerProblem(infant, "type", "an infant without an adult"))

    # If all have different birth dates or genders, they are different people, whatever their names.
    if len(identities) < len(party):
        names = [_name_of(traveller) for traveller in party]
        problems += _find_repeated("last_name", names, party, details=_PERSON_DETAILS)
    if len({*documents}) < len(documents):
        problems += _find_repeated("doc_number", documents, party, details=_DOCUMENT_DETAILS)

    return Assessment(ages, types, problems)


def _check_age(
    index: int, traveller: Mapping[str, Any], day: date, *, age: int, is_day_known: bool
) -> Iterator[TravellerProblem]:
    """Yield the contradiction between the age, the birth date and the type of a traveller.

    Args:
        index: The index of the traveller.
        traveller: The fields of the traveller.
        day: The day of the first sailing; the earliest possible one if it is not known.
        age: The age on that day.
        is_day_known: Whether the day is known. If not, the next birthday may come before it.
    """
    born = traveller.get("birth_date")
    if age < 0 and (is_day_known or born != day + timedelta(days=1)):
        yield TravellerProblem(index, "birth_date", "after the day of travel")
        return

    stated_age = traveller.get("age")
    if born is not None and stated_age is not None:
        possible_ages = {age} if is_day_known else {age, age + 1}
        if stated_age not in possible_ages:
            problem = "not the age of the birth date on the day of travel"
            yield TravellerProblem(index, "age", problem)
            return

    kind = traveller.get("type")
    if kind is not None and max(age, 0) not in _PLAUSIBLE_AGES[kind]:
        article = "a" if kind is PassengerType.CHILD else "an"
        yield TravellerProblem(index, "type", f"the age is not that of {article} {kind}")


_PERSON_DETAILS: Final = (
    "birth_date",
    "type",
    "gender",
    "age",
    "nationality",
    "doc_number",
    "email",
)
"""Two travellers of one name who differ in one of these fields are different people."""
_DOCUMENT_DETAILS: Final = ("doc_type", "nationality")
"""Two documents of one number that differ in one of these fields are different documents."""


def _name_of(traveller: Mapping[str, Any]) -> str | None:
    """Return a traveller's name in one spelling; None if a part of it is missing."""
    first_name, last_name = traveller.get("first_name"), traveller.get("last_name")
    if not first_name or not last_name:
        return None
    name = unicodedata.normalize("NFKC", f"{first_name} {last_name}")
    return " ".join(name.casefold().split())


def _find_repeated(
    field: str,
    keys: Sequence[str | None],
    party: Sequence[Mapping[str, Any]],
    *,
    details: Sequence[str],
) -> Iterator[TravellerProblem]:
    """Yield a problem for each entry with the key of an earlier one that differs in no detail."""
    earlier: dict[str, list[int]] = {}
    for index, key in enumerate(keys):
        if not key:
            continue

        others = earlier.setdefault(key, [])
        for other in others:
            if not _differ(party[index], party[other], details):
                yield TravellerProblem(index, field, f"the same as of traveller {other}")
                break
        others.append(index)


def _differ(entry: Mapping[str, Any], other: Mapping[str, Any], details: Sequence[str]) -> bool:
    """Return whether both entries have one of these fields, with different values."""
    for name in details:
        value, other_value = entry.get(name), other.get(name)
        if value is not None and other_value is not None and value != other_value:
            return True
    return False


def _find_missing(index: int, traveller: Traveller) -> Iterator[TravellerProblem]:
    """Yield what a traveller lacks for a search or for a booking."""
    if traveller.first_name is None:
        yield TravellerProblem(index, "first_name", "required for a booking")
    if traveller.last_name is None:
        yield TravellerProblem(index, "last_name", "required for a booking")
    if traveller.gender is None:
        yield TravellerProblem(index, "gender", "required for a search")
    if traveller.birth_date is None and traveller.age is None:
        yield TravellerProblem(index, "birth_date", "required for a search, or an age")
