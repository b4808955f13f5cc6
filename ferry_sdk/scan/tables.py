"""The rows of answers: a row for each fare, and one for a search without a fare."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from decimal import Context, Decimal
from typing import Any, Final

import pyarrow as untyped_pa  # type: ignore[import-untyped]  # noqa: ICN001 -- it has no types

from ferry_sdk.errors import FerryError, NoSailingsError
from ferry_sdk.models.availability import Availability, Tariff
from ferry_sdk.models.records import Records
from ferry_sdk.scan.searches import Search

pa: Any = untyped_pa

_TEXT: Final = pa.string()
_MOMENT: Final = pa.timestamp("us", "UTC")
_CLOCK: Final = pa.timestamp("us")
_SEARCH: Final = {
    "search": _TEXT,
    "status": _TEXT,
    "reason": _TEXT,
    "asked_at": _MOMENT,
    "party": _TEXT,
    "company": _TEXT,
    "depart_code": _TEXT,
    "arrive_code": _TEXT,
    "journey_id": _TEXT,
    "day": pa.date32(),
}
_SAILING: Final = {
    "sailing_id": _TEXT,
    "ship_name": _TEXT,
    "depart_at": _MOMENT,
    "depart_local": _CLOCK,
    "arrive_at": _MOMENT,
    "arrive_local": _CLOCK,
}
_FARE: Final = {
    "tariff_type": _TEXT,
    "price": pa.decimal128(18, 4),
    "currency": _TEXT,
    "expires_at": _MOMENT,
}
SCHEMA: Final = pa.schema([*_SEARCH.items(), *_SAILING.items(), *_FARE.items()])
_NO_FARE: Final = (None,) * (1 + len(_FARE))
_DECIMALS: Final = Decimal("0.0001")
_MOST: Final = Decimal(10) ** 14
_CONTEXT: Final = Context(prec=38)
_NOT_A_MOMENT: Final = "a moment before the year 1 or after 9999 in UTC"


@dataclass(frozen=True, slots=True)
class Answer:
    """The outcome of a search: sailings or an error."""

    search: Search
    asked_at: datetime
    sailings: Records[Availability] = field(default_factory=Records[Availability])
    error: FerryError | None = None


class Rows:
    """The rows of answers.

    What several rows share is converted once: a row names its search and its sailing by number.

    Attributes:
        nothing: The searches for which nothing sails.
        failures: Why searches failed.
        lost: Why sailings and prices could not be read.
    """

    def __init__(self) -> None:
        self.nothing: int = 0
        self.failures: list[str] = []
        self.lost: list[str] = []
        self._searches: list[tuple[object, ...]] = []
        self._sailings: list[tuple[object, ...]] = []
        self._fares: list[tuple[object, ...]] = []

    def add(self, answer: Answer) -> None:
        """Add the rows of an answer. A fare that is not valid one way is left out."""
        if answer.error is not None and not isinstance(answer.error, NoSailingsError):
            self.failures.append(f"{type(answer.error).__name__}: {answer.error}")
            self._add_search(answer, "failed", self.failures[-1])
            return
        before = len(self._fares)
        for item in answer.sailings.unreadable:
            self._add_lost(answer, f"{item.field}: {item.problem}")
        number: int | None = None
        for sailing in answer.sailings:
            tariffs = [tariff for tariff in sailing.tariffs if not tariff.roundtrip_locked]
            if tariffs and sailing.places:
                if not _are_storable(sailing.depart_at, sailing.arrive_at):
                    self._add_lost(answer, _NOT_A_MOMENT)
                    continue
                self._add_sailing(sailing)
                for tariff in tariffs:
                    problem = _problem_of(tariff)
                    if problem is not None:
                        self._add_lost(answer, problem)
                        continue
                    if number is None:
                        number = self._add_search(answer, "answered", has_fare=True)
                    self._add_fare(number, tariff)
        if len(self._fares) == before:
            self.nothing += 1
            self._add_search(answer, "nothing")

    def table(self) -> Any:  # noqa: ANN401 -- a pyarrow.Table
        """Return the rows as a table."""
        columns = [*zip(*self._fares, strict=True)] or [()] * (2 + len(_FARE))
        searches, sailings = (pa.array(column, pa.int64()) for column in columns[:2])
        return pa.table(
            [
                *_table(_SEARCH, self._searches).take(searches).columns,
                *_table(_SAILING, self._sailings).take(sailings).columns,
                *_arrays(_FARE, columns[2:]),
            ],
            schema=SCHEMA,
        )

    def _add_lost(self, answer: Answer, reason: str) -> None:
        self.lost.append(reason)
        self._add_search(answer, "unreadable", reason)

    def _add_search(
        self, answer: Answer, status: str, reason: str | None = None, *, has_fare: bool = False
    ) -> int:
        """Add a search, with a row unless it has fares; return its number."""
        search, number = answer.search, len(self._searches)
        row = (search.key, status, reason, answer.asked_at, search.party.name, search.route.company)
        route = (search.route.depart_code, search.route.arrive_code, search.route.journey_id)
        self._searches.append((*row, *route, search.day))
        if not has_fare:
            self._fares.append((number, *_NO_FARE))
        return number

    def _add_sailing(self, sailing: Availability) -> None:
        depart, arrive = sailing.depart_at, sailing.arrive_at
        moments = (depart, depart.replace(tzinfo=None), arrive, arrive.replace(tzinfo=None))
        self._sailings.append((sailing.sailing_id, sailing.ship_name, *moments))

    def _add_fare(self, search: int, tariff: Tariff) -> None:
        price = _with_decimals(tariff.amount)
        fare = (str(tariff.type), price, tariff.currency, tariff.expiration_date)
        self._fares.append((search, len(self._sailings) - 1, *fare))


def _problem_of(tariff: Tariff) -> str | None:
    """Return why a fare cannot be written as it is; None if it can. No price is rounded."""
    amount = tariff.amount
    if len(amount.as_tuple().digits) > _CONTEXT.prec:
        return f"a price with more than {_CONTEXT.prec} digits"
    if not (abs(amount) < _MOST and amount == _with_decimals(amount)):
        return "a price with more than 4 decimals or 14 digits"
    return None if _are_storable(tariff.expiration_date) else _NOT_A_MOMENT


def _with_decimals(amount: Decimal) -> Decimal:
    """Return an amount with the decimals of the column, whatever the caller's decimal context."""
    return amount.quantize(_DECIMALS, context=_CONTEXT)


def _are_storable(*moments: datetime) -> bool:
    """Return whether the moments are in the years 1 to 9999 in UTC."""
    try:
        for moment in moments:
            moment.astimezone(timezone.utc)
    except OverflowError:
        return False
    return True


def _table(kinds: dict[str, Any], rows: Sequence[tuple[object, ...]]) -> Any:  # noqa: ANN401 -- a pyarrow.Table
    columns = [*zip(*rows, strict=True)] or [()] * len(kinds)
    return pa.table(_arrays(kinds, columns), schema=pa.schema([*kinds.items()]))


def _arrays(kinds: dict[str, Any], columns: Sequence[Sequence[object]]) -> list[Any]:
    return [pa.array(column, kind) for kind, column in zip(kinds.values(), columns, strict=True)]
