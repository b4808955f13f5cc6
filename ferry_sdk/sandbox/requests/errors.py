"""Errors of the service and of its controls, with the service's messages in six languages."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from ferry_sdk._runtime.data import data_beside
from ferry_sdk.models.base import path_text


@dataclass(frozen=True, slots=True)
class Problem:
    """One error of a request: the key and values of its message, and the field if any."""

    text: str
    path: str | None = None
    values: Mapping[str, object] = field(default_factory=dict[str, object])


class RefusedError(Exception):
    """The service refuses a request with an HTTP status and at least one problem."""

    def __init__(self, status: int, *problems: Problem) -> None:
        super().__init__(status, *problems)
        self.status = status
        self.problems = problems


class MalformedError(RefusedError):
    """The request is invalid, independent of the state of the service."""


def invalid(path: str, text: str, **values: object) -> RefusedError:
    """Return the error for an invalid field."""
    return RefusedError(422, Problem(text, path, values))


def conflict(text: str, **values: object) -> RefusedError:
    """Return the error for a request that conflicts with the current state."""
    return RefusedError(409, Problem(text, None, values))


def not_found(text: str, path: str | None = None, **values: object) -> RefusedError:
    """Return the error for something that does not exist."""
    return RefusedError(404, Problem(text, path, values))


LANGUAGES = ("en", "fr", "it", "es", "el", "ar")


def weights(header: str) -> dict[str, float]:
    """Return the weight of each item of a header such as `Accept`: 1 by default, at most 1.

    An item with an invalid weight is left out.
    """
    by_name: dict[str, float] = {}
    for item in header.lower().split(","):
        name, *parameters = [part.strip() for part in item.split(";")]
        qualities = [each.removeprefix("q=") for each in parameters if each.startswith("q=")]
        weight = _weight(qualities[0]) if qualities else 1.0
        if 0 <= weight <= 1:
            by_name[name] = weight
    return by_name


def _weight(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan  # which is in no range


def language_of(accept_language: str | None) -> str:
    """Return the supported language that an `Accept-Language` header prefers, or `en`."""
    by_language: dict[str, float] = {}
    for tag, weight in weights(accept_language or "").items():
        primary = tag.partition("-")[0]  # `fr` of `fr-CA`
        by_language[primary] = max(by_language.get(primary, 0.0), weight)
    others = by_language.pop("*", 0.0)
    supported = {language: by_language.get(language, others) for language in LANGUAGES}

    # Of languages with the same weight, the header's order decides, then that of `LANGUAGES`.
    best = "en"
    best_weight = 0.0
    for language in (*by_language, *LANGUAGES):
        weight = supported.get(language, 0.0)
        if weight > best_weight:
            best = language
            best_weight = weight
    return best


def text(key: str, language: str, values: Mapping[str, object] | None = None) -> str:
    """Return a message in a language, with its placeholders filled in."""
    return messages(language)[key].format_map(values or {})


@cache
def messages(language: str) -> Mapping[str, str]:
    """Return every message of a language by its key."""
    read: dict[str, str] = data_beside(__file__, f"messages/{language}.json")
    return read


_TEXTS = {
    "missing": "missing",
    "extra_forbidden": "unknown_field",
    "string_type": "text",
    "string_too_long": "too_long",
    "int_type": "whole_number",
    "int_from_float": "whole_number",
    "int_parsing_size": "whole_number",
    "bool_type": "boolean",
    "list_type": "list",
    "model_type": "object",
    "dict_type": "object",
    "too_short": "empty",
    "too_long": "too_many",
    "greater_than_equal": "too_small",
    "less_than_equal": "too_great",
    "literal_error": "choice",
    "date_type": "date",
    "time_type": "time",
    "datetime_type": "moment",
}
"""The keys of messages, by the types of pydantic's errors.

The errors that the service raises itself, such as `vehicle_form`, are the keys of their messages.
"""


def problem_of(details: ErrorDetails) -> Problem:
    """Return the problem that an error of validation means."""
    values: dict[str, object] = dict(details.get("ctx", {}))
    if "expected" in values:
        # pydantic says "'M' or 'F'", which is English; "M, F" suits every language.
        values["expected"] = str(values["expected"]).replace("'", "").replace(" or ", ", ")

    error_type = details["type"]
    if error_type in _TEXTS:
        key = _TEXTS[error_type]
    elif error_type in messages("en"):
        key = error_type
    else:
        key = "malformed"
    return Problem(key, path_text(details["loc"]), values)


ModelT = TypeVar("ModelT", bound=BaseModel)


class InvalidOrderError(ValueError):
    """A fault, an option, a clock change or a booking that is unknown or impossible.

    Attributes:
        field: The name of the invalid argument.
        message: What is wrong with it.
    """

    def __init__(self, field: str, message: str) -> None:
        super().__init__(field, message)
        self.field = field
        self.message = message

    def __str__(self) -> str:
        return f"{self.field}: {self.message}"


def parse_fields(model: type[ModelT], fields: Mapping[str, object]) -> ModelT:
    """Return the validated model.

    Raises:
        InvalidOrderError: A field is unknown or has an invalid value; it names the first one.
    """
    try:
        return model.model_validate(dict(fields))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        path = ".".join(str(step) for step in first["loc"])
        raise InvalidOrderError(path, first["msg"]) from None
