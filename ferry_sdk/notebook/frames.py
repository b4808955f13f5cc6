"""Convert records to a pandas frame, one row a record, with a dtype for each field type."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from enum import Enum
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, Union, get_args, get_origin

from pydantic import BaseModel

from ferry_sdk._runtime.extras import needs_extra
from ferry_sdk.errors import InvalidInputError
from ferry_sdk.notebook.records import cheapest_ticket, models_of, sailings_of

if TYPE_CHECKING:
    from ferry_sdk.models.availability import Availability, Tariff
    from ferry_sdk.models.base import Model

with needs_extra("frames and charts require", "notebook", ("pandas", "numpy")):
    import numpy as np
    from pandas import DataFrame, Series

__all__ = ["By", "DataFrame", "MoneyAs", "frame_of"]

By = Literal["record", "tariff"]
"""The content of a row."""

MoneyAs = Literal["decimal", "float"]
"""The type of amounts."""

_UTC: Final = "datetime64[us, UTC]"
_LOCAL: Final = "datetime64[us]"
_DTYPES: Final[dict[object, str]] = {
    str: "string",
    bool: "bool",
    int: "int64",
    float: "float64",
    Decimal: "money",
    timedelta: "timedelta64[us]",
}
_NULLABLE: Final = {int: "Int64"}
"""The dtypes of fields that some of the records do not have."""
_FIRST, _LAST = np.datetime64("0001-01-01"), np.datetime64("9999-12-31T23:59:59.999999")
_MOMENTS: Final = {datetime, type(None)}

_Column = tuple[str, Sequence[Any]]
"""The dtype, or "money", and the values."""


def check_options(by: object, money: object, *, has_tariffs: bool = True) -> None:
    """Check the options of a frame.

    Raises:
        InvalidInputError: An option has another value, or there are no tariffs for rows of them.
    """
    if by not in get_args(By):
        raise InvalidInputError("expected record or tariff", field="by")
    if money not in get_args(MoneyAs):
        raise InvalidInputError("expected decimal or float", field="money")
    if by == "tariff" and not has_tariffs:
        raise InvalidInputError("these records have no tariffs", field="by")


def frame_of_columns(
    columns: Mapping[str, tuple[str, Sequence[object]]],
    money: MoneyAs = "decimal",
    *,
    unreadable: int = 0,
) -> DataFrame:
    """Return a frame of columns, each with its dtype, or "money", and its values.

    Args:
        columns: The columns.
        money: The type of amounts.
        unreadable: How many records could not be read and have no row; in the frame's ``attrs``.
    """
    money_dtype = "object" if money == "decimal" else "float64"
    data: dict[str, Series[Any]] = {}
    for name, (dtype, values) in columns.items():
        data[name] = _series(values, money_dtype if dtype == "money" else dtype)

    frame: DataFrame = DataFrame(data)
    frame.attrs["unreadable"] = unreadable
    return frame


def frame_of(records: Iterable[object], *, by: By, money: MoneyAs) -> DataFrame:
    """Return a frame; see `Records.to_frame`."""
    members = [*records]
    models = models_of(members)
    sailings = sailings_of(models)
    check_options(by, money, has_tariffs=len(sailings) == len(models))
    if len(models) < len(members):
        raise InvalidInputError("a frame has only the service's records", field="records")

    of_tariffs: dict[str, _Column] = {}
    if by == "tariff":
        tariffs: list[Tariff] = []
        repeated: list[Availability] = []  # each sailing as often as it has tariffs
        for sailing in sailings:
            tariffs += sailing.tariffs
            repeated += [sailing] * len(sailing.tariffs)
        of_tariffs = dict(_columns(tariffs, "tariff_"))
        sailings = repeated
        models = [*repeated]

    columns = {**dict(_columns(models, "")), **dict(_sailing_columns(sailings)), **of_tariffs}
    return frame_of_columns(columns, money, unreadable=len(getattr(records, "unreadable", ())))


def _sailing_columns(sailings: Sequence[Availability]) -> Iterator[tuple[str, _Column]]:
    """Yield the additional columns of sailings."""
    if not sailings:
        return
    departures = [sailing.depart_at.replace(tzinfo=None) for sailing in sailings]
    arrivals = [sailing.arrive_at.replace(tzinfo=None) for sailing in sailings]
    yield "depart_local", (_LOCAL, departures)
    yield "arrive_local", (_LOCAL, arrivals)
    yield "travel_time", (_DTYPES[timedelta], [sailing.travel_time for sailing in sailings])

    tickets = [cheapest_ticket(sailing) for sailing in sailings]
    yield "lowest_amount", ("money", [ticket and ticket.amount for ticket in tickets])
    yield "lowest_currency", ("string", [ticket and ticket.currency for ticket in tickets])


def _columns(models: Sequence[Model], prefix: str) -> Iterator[tuple[str, _Column]]:
    """Yield the columns of the fields in the repr.

    The fields of a nested record are columns with its name as a prefix, such as `company_name`. A
    list of records, such as the tariffs of a sailing, is a column of its length.
    """
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
            yield f"{prefix}{name}", ("int64", [len(value) for value in values])
        else:
            yield f"{prefix}{name}", (_dtype_of(kind, values), values)


def _without_none(kind: object) -> object:
    """Return the type of a field without None and without what only validates it."""
    if get_origin(kind) is Annotated:
        kind = get_args(kind)[0]
    members = [member for member in get_args(kind) if member is not type(None)]
    is_optional = get_origin(kind) in {Union, UnionType} and len(members) == 1
    if is_optional:
        return _without_none(members[0])
    return kind


def _is_a(kind: object, base: type) -> bool:
    return isinstance(kind, type) and issubclass(kind, base)


def _dtype_of(kind: object, values: Sequence[object]) -> str:
    """Return the dtype of a field type, or else that of Python objects."""
    if _is_a(kind, Enum):
        return "category"
    # The annotation of a moment names what validates it, so its values tell.
    if kind not in _DTYPES and any(values) and {type(value) for value in values} <= _MOMENTS:
        return _UTC
    dtypes = _DTYPES | _NULLABLE if None in values else _DTYPES
    return dtypes.get(kind, "object")


def _series(values: Sequence[Any], dtype: str) -> Series[Any]:
    data: Any = values
    if dtype == _UTC:
        return _utc_series(values)
    if dtype == "category":
        data = [value and str(value) for value in values]
    elif dtype.startswith("timedelta64"):
        # pandas 2 converts time spans through nanoseconds, which overflow after 292 years.
        data = np.array(values, dtype=dtype)
    as_series: Any = Series  # its overloads do not take a dtype by its name
    series: Series[Any] = as_series(data, dtype=dtype)
    return series


def _utc_series(values: Sequence[datetime | None]) -> Series[Any]:
    """Return moments in UTC, to the microsecond, because nanoseconds end in 2262.

    A moment that UTC moves out of the years 1 to 9999, which pandas cannot print, is moved back.
    """
    clocks = [None if value is None else value.replace(tzinfo=None) for value in values]
    offsets = [None if value is None else value.utcoffset() for value in values]
    moments: Any = np.array(clocks, dtype="datetime64[us]")
    moments -= np.array(offsets, dtype="timedelta64[us]")
    series: Series[Any] = Series(moments.clip(_FIRST, _LAST)).dt.tz_localize("UTC")
    return series
