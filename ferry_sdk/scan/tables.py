"""The rows of answers: a row for each fare, and one for a search without a fare."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import MAXYEAR, MINYEAR, datetime, timezone
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
SCHEMA: Final = pa.schema(
    {
        **dict.fromkeys(("search", "status", "reason"), _TEXT),
        "asked_at": _MOMENT,
        **dict.fromkeys(("party", "company", "depart_code", "arrive_code", "journey_id"), _TEXT),
        "day": pa.date32(),
        **dict.fromkeys(("sailing_id", "ship_name"), _TEXT),
        "depart_at": _MOMENT,
        "depart_local": _CLOCK,
        "arrive_at": _MOMENT,
        "arrive_local": _CLOCK,
        "tariff_type": _TEXT,
        "price": pa.decimal128(18, 4),
        "currency": _TEXT,
        "expires_at": _MOMENT,
    }
)
_NO_FARE: Final = (None,) * 10
"""The columns of a sailing and its fare, in the row of a search that has none."""
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

    def columns(self, status: str, reason: str | None = None) -> tuple[object, ...]:
        """Return the columns of the search, which all of its rows have."""
        search = self.search
        route = search.route
        ends = route.depart_code, route.arrive_code, route.journey_id
        asked = self.asked_at, search.party.name, route.company
        return (search.key, status, reason, *asked, *ends, search.day)


class Rows:
    """The rows of answers. They hold no model: that would take much memory.

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
        self._rows: list[tuple[object, ...]] = []

    def add(self, answer: Answer) -> None:
        """Add the rows of an answer. A fare that is not valid one way is left out."""
        self.answers += 1
        if answer.error is not None and not isinstance(answer.error, NoSailingsError):
            self.failures.append(f"{type(answer.error).__name__}: {answer.error}")
            self._rows.append(answer.columns("failed", self.failures[-1]) + _NO_FARE)
            return
        before = len(self._rows)
        for item in answer.sailings.unreadable:
            self._add_lost(answer, f"{item.field}: {item.problem}")
        answered = answer.columns("answered")
        for sailing in answer.sailings:
            fares = [tariff for tariff in sailing.tariffs if not tariff.roundtrip_locked]
            if fares and sailing.places:
                self._add_sailing(answer, answered, sailing, fares)
        if len(self._rows) == before:
            self.nothing += 1
            self._rows.append(answer.columns("nothing") + _NO_FARE)

    def table(self) -> Any:  # noqa: ANN401 -- a pyarrow.Table
        """Return the rows as a table."""
        columns = [*zip(*self._rows, strict=True)] or [()] * len(SCHEMA)
        kinds = zip(columns, SCHEMA.types, strict=True)
        return pa.table([pa.array(column, kind) for column, kind in kinds], schema=SCHEMA)

    def _add_sailing(
        self,
        answer: Answer,
        answered: tuple[object, ...],
        sailing: Availability,
        fares: Sequence[Tariff],
    ) -> None:
        """Add the rows of a sailing's fares. What cannot be written as it is gives its reason."""
        depart, arrive = sailing.depart_at, sailing.arrive_at
        if not (_is_storable(depart) and _is_storable(arrive)):
            self._add_lost(answer, _NOT_A_MOMENT)
            return
        moments = depart, depart.replace(tzinfo=None), arrive, arrive.replace(tzinfo=None)
        sailed = (*answered, sailing.sailing_id, sailing.ship_name, *moments)
        for fare in fares:
            price = _price_of(fare.amount)
            if price is None:
                self._add_lost(answer, "a price with more than 4 decimals or 14 digits")
            elif not _is_storable(fare.expiration_date):
                self._add_lost(answer, _NOT_A_MOMENT)
            else:
                self._rows.append((*sailed, fare.type, price, fare.currency, fare.expiration_date))

    def _add_lost(self, answer: Answer, reason: str) -> None:
        """Add the row of a sailing or a fare that cannot be read or written."""
        self.lost.append(reason)
        self._rows.append(answer.columns("unreadable", reason) + _NO_FARE)


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
