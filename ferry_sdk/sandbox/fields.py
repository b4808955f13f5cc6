"""The kinds of value that requests are made of, each with the message of what is wrong with it."""

from __future__ import annotations

import re
from datetime import date, datetime, time
from typing import Annotated

from pydantic import BeforeValidator, Field
from pydantic_core import PydanticCustomError
from typing_extensions import LiteralString


def matching(pattern: str, text: LiteralString) -> BeforeValidator:
    """A check that a text is as a pattern says, with the message that says what it should be."""
    compiled = re.compile(pattern)

    def check(value: object) -> object:
        if isinstance(value, str) and not compiled.fullmatch(value):
            raise PydanticCustomError(text, text)
        return value

    return BeforeValidator(check)


def _day(value: object) -> date:
    if isinstance(value, str) and re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", value):
        try:
            return date.fromisoformat(value)
        except ValueError:
            pass
    raise PydanticCustomError("date", "date")


def _hour(value: object) -> time:
    if isinstance(value, str) and re.fullmatch(r"[0-9]{2}:[0-9]{2}", value):
        try:
            return time.fromisoformat(value)
        except ValueError:
            pass
    raise PydanticCustomError("time", "time")


def _moment(value: object) -> datetime:
    if isinstance(value, str) and "T" in value:
        try:
            moment = datetime.fromisoformat(re.sub(r"[zZ]$", "+00:00", value))
        except ValueError:
            pass
        else:
            if moment.tzinfo is not None:
                return moment
    raise PydanticCustomError("moment", "moment")


def _or_none(value: object) -> object:
    return None if value == "" else value


EMPTY_IS_NONE = BeforeValidator(_or_none)
"""An empty text stands for nothing."""


Text = Annotated[str, Field(max_length=200), matching(r"[\s\S]*\S[\s\S]*", "empty")]
Day = Annotated[date, BeforeValidator(_day)]
Hour = Annotated[time, BeforeValidator(_hour)]
Moment = Annotated[datetime, BeforeValidator(_moment)]
Email = Annotated[str, Field(max_length=254), matching(r"[^@\s]+@[^@\s]+", "email")]
Age = Annotated[int, Field(ge=0, le=120)]
Country = Annotated[str, matching(r"[A-Za-z]{2}", "country")]
DocumentNumber = Annotated[str, matching(r"[A-Za-z0-9 /-]{3,30}", "document_number")]
Prefix = Annotated[str, matching(r"(\+|00)?[1-9][0-9]{0,3}", "prefix")]
Phone = Annotated[str, matching(r"[0-9]{4,14}", "phone")]
VehicleCode = Annotated[Text, matching(r"[^\s]+?__[^\s]+", "vehicle_form")]
