"""The types of the fields in responses, and the error object."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, WithJsonSchema
from typing_extensions import NotRequired, TypedDict

Uuid = Annotated[str, WithJsonSchema({"type": "string", "format": "uuid"})]
Url = Annotated[str, WithJsonSchema({"type": "string", "format": "uri"})]
Day = Annotated[str, WithJsonSchema({"type": "string", "format": "date"})]
Timestamp = Annotated[str, WithJsonSchema({"type": "string", "format": "date-time"})]
"""A date and a time with a UTC offset."""
Hour = Annotated[
    str, WithJsonSchema({"type": "string", "pattern": "^(?:[01][0-9]|2[0-3]):[0-5][0-9]$"})
]
EpochSeconds = Annotated[int, Field(description="Seconds since 1970-01-01T00:00:00Z.")]


class FieldError(TypedDict):
    """One invalid field."""

    field: Annotated[str, Field(description="The path, such as passengers[0].birth_date.")]
    message: Annotated[str, Field(description="What is wrong with it.")]


class Error(TypedDict):
    """An error, with its message in the language of the request."""

    error: Literal[True]
    code: Annotated[str, Field(description="The code of the error.")]
    message: Annotated[str, Field(description="What is wrong.")]
    field: NotRequired[Annotated[str, Field(description="The path of the first invalid field.")]]
    errors: NotRequired[Annotated[list[FieldError], Field(description="Every invalid field.")]]
