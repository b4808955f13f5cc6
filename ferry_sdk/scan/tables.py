"""The rows of answers: a row for each fare, and one for a search without a fare."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import MAXYEAR, MINYEAR, datetime, timezone
from decimal import Context, Decimal
from typing import Any, Final

import pyarrow as untyped_pa  # type: ignore[import-untyped]  # noqa: ICN001 -- it has no types

from ferry_sdk.errors import FerryError, NoSailingsError
from ferry_sdk.models.availability import Availability
from ferry_sdk.models.records import Records
from ferry_sdk.scan.searches import Search

pa: Any = untyped_pa

_TYPES: Final = {
    **dict.fromkeys(
        ("asked_at", "depart_at", "arrive_at", "expires_at"), pa.timestamp("us", "UTC")
    ),
    **dict.fromkeys(("depart_local", "arrive_local"), pa.timestamp("us")),
    "day": pa.date32(),
    "price": pa.decimal128(18, 4),
}
_COLUMNS: Final = """
    search status reason asked_at party company depart_code arrive_code journey_id day
    sailing_id ship_name depart_at depart_local arrive_at arrive_local
    tariff_type price currency expires_at
"""
SCHEMA: Final = pa.schema([(name, _TYPES.get(name, pa.string())) for name in _COLUMNS.split()])
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
    """The rows of answers. No model is kept: that would take much memory.

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
        self._rows: list[dict[str, object]] = []

    def add(self, answer: Answer) -> None:
        """Add the rows of an answer. A fare that is not valid one way is left out."""
        self.answers += 1
        search = answer.search.cells | {"asked_at": answer.asked_at}
        if answer.error is not None and not isinstance(answer.error, NoSailingsError):
            self.failures.append(f"{type(answer.error).__name__}: {answer.error}")
            self._rows.append({**search, "status": "failed", "reason": self.failures[-1]})
            return
        before = len(self._rows)
        for item in answer.sailings.unreadable:
            self._add_lost(search, f"{item.field}: {item.problem}")
        for sailing in answer.sailings:
            if sailing.places:
                self._add_sailing(search, sailing)
        if len(self._rows) == before:
            self.nothing += 1
            self._rows.append({**search, "status": "nothing"})

    def table(self) -> Any:  # noqa: ANN401 -- a pyarrow.Table
        """Return the rows as a table."""
        return pa.Table.from_pylist(self._rows, schema=SCHEMA)

    def _add_sailing(self, search: dict[str, object], sailing: Availability) -> None:
        """Add the rows of a sailing's fares. What cannot be written as it is gives its reason."""
        fares = [tariff for tariff in sailing.tariffs if not tariff.roundtrip_locked]
        if fares and not (_is_storable(sailing.depart_at) and _is_storable(sailing.arrive_at)):
            self._add_lost(search, _NOT_A_MOMENT)
            return
        row = search | {
            "status": "answered",
            "sailing_id": sailing.sailing_id,
            "ship_name": sailing.ship_name,
            "depart_at": sailing.depart_at,
            "depart_local": sailing.depart_at.replace(tzinfo=None),
            "arrive_at": sailing.arrive_at,
            "arrive_local": sailing.arrive_at.replace(tzinfo=None),
        }
        for fare in fares:
            price = _price_of(fare.amount)
            if price is None:
                self._add_lost(search, "a price with more than 4 decimals or 14 digits")
            elif not _is_storable(fare.expiration_date):
                self._add_lost(search, _NOT_A_MOMENT)
            else:
                end = {"currency": fare.currency, "expires_at": fare.expiration_date}
                self._rows.append({**row, "tariff_type": fare.type, "price": price, **end})

    def _add_lost(self, search: dict[str, object], reason: str) -> None:
        """Add the row of a sailing or a fare that cannot be read or written."""
        self.lost.append(reason)
        self._rows.append({**search, "status": "unreadable", "reason": reason})


def _price_of(amount: Decimal) -> Decimal | None:
    """Return an amount with the decimals of the column; None if it does not fit into it."""
    if not -_MOST < amount < _MOST:
        return None
    price = _CONTEXT.quantize(amount, _DECIMALS)  # whatever the caller's decimal context
    return price if price == amount else None


def _is_storable(moment: datetime) -> bool:
    """Return whether a moment is in the years 1 to 9999 in UTC."""
    try:
        return MINYEAR < moment.year < MAXYEAR or bool(moment.astimezone(timezone.utc))
    except OverflowError:
        return False
