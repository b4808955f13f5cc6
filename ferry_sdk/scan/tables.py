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

    What several rows share is converted once: a row names its search, its sailing and its fare by
    number.

    Attributes:
        answers: The number of answers.
        nothing: The searches for which nothing sails.
        failures: Why searches failed.
        lost: Why sailings and prices could not be read.
    """

    def __init__(self) -> None:
        self.answers: int = 0
        self.nothing: int = 0
        self.failures: list[str] = []
        self.lost: list[str] = []
        self._searches: list[tuple[object, ...]] = []
        self._sailings: list[Availability] = []
        self._fares: list[Tariff] = []
        self._prices: list[Decimal] = []
        self._rows: tuple[list[int], list[int | None], list[int | None]] = ([], [], [])

    def add(self, answer: Answer) -> None:
        """Add the rows of an answer. A fare that is not valid one way is left out."""
        self.answers += 1
        if answer.error is not None and not isinstance(answer.error, NoSailingsError):
            self.failures.append(f"{type(answer.error).__name__}: {answer.error}")
            self._add_row(self._add_search(answer, "failed", self.failures[-1]))
            return
        before = len(self._rows[0])
        for item in answer.sailings.unreadable:
            self._add_lost(answer, f"{item.field}: {item.problem}")
        answered = self._add_search(answer, "answered")
        for sailing in answer.sailings:
            tariffs = [tariff for tariff in sailing.tariffs if not tariff.roundtrip_locked]
            if tariffs and sailing.places:
                self._add_fares(answer, answered, sailing, tariffs)
        if len(self._rows[0]) == before:
            self.nothing += 1
            self._add_row(self._add_search(answer, "nothing"))

    def table(self) -> Any:  # noqa: ANN401 -- a pyarrow.Table
        """Return the rows as a table."""
        departs = [sailing.depart_at for sailing in self._sailings]
        arrives = [sailing.arrive_at for sailing in self._sailings]
        tables = (
            _table(_SEARCH, [*zip(*self._searches, strict=True)] or [()] * len(_SEARCH)),
            _table(
                _SAILING,
                [
                    [sailing.sailing_id for sailing in self._sailings],
                    [sailing.ship_name for sailing in self._sailings],
                    departs,
                    [moment.replace(tzinfo=None) for moment in departs],
                    arrives,
                    [moment.replace(tzinfo=None) for moment in arrives],
                ],
            ),
            _table(
                _FARE,
                [
                    [fare.type for fare in self._fares],
                    self._prices,
                    [fare.currency for fare in self._fares],
                    [fare.expiration_date for fare in self._fares],
                ],
            ),
        )
        columns = (
            column
            for table, numbers in zip(tables, self._rows, strict=True)
            for column in table.take(pa.array(numbers, pa.int64())).columns
        )
        return pa.table([*columns], schema=SCHEMA)

    def _add_lost(self, answer: Answer, reason: str) -> None:
        self.lost.append(reason)
        self._add_row(self._add_search(answer, "unreadable", reason))

    def _add_search(self, answer: Answer, status: str, reason: str | None = None) -> int:
        """Add a search without a row, and return its number."""
        search = answer.search
        row = (search.key, status, reason, answer.asked_at, search.party.name, search.route.company)
        route = (search.route.depart_code, search.route.arrive_code, search.route.journey_id)
        self._searches.append((*row, *route, search.day))
        return len(self._searches) - 1

    def _add_row(self, search: int) -> None:
        """Add the row of a search without a fare."""
        searches, sailings, fares = self._rows
        searches.append(search)
        sailings.append(None)
        fares.append(None)

    def _add_fares(
        self, answer: Answer, search: int, sailing: Availability, tariffs: Sequence[Tariff]
    ) -> None:
        """Add the rows of the fares of a sailing. No price is rounded."""
        if not (_is_storable(sailing.depart_at) and _is_storable(sailing.arrive_at)):
            self._add_lost(answer, _NOT_A_MOMENT)
            return
        searches, sailings, fares = self._rows
        for tariff in tariffs:
            price = _price_of(tariff.amount)
            if price is None:
                self._add_lost(answer, "a price with more than 4 decimals or 14 digits")
            elif not _is_storable(tariff.expiration_date):
                self._add_lost(answer, _NOT_A_MOMENT)
            else:
                searches.append(search)
                sailings.append(len(self._sailings))
                fares.append(len(self._fares))
                self._fares.append(tariff)
                self._prices.append(price)
        self._sailings.append(sailing)


def _price_of(amount: Decimal) -> Decimal | None:
    """Return an amount with the decimals of the column; None if it does not fit into it."""
    if not -_MOST < amount < _MOST:
        return None
    price = _CONTEXT.quantize(amount, _DECIMALS)  # whatever the caller's decimal context
    return price if price == amount else None


def _is_storable(moment: datetime) -> bool:
    """Return whether a moment is in the years 1 to 9999 in UTC."""
    try:
        return 1 < moment.year < 9999 or bool(moment.astimezone(timezone.utc))  # noqa: PLR2004
    except OverflowError:
        return False


def _table(kinds: dict[str, Any], columns: Sequence[Sequence[object]]) -> Any:  # noqa: ANN401 -- a pyarrow.Table
    arrays = [pa.array(column, kind) for kind, column in zip(kinds.values(), columns, strict=True)]
    return pa.table(arrays, schema=pa.schema([*kinds.items()]))
