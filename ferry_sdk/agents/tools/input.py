"""Read an agent's arguments as plain JSON. Errors name the field and never repeat a value."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final, NoReturn, cast

from pydantic import BaseModel, ValidationError

from ferry_sdk.errors import InvalidInputError

_MAX_LENGTH: Final = 100_000
_MAX_DEPTH: Final = 10
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}", re.ASCII)
_PROBLEMS: Final = {
    "extra_forbidden": "there is no such argument",
    "missing": "this argument is required",
}


def parse_arguments(arguments: object) -> dict[str, Any]:
    """Return the arguments as a dict of plain JSON values.

    Args:
        arguments: A mapping, or the JSON text of an object.

    Raises:
        InvalidInputError: It is neither, or it holds values that JSON does not have.
    """
    if isinstance(arguments, str):
        arguments = _decode(arguments)
    if not isinstance(arguments, Mapping):
        raise InvalidInputError("expected an object", field="arguments")
    members = cast("Mapping[object, object]", arguments)
    return cast("dict[str, Any]", _to_plain(dict(members), ()))


def validate(model: type[BaseModel], values: dict[str, Any]) -> BaseModel:
    """Return the values as an instance of the model.

    Raises:
        InvalidInputError: The values do not fit; the error names the first invalid field.
    """
    try:
        return model.model_validate(values)
    except ValidationError as error:
        wrong = error.errors(include_url=False, include_context=False, include_input=False)[0]
    problem = _PROBLEMS.get(wrong["type"], wrong["msg"].removeprefix("Value error, "))
    raise InvalidInputError(problem, field=_path(wrong["loc"]))


def _decode(text: str) -> object:
    if len(text) > _MAX_LENGTH:
        raise InvalidInputError("the arguments are too long", field="arguments")
    try:
        return json.loads(text, object_pairs_hook=_unique_members, parse_constant=_reject_constant)
    except InvalidInputError:
        raise
    except (ValueError, RecursionError):
        raise InvalidInputError("expected the JSON text of an object", field="arguments") from None


def _unique_members(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise InvalidInputError("this argument is given more than once", field=_path((twice,)))
    return members


def _reject_constant(_constant: str) -> NoReturn:
    raise ValueError


def _to_plain(value: object, path: tuple[int | str, ...]) -> object:
    if len(path) > _MAX_DEPTH:
        raise InvalidInputError("the arguments are nested too deeply", field="arguments")
    match value:
        case str():
            return str(value)
        case bool() | int() | float():
            return value
        case dict():
            members = cast("dict[object, object]", value)
            return {
                _key(name, path): _to_plain(one, (*path, str(name)))
                for name, one in members.items()
                if one is not None
                and one != ""  # models send these for arguments that they would omit
            }
        case list() | tuple():
            several = cast("list[object]", value)
            return [_to_plain(one, (*path, index)) for index, one in enumerate(several)]
        case None:
            raise InvalidInputError("null is not accepted; leave the field out", field=_path(path))
        case _:
            raise InvalidInputError("expected a JSON value", field=_path(path))


def _key(name: object, path: tuple[int | str, ...]) -> str:
    if isinstance(name, str):
        return str(name)
    raise InvalidInputError("the names of its members must be strings", field=_path(path))


def _path(parts: tuple[int | str, ...]) -> str:
    """Return a field's path; a part that cannot be a name becomes ``?``, as it may be any text."""
    known = [str(part) if isinstance(part, int) or _NAME.fullmatch(part) else "?" for part in parts]
    return ".".join(known) or "arguments"
