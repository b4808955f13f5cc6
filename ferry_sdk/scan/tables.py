"""The rows of answers: a row for each fare, and one for a search without a fare."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import MAXYEAR, MINYEAR, datetime, timezone
from decimal import Context, Decimal, Inexact, InvalidOperation
from typing import Any, Final

import pyarrow as untyped_pa  # type: ignore[import-untyped]  # noqa: ICN001 -- it has no types

from ferry_sdk._engine.batch import BatchAnswer
from ferry_sdk.errors import NoSailingsError
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
Row = dict[str, object]
_DECIMALS: Final = Decimal("0.0001")
_CONTEXT: Final = Context(prec=18, traps=[Inexact, InvalidOperation])
_NOT_A_MOMENT: Final = "a moment before the year 1 or after 9999 in UTC"


def rows_of(search: Search, answer: BatchAnswer[Any, Records[Availability]]) -> list[Row]:
    """Return the rows of a search. A fare that is not valid one way is left out."""
    asked_at = datetime.fromtimestamp(answer.began_at, timezone.utc)
    cells = search.cells | {"asked_at": asked_at}
    if answer.error is not None and not isinstance(answer.error, NoSailingsError):
        reason = f"{type(answer.error).__name__}: {answer.error}"
        return [{**cells, "status": "failed", "reason": reason}]
    sailings = Records[Availability]() if answer.value is None else answer.value
    rows = [_lost(cells, f"{item.field}: {item.problem}") for item in sailings.unreadable]
    for sailing in sailings:
        if sailing.places:
            rows += _fares_of(sailing, cells)
    return rows or [{**cells, "status": "nothing"}]


def table_of(rows: list[Row]) -> Any:  # noqa: ANN401 -- a pyarrow.Table
    """Return rows as a table."""
    return pa.Table.from_pylist(rows, schema=SCHEMA)


def _fares_of(sailing: Availability, cells: Row) -> Iterator[Row]:
    """Yield the rows of a sailing's fares. What cannot be written as it is gives its reason."""
    fares = [tariff for tariff in sailing.tariffs if not tariff.roundtrip_locked]
    if fares and not (_is_storable(sailing.depart_at) and _is_storable(sailing.arrive_at)):
        yield _lost(cells, _NOT_A_MOMENT)
        return
    cells_of_sailing = {
        **cells,
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
            yield _lost(cells, "a price with more than 4 decimals or 14 digits")
        elif not _is_storable(fare.expiration_date):
            yield _lost(cells, _NOT_A_MOMENT)
        else:
            yield {
                **cells_of_sailing,
                "tariff_type": fare.type,
                "price": price,
                "currency": fare.currency,
                "expires_at": fare.expiration_date,
            }


def _lost(cells: Row, reason: str) -> Row:
    """Return the row of a sailing or a fare that cannot be read or written."""
    return {**cells, "status": "unreadable", "reason": reason}


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
