"""Validation of requests to the service and to its controls."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from pydantic import BaseModel, ValidationError

from ferry_sdk.sandbox.requests.errors import MalformedError, Problem, messages
from ferry_sdk.sandbox.requests.requests import Body

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic_core import ErrorDetails


B = TypeVar("B", bound=Body)

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
}


def read(model: type[B], arguments: Mapping[str, object]) -> B:
    """Return the validated request.

    Args:
        model: The model of the operation's arguments.
        arguments: The arguments of the request.

    Raises:
        MalformedError: The arguments are invalid; it has every invalid field by its path.
    """
    try:
        body = model.model_validate(dict(arguments))
    except ValidationError as error:
        details = error.errors(include_url=False, include_input=False)
        raise MalformedError(*map(_problem, details)) from None
    problems = tuple(body.problems())
    if problems:
        raise MalformedError(*problems)
    return body


def _problem(details: ErrorDetails) -> Problem:
    values: dict[str, object] = dict(details.get("ctx", {}))
    if "expected" in values:
        values["expected"] = str(values["expected"]).replace("'", "").replace(" or ", ", ")
    kind = details["type"]
    text = _TEXTS.get(kind, kind if kind in messages("en") else "malformed")
    return Problem(text, _path(details["loc"]), values)


def _path(location: tuple[int | str, ...]) -> str:
    path = ""
    for step in location:
        path += f"[{step}]" if isinstance(step, int) else f".{step}" if path else step
    return path


ModelT = TypeVar("ModelT", bound=BaseModel)


class InvalidOrderError(ValueError):
    """A fault, an option or a clock change that is unknown or impossible.

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
