"""The types of the fields in requests.

Each type has its own error message, and the same rule in validation and in the published JSON
Schema: the service reads every value that the schema allows.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime, time
from typing import Annotated, Any, Final, Literal, TypeVar

from pydantic import (
    BeforeValidator,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    WithJsonSchema,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import PydanticCustomError, core_schema
from typing_extensions import LiteralString

FieldT = TypeVar("FieldT")

_DAY: Final = r"[1-9][0-9]{3}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])"
# The class \s has other characters in other languages.
_SPACES: Final = r"\x00-\x20\x7f-\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
_HOUR: Final = r"(?:[01][0-9]|2[0-3]):[0-5][0-9]"
# A date and a time, both with separators or both without, and the offset.
_MOMENT: Final = (
    r"(?!0000)([0-9]{4})(-?)(?!02-?3|(?:0[469]|11)-?31)(0[1-9]|1[0-2])\2(0[1-9]|[12][0-9]|3[01])"
    r"[Tt]([01][0-9]|2[0-3])(:?)([0-5][0-9])(?:\6([0-5][0-9])(?:[.,]([0-9]+))?)?"
    r"(?:[Zz]|([+-])([01][0-9]|2[0-3])(?::?([0-5][0-9]))?)"
)


@dataclass(frozen=True, slots=True)
class Pattern:
    """A check that a text matches a pattern, which also appears in the schema.

    Attributes:
        pattern: The pattern for the whole text.
        text: The key of the error message.
    """

    pattern: str
    text: LiteralString

    def __get_pydantic_core_schema__(
        self, source: object, handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        return core_schema.no_info_before_validator_function(self._check, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return {**handler(schema), "pattern": f"^{self.pattern}$"}

    def _check(self, value: object) -> object:
        if isinstance(value, str) and not re.fullmatch(self.pattern, value):
            raise PydanticCustomError(self.text, self.text)
        return value


def _allow_empty(schema: dict[str, Any]) -> None:
    schema["anyOf"].append({"const": ""})


def _whole(value: object) -> object:
    """Convert a float without fraction: JSON has one type of number, so 34.0 is whole."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _day(value: object) -> date:
    if isinstance(value, str) and re.fullmatch(_DAY, value):
        try:
            return date.fromisoformat(value)
        except ValueError:
            pass
    raise PydanticCustomError("date", "date")


def _hour(value: object) -> time:
    if isinstance(value, str) and re.fullmatch(_HOUR, value):
        return time.fromisoformat(value)
    raise PydanticCustomError("time", "time")


def _moment(value: object) -> datetime:
    # datetime.fromisoformat accepts different formats in different versions of Python.
    if isinstance(value, str) and (match := re.fullmatch(_MOMENT, value)):
        year, _, month, day, hour, _, minute, second, fraction, sign, hours, minutes = (
            match.groups()
        )
        clock = f"{hour}:{minute}:{second or '00'}.{(fraction or '')[:6]:0<6}"
        offset = f"{sign or '+'}{hours or '00'}:{minutes or '00'}"
        try:
            return datetime.fromisoformat(f"{year}-{month}-{day}T{clock}{offset}")
        except ValueError:
            pass
    raise PydanticCustomError("moment", "Expected an ISO 8601 date and time with a UTC offset")


WHOLE = BeforeValidator(_whole)
OrEmpty = Annotated[
    FieldT | None,
    BeforeValidator(lambda value: None if value == "" else value),
    Field(json_schema_extra=_allow_empty),
]
"""A field that may be null; an empty text is read as null."""
Text = Annotated[str, Field(max_length=200), Pattern(rf"[\s\S]*[^{_SPACES}][\s\S]*", "empty")]
Day = Annotated[
    date,
    BeforeValidator(_day),
    WithJsonSchema({"type": "string", "format": "date", "pattern": f"^{_DAY}$"}),
]
Hour = Annotated[
    time, BeforeValidator(_hour), WithJsonSchema({"type": "string", "pattern": f"^{_HOUR}$"})
]
Moment = Annotated[
    datetime,
    BeforeValidator(_moment),
    WithJsonSchema({"type": "string", "pattern": f"^{_MOMENT}$"}),
]
Email = Annotated[str, Field(max_length=254), Pattern(rf"[^@{_SPACES}]+@[^@{_SPACES}]+", "email")]
Age = Annotated[int, Field(ge=0, le=120), WHOLE]
Country = Annotated[str, Pattern(r"[A-Za-z]{2}", "country")]
DocumentNumber = Annotated[str, Pattern(r"[A-Za-z0-9 /-]{3,30}", "document_number")]
Prefix = Annotated[str, Pattern(r"(?:\+|00)?[1-9][0-9]{0,3}", "prefix")]
Phone = Annotated[str, Pattern(r"[0-9]{4,14}", "phone")]
VehicleCode = Annotated[Text, Pattern(rf"[^{_SPACES}]+?__[^{_SPACES}]+", "vehicle_form")]


ReservationType = Annotated[
    Literal["TICKET", "PRESALE", "OPTION"],
    BeforeValidator(lambda value: "TICKET" if value is None else value),
    WithJsonSchema({"enum": ["TICKET", "PRESALE", "OPTION", None]}),
]
