"""Records as a pandas frame: one row a record, each column of the type that its field has."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from enum import Enum
from operator import attrgetter
from types import UnionType
from typing import TYPE_CHECKING, Any, Final, Literal, Union, get_args, get_origin

from pydantic import BaseModel

from ferry_sdk.errors import InvalidInputError
from ferry_sdk.models.display.extra import needed
from ferry_sdk.models.display.kinds import cheapest_ticket, models_of, sailings_of

if TYPE_CHECKING:
    from ferry_sdk.models.availability import Availability
    from ferry_sdk.models.base import Model

with needed("pandas", "numpy"):
    import numpy as np
    from pandas import DataFrame, Series

__all__ = ["By", "DataFrame", "MoneyAs", "frame_of"]

By = Literal["record", "tariff"]
"""What a row stands for."""

MoneyAs = Literal["decimal", "float"]
"""What an amount is in a frame."""

_Clock = Literal["clock"]
"""The kind of a time on a port's own clock."""

_DTYPES: Final[dict[object, str]] = {
    str: "string",
    bool: "bool",
    int: "int64",
    float: "float64",
    timedelta: "timedelta64[us]",
    _Clock: "datetime64[us]",
}
_MOMENTS: Final = {datetime, type(None)}

_Column = tuple[str, object, Sequence[Any]]
"""A name, the type of the values, and the values."""


def _lowest(part: str) -> Callable[[Availability], object]:
    def of(sailing: Availability) -> object:
        ticket = cheapest_ticket(sailing)
        return None if ticket is None else getattr(ticket, part)

    return of


def _clock(name: str) -> Callable[[Availability], datetime]:
    return lambda sailing: getattr(sailing, name).replace(tzinfo=None)


_OF_A_SAILING: Final[tuple[tuple[str, object, Callable[[Availability], object]], ...]] = (
    ("depart_local", _Clock, _clock("depart_at")),
    ("arrive_local", _Clock, _clock("arrive_at")),
    ("travel_time", timedelta, attrgetter("travel_time")),
    ("lowest_amount", Decimal, _lowest("amount")),
    ("lowest_currency", str, _lowest("currency")),
)
"""What a sailing's row has beside its fields."""


def frame_of(records: Iterable[object], *, by: By, money: MoneyAs) -> DataFrame:
    """A frame; see `Records.to_frame`."""
    models = models_of(records)
    columns: list[_Column] = []
    if by == "tariff":
        pairs = [(one, tariff) for one in _sailings(models) for tariff in one.tariffs]
        models = [sailing for sailing, _ in pairs]
        columns = [*_columns([tariff for _, tariff in pairs], "tariff_")]
    columns = [*_columns(models, ""), *_more(models), *columns]
    made = {name: _series(kind, values, money) for name, kind, values in columns}
    frame: DataFrame = DataFrame(made)
    return frame


def _sailings(models: Sequence[Model]) -> list[Availability]:
    sailings = sailings_of(models)
    if len(sailings) < len(models):
        raise InvalidInputError("these records have no tariffs", field="by")
    return sailings


def _more(models: Sequence[Model]) -> Iterator[_Column]:
    sailings = sailings_of(models)
    if sailings:
        for name, kind, value in _OF_A_SAILING:
            yield name, kind, [*map(value, sailings)]


def _columns(models: Sequence[Model], prefix: str) -> Iterator[_Column]:
    """The fields that a repr shows; a record within a record becomes columns of its own."""
    if not models:
        return
    for name, field in type(models[0]).model_fields.items():
        if not field.repr:
            continue
        values = [getattr(model, name) for model in models]
        kind = _without_none(field.annotation)
        if _is_a(kind, BaseModel):
            yield from _columns(values, f"{prefix}{name}_")
        elif get_origin(kind) is tuple and _is_a(get_args(kind)[0], BaseModel):
            yield f"{prefix}{name}", int, [*map(len, values)]
        else:
            yield f"{prefix}{name}", kind, values


def _without_none(kind: object) -> object:
    parts = [part for part in get_args(kind) if part is not type(None)]
    return parts[0] if get_origin(kind) in {Union, UnionType} and len(parts) == 1 else kind


def _is_a(kind: object, base: type) -> bool:
    # Python 3.10 takes tuple[int, ...] for a type.
    return isinstance(kind, type) and get_origin(kind) is None and issubclass(kind, base)


def _series(kind: object, values: Sequence[Any], money: MoneyAs) -> Series[Any]:
    """A column of the dtype that belongs to a type; what no dtype can hold stays as it is."""
    dtype = _DTYPES.get(kind, "object")
    if kind is Decimal and money == "float":
        dtype = "float64"
    elif _is_a(kind, Enum):
        dtype = "category"
        values = [*map(str, values)]
    elif dtype == "object" and any(values) and _MOMENTS.issuperset(map(type, values)):
        return _moments(values)
    # Without numpy pandas 2 takes a span for nanoseconds on the way, which end after 292 years.
    data: Any = np.array(values, dtype=dtype) if kind is timedelta else values
    series: Series[Any] = Series(data, dtype=dtype)
    return series


def _moments(values: Sequence[datetime | None]) -> Series[Any]:
    """In UTC, to the microsecond: nanoseconds would end in 2262, and the calendar does not."""
    clocks = [None if value is None else value.replace(tzinfo=None) for value in values]
    offsets = [None if value is None else value.utcoffset() for value in values]
    moments = np.array(clocks, dtype="datetime64[us]") - np.array(offsets, dtype="timedelta64[us]")
    series: Series[Any] = Series(moments).dt.tz_localize("UTC")
    return series
