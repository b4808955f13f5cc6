"""The types of the fields in responses, and the error object."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, WithJsonSchema
from typing_extensions import NotRequired, TypedDict

Uuid = Annotated[str, WithJsonSchema({"type": "string", "format": "uuid"})]
Url = Annotated[str, WithJsonSchema({"type": "string", "format": "uri"})]
Day = Annotated[str, WithJsonSchema({"type": "string", "format": "date"})]
Hour = Annotated[
    str, WithJsonSchema({"type": "string", "pattern": "^(?:[01][0-9]|2[0-3]):[0-5][0-9]$"})
]
Timestamp = Annotated[
    str,
    WithJsonSchema({"type": "string", "format": "date-time"}),
    Field(description="ISO 8601, with a UTC offset."),
]
BookingId = Annotated[Uuid, Field(description="The id of the booking.")]
TicketId = Annotated[Uuid, Field(description="The id of the ticket.")]
JourneyId = Annotated[Uuid, Field(description="The id of the journey.")]
CompanyId = Annotated[Uuid, Field(description="The id of the company.")]
PortCode = Annotated[str, Field(description="The code of a port, such as FRMRS.")]
Localized = Annotated[str, Field(description="A name in the language of the request.")]
Amount = Annotated[float, Field(description="An amount with at most two decimals.")]
Minutes = Annotated[int, Field(description="A duration in minutes.")]
CountryCode = Annotated[str, Field(description="The two letters of ISO 3166-1.")]
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
