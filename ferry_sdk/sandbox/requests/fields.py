"""The types of the fields in requests.

Each type has its own error message, and the same rule in validation and in the published JSON
Schema: the service reads every value that the schema allows.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, time
from typing import Annotated, Any, Final, Literal, LiteralString, TypeVar

from pydantic import (
    BeforeValidator,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    TypeAdapter,
    WithJsonSchema,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import PydanticCustomError, core_schema

from ferry_sdk._runtime.clock import Date, Datetime
from ferry_sdk.sandbox.requests.errors import messages

FieldT = TypeVar("FieldT")

_DAY: Final = r"[1-9][0-9]{3}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])"
# Not \s, which means other characters in the patterns of other languages.
_SPACES: Final = r"\x00-\x20\x7f-\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
_HOUR: Final = r"(?:[01][0-9]|2[0-3]):[0-5][0-9]"
_MOMENT: Final = (
    r"(?!0000)[0-9]{4}-(?!02-3|(?:0[469]|11)-31)(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])"
    rf"[Tt]{_HOUR}(?::[0-5][0-9](?:[.,][0-9]+)?)?(?:[Zz]|[+-](?:[01][0-9]|2[0-3]):?[0-5][0-9])"
)


@dataclass(frozen=True, slots=True)
class Pattern:
    """A check that a text matches a pattern, which also appears in the schema.

    Attributes:
        pattern: The pattern for the whole text.
        text: The key of the error message.
        parse: What reads the value of the text, or refuses it; by default the value is the text.
    """

    pattern: str
    text: LiteralString
    parse: Callable[[str], object] = str

    def __get_pydantic_core_schema__(
        self, source: object, handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        return core_schema.no_info_before_validator_function(self._read, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        record = {**handler(schema), "pattern": f"^{self.pattern}$"}
        if record.get("format") in {"time", "date-time"}:
            del record["format"]  # RFC 3339 requires seconds
        return record

    def _read(self, value: object) -> object:
        if not isinstance(value, str):
            return value
        if re.fullmatch(self.pattern, value):
            with suppress(ValueError):
                return self.parse(value)
        raise PydanticCustomError(self.text, "{message}", {"message": messages("en")[self.text]})


def _allow_empty(schema: dict[str, Any]) -> None:
    schema["anyOf"].append({"const": ""})


def _whole(value: object) -> object:
    """Convert a float without fraction: JSON has one type of number, so 34.0 is whole."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def _empty_to_null(value: object) -> object:
    return None if value == "" else value


def _null_to_ticket(value: object) -> object:
    return "TICKET" if value is None else value


WHOLE = BeforeValidator(_whole)
OrEmpty = Annotated[
    FieldT | None,
    BeforeValidator(_empty_to_null),
    Field(json_schema_extra=_allow_empty),
]
"""A field that may be null; an empty text is read as null."""
Text = Annotated[str, Field(max_length=200), Pattern(rf"[\s\S]*[^{_SPACES}][\s\S]*", "empty")]
Day = Annotated[Date, Pattern(_DAY, "date", date.fromisoformat)]
Hour = Annotated[time, Pattern(_HOUR, "time", time.fromisoformat)]
Moment = Annotated[Datetime, Pattern(_MOMENT, "moment", TypeAdapter(Datetime).validate_python)]
Email = Annotated[str, Field(max_length=254), Pattern(rf"[^@{_SPACES}]+@[^@{_SPACES}]+", "email")]
Age = Annotated[int, Field(ge=0, le=120), WHOLE]
Country = Annotated[str, Pattern(r"[A-Za-z]{2}", "country", str.upper)]
DocumentNumber = Annotated[str, Pattern(r"[A-Za-z0-9 /-]{3,30}", "document_number")]
Prefix = Annotated[str, Pattern(r"(?:\+|00)?[1-9][0-9]{0,3}", "prefix")]
Phone = Annotated[str, Pattern(r"[0-9]{4,14}", "phone")]
VehicleCode = Annotated[Text, Pattern(rf"[^{_SPACES}]+?__[^{_SPACES}]+", "vehicle_form")]


ReservationType = Annotated[
    Literal["TICKET", "PRESALE", "OPTION"],
    BeforeValidator(_null_to_ticket),
    WithJsonSchema({"enum": ["TICKET", "PRESALE", "OPTION", None]}),
]
