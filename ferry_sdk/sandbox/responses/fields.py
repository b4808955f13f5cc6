"""The types of the fields in responses, and the error object."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field, WithJsonSchema
from typing_extensions import TypedDict

Timestamp = Annotated[
    str,
    WithJsonSchema({"type": "string", "format": "date-time"}),
    Field(description="ISO 8601, with a UTC offset."),
]

JsonObject = dict[str, Any]


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
