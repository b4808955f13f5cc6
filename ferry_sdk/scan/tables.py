"""The rows of answers: a row for each fare, and one for a search without a fare."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import MAXYEAR, MINYEAR, datetime, timezone
from decimal import Context, Decimal, Inexact, InvalidOperation
from typing import Any, Final

import pyarrow as untyped_pa  # type: ignore[import-untyped]  # noqa: ICN001 -- it has no types

from ferry_sdk._engine.batch import BatchAnswer
from ferry_sdk.errors import NoSailingsError
from ferry_sdk.models.availability import Availability, Tariff
from ferry_sdk.models.records import Records
from ferry_sdk.scan.searches import Search

pa: Any = untyped_pa

_Answer = BatchAnswer[Any, Records[Availability]]
_Columns = tuple[list[Any], ...]

_TEXT: Final = pa.string()
_MOMENT: Final = pa.timestamp("us", "UTC")
_CLOCK: Final = pa.timestamp("us")
_SEARCH: Final = {
    **dict.fromkeys(("search", "status", "reason"), _TEXT),
    "asked_at": _MOMENT,
    **dict.fromkeys(("party", "company", "depart_code", "arrive_code", "journey_id"), _TEXT),
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


class Rows:
    """The rows of answers.

    What several rows share is converted once: a row names its search, its sailing and its fare by
    number.

    Attributes:
        answers: The number of answers.
    """

    def __init__(self) -> None:
        self.answers: int = 0
        self._searches: list[dict[str, object]] = []
        self._sailings: list[dict[str, object]] = []
        self._fares: _Columns = ([], [], [], [])
        self._rows: _Columns = ([], [], [])

    def add(self, search: Search, answer: _Answer) -> None:
        """Add the rows of an answer. A fare that is not valid one way is left out."""
        self.answers += 1
        if answer.error is not None and not isinstance(answer.error, NoSailingsError):
            reason = f"{type(answer.error).__name__}: {answer.error}"
            self._add_row(self._add_search(search, answer, "failed", reason))
            return
        before = len(self._rows[0])
        answered = self._add_search(search, answer, "answered")
        sailings = Records[Availability]() if answer.value is None else answer.value
        for item in sailings.unreadable:
            self._add_lost(answered, f"{item.field}: {item.problem}")
        for sailing in sailings:
            fares = [tariff for tariff in sailing.tariffs if not tariff.roundtrip_locked]
            if fares and sailing.places:
                if _is_storable(sailing.depart_at) and _is_storable(sailing.arrive_at):
                    self._add_sailing(answered, sailing, fares)
                else:
                    self._add_lost(answered, _NOT_A_MOMENT)
        if len(self._rows[0]) == before:
            self._add_row(self._add_search(search, answer, "nothing"))

    def table(self) -> Any:  # noqa: ANN401 -- a pyarrow.Table
        """Return the rows as a table. A fare that cannot be written as it is gives its reason."""
        try:
            fares = self._fare_table()
        except (pa.ArrowInvalid, OverflowError):
            self._replace_lost()
            fares = self._fare_table()
        searches = pa.Table.from_pylist(self._searches, schema=pa.schema([*_SEARCH.items()]))
        sailings = pa.Table.from_pylist(self._sailings, schema=pa.schema([*_SAILING.items()]))
        columns = (
            column
            for table, numbers in zip((searches, sailings, fares), self._rows, strict=True)
            for column in table.take(pa.array(numbers, pa.int64())).columns
        )
        return pa.table([*columns], schema=SCHEMA)

    def _fare_table(self) -> Any:  # noqa: ANN401 -- a pyarrow.Table
        """Return the table of the fares.

        Raises:
            pyarrow.ArrowInvalid: A price would be rounded, or is too large.
            OverflowError: A moment is not in the years 1 to 9999 in UTC.
        """
        moments = [moment for moment in self._fares[3] if moment is not None]
        if not {moment.year for moment in moments}.isdisjoint((MINYEAR, MAXYEAR)):
            for moment in moments:
                moment.astimezone(timezone.utc)
        arrays = [pa.array(*pair) for pair in zip(self._fares, _FARE.values(), strict=True)]
        return pa.table(arrays, names=[*_FARE])

    def _replace_lost(self) -> None:
        """Replace the rows of the fares that cannot be written by rows that say why."""
        _, amounts, _, moments = self._fares
        rows, self._rows = [*zip(*self._rows, strict=True)], ([], [], [])
        for search, sailing, fare in rows:
            if fare is not None:
                amounts[fare] = _price_of(amounts[fare])
            if fare is not None and amounts[fare] is None:
                self._add_lost(search, "a price with more than 4 decimals or 14 digits")
            elif fare is not None and not _is_storable(moments[fare]):
                moments[fare] = None
                self._add_lost(search, _NOT_A_MOMENT)
            else:
                self._add_row(search, sailing, fare)

    def _add_lost(self, search: int, reason: str) -> None:
        """Add the row of a sailing or a fare that cannot be read or written."""
        self._searches.append({**self._searches[search], "status": "unreadable", "reason": reason})
        self._add_row(len(self._searches) - 1)

    def _add_search(
        self, search: Search, answer: _Answer, status: str, reason: str | None = None
    ) -> int:
        """Add a search without a row, and return its number."""
        asked_at = datetime.fromtimestamp(answer.began_at, timezone.utc)
        cells = {"search": search.key, "status": status, "reason": reason, "asked_at": asked_at}
        route = search.route._asdict()
        self._searches.append({**cells, **route, "party": search.party.name, "day": search.day})
        return len(self._searches) - 1

    def _add_row(self, search: int, sailing: int | None = None, fare: int | None = None) -> None:
        _extend(self._rows, [search], [sailing], [fare])

    def _add_sailing(self, search: int, sailing: Availability, fares: Sequence[Tariff]) -> None:
        """Add the rows of a sailing's fares. No model is kept: that would take much memory."""
        number, first, count = len(self._sailings), len(self._fares[0]), len(fares)
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
        _extend(self._rows, [search] * count, [number] * count, range(first, first + count))
        _extend(
            self._fares,
            [fare.type for fare in fares],
            [fare.amount for fare in fares],
            [fare.currency for fare in fares],
            [fare.expiration_date for fare in fares],
        )


def _extend(columns: _Columns, *values: Iterable[object]) -> None:
    for column, more in zip(columns, values, strict=True):
        column.extend(more)


def _price_of(amount: Decimal) -> Decimal | None:
    """Return an amount with the decimals of the column; None if it does not fit into it."""
    try:
        return _CONTEXT.quantize(amount, _DECIMALS)  # whatever the caller's decimal context
    except ArithmeticError:  # it would be rounded, or has too many digits
        return None


def _is_storable(moment: datetime) -> bool:
    """Return whether a moment is in the years 1 to 9999 in UTC."""
    try:
        return MINYEAR < moment.year < MAXYEAR or bool(moment.astimezone(timezone.utc))
    except OverflowError:
        return False
