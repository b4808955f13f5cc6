"""The rows of answers: a row for each fare, and one for a search without a fare.

A search may have hundreds of fares, and a sailing several. So `Rows` keeps three tables, and a row
is three numbers of entries in them. For a search with one sailing of two fares, and another search
for which nothing sails:

    searches  0: Genoa-Tunis on 6 June, answered    1: Genoa-Tunis on 7 June, nothing
    sailings  0: 6 June 18:00
    fares     0: 120 EUR    1: 155 EUR
    rows      (0, 0, 0)    (0, 0, 1)    (1, None, None)

`Rows.table` puts the entries of each row side by side. What several rows share is converted once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import MAXYEAR, MINYEAR, UTC, datetime
from decimal import Context, Decimal, Inexact, InvalidOperation
from typing import Any, Final, NamedTuple

import pyarrow as untyped_pa  # type: ignore[import-untyped]  # noqa: ICN001 -- it has no types

from ferry_sdk._engine.batch import BatchAnswer
from ferry_sdk.errors import NoSailingsError
from ferry_sdk.models.availability import Availability, Tariff
from ferry_sdk.models.records import Records
from ferry_sdk.scan.searches import Search

pa: Any = untyped_pa

_Answer = BatchAnswer[Any, Records[Availability]]

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
_DECIMALS: Final = Decimal("0.0001")
_CONTEXT: Final = Context(prec=18, traps=[Inexact, InvalidOperation])
_NOT_A_MOMENT: Final = "a moment before the year 1 or after 9999 in UTC"
_EXPIRATION_UNREADABLE: Final = "expiration_date: expected a moment"
_EXPIRATION_NOT_STORABLE: Final = f"expiration_date: {_NOT_A_MOMENT}"


@dataclass(slots=True)
class _Fares:
    """The table of the fares, by columns."""

    types: list[Any] = field(default_factory=list[Any])
    prices: list[Any] = field(default_factory=list[Any])
    currencies: list[Any] = field(default_factory=list[Any])
    expiration_dates: list[Any] = field(default_factory=list[Any])


class _Row(NamedTuple):
    """The numbers of a row's search, sailing and fare."""

    search: int
    sailing: int | None = None
    fare: int | None = None


class Rows:
    """The rows of answers.

    Attributes:
        answers: The number of answers.
    """

    def __init__(self) -> None:
        self.answers: int = 0
        self._searches: list[dict[str, object]] = []
        self._sailings: list[dict[str, object]] = []
        self._fares = _Fares()
        self._rows: list[_Row] = []

    def add(self, search: Search, answer: _Answer) -> None:
        """Add the rows of an answer. A fare that is not valid one way is left out."""
        self.answers += 1
        if answer.error is not None and not isinstance(answer.error, NoSailingsError):
            reason = f"{type(answer.error).__name__}: {answer.error}"
            self._rows.append(_Row(self._add_search(search, answer, "failed", reason=reason)))
            return

        rows_before = len(self._rows)
        answered = self._add_search(search, answer, "answered")
        sailings = Records[Availability]() if answer.value is None else answer.value
        for record in sailings.unreadable:
            self._add_lost(answered, f"{record.field}: {record.problem}")
        for sailing in sailings:
            fares = [tariff for tariff in sailing.tariffs if not tariff.roundtrip_locked]
            if not fares or not sailing.places:
                continue
            if _is_storable(sailing.depart_at) and _is_storable(sailing.arrive_at):
                self._add_sailing(answered, sailing, fares)
            else:
                self._add_lost(answered, _NOT_A_MOMENT)

        if len(self._rows) == rows_before:
            self._rows.append(_Row(self._add_search(search, answer, "nothing")))

    def table(self) -> Any:  # noqa: ANN401 -- a pyarrow.Table
        """Return the rows as a table. A price that cannot be written as it is gives its reason."""
        try:
            fares = self._fare_table()
        except pa.ArrowInvalid:
            self._replace_lost()
            fares = self._fare_table()

        searches = pa.Table.from_pylist(self._searches, schema=pa.schema([*_SEARCH.items()]))
        sailings = pa.Table.from_pylist(self._sailings, schema=pa.schema([*_SAILING.items()]))

        columns: list[Any] = []
        columns += _take(searches, [row.search for row in self._rows])
        columns += _take(sailings, [row.sailing for row in self._rows])
        columns += _take(fares, [row.fare for row in self._rows])
        return pa.table(columns, schema=SCHEMA)

    def _fare_table(self) -> Any:  # noqa: ANN401 -- a pyarrow.Table
        """Return the table of the fares.

        Raises:
            pyarrow.ArrowInvalid: A price would be rounded, or is too large.
        """
        fares = self._fares
        columns = [fares.types, fares.prices, fares.currencies, fares.expiration_dates]
        types = [*_FARE.values()]
        arrays = [pa.array(column, type_) for column, type_ in zip(columns, types, strict=True)]
        return pa.table(arrays, names=[*_FARE])

    def _replace_lost(self) -> None:
        """Replace the rows of the prices that cannot be written by rows that say why."""
        rows = self._rows
        self._rows = []
        prices = self._fares.prices
        for row in rows:
            if row.fare is None:
                self._rows.append(row)
                continue

            prices[row.fare] = _price_of(prices[row.fare])
            if prices[row.fare] is None:
                self._add_lost(row.search, "a price with more than 4 decimals or 14 digits")
            else:
                self._rows.append(row)

    def _add_lost(self, search: int, reason: str) -> None:
        """Add the row of a sailing or a fare that cannot be read or written."""
        self._rows.append(_Row(self._copy_search(search, status="unreadable", reason=reason)))

    def _copy_search(self, search: int, **changes: str) -> int:
        """Add a search with other values, but without a row, and return its number."""
        self._searches.append({**self._searches[search], **changes})
        return len(self._searches) - 1

    def _add_search(
        self, search: Search, answer: _Answer, status: str, reason: str | None = None
    ) -> int:
        """Add a search without a row, and return its number."""
        self._searches.append(
            {
                "search": search.key,
                "status": status,
                "reason": reason,
                "asked_at": datetime.fromtimestamp(answer.began_at, UTC),
                **search.route._asdict(),
                "party": search.party.name,
                "day": search.day,
            }
        )
        return len(self._searches) - 1

    def _add_sailing(self, search: int, sailing: Availability, fares: Sequence[Tariff]) -> None:
        """Add the rows of a sailing's fares. No model is kept: that would take much memory."""
        number = len(self._sailings)
        self._sailings.append(
            {
                "sailing_id": sailing.sailing_id,
                "ship_name": sailing.ship_name,
                "depart_at": sailing.depart_at,
                "depart_local": sailing.depart_at.replace(tzinfo=None),
                "arrive_at": sailing.arrive_at,
                "arrive_local": sailing.arrive_at.replace(tzinfo=None),
            }
        )

        for fare in fares:
            fare_search = search
            expires_at = fare.expiration_date
            problem = _problem_of_expiration(expires_at)
            if problem is not None:
                # The price can be read, so it stays: nobody books with the end of a tariff.
                fare_search = self._copy_search(search, reason=problem)
                expires_at = None

            self._rows.append(_Row(fare_search, sailing=number, fare=len(self._fares.types)))
            self._fares.types.append(fare.type)
            self._fares.prices.append(fare.amount)
            self._fares.currencies.append(fare.currency)
            self._fares.expiration_dates.append(expires_at)


def _take(table: Any, numbers: list[int | None]) -> list[Any]:  # noqa: ANN401 -- a pyarrow.Table
    """Return the columns of a table with the entry of each row; null where it has none."""
    return [*table.take(pa.array(numbers, pa.int64())).columns]


def _price_of(amount: Decimal) -> Decimal | None:
    """Return an amount with the decimals of the column; None if it does not fit into it."""
    try:
        return _CONTEXT.quantize(amount, _DECIMALS)  # whatever the caller's decimal context
    except ArithmeticError:  # it would be rounded, or has too many digits
        return None


def _problem_of_expiration(expires_at: datetime | str | None) -> str | None:
    """Return why the end of a tariff cannot be written; None if it can, or if there is none."""
    if expires_at is None:
        return None
    if isinstance(expires_at, str):
        return _EXPIRATION_UNREADABLE
    return None if _is_storable(expires_at) else _EXPIRATION_NOT_STORABLE


def _is_storable(moment: datetime) -> bool:
    """Return whether a moment is in the years 1 to 9999 in UTC."""
    if MINYEAR < moment.year < MAXYEAR:
        return True
    try:
        moment.astimezone(UTC)
    except OverflowError:
        return False
    return True
