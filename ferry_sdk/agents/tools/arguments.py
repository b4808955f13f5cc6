"""Make a strict pydantic model of a method's arguments from its signature.

The model is stricter than the method: a language model sends JSON, and a near miss is an error.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, time
from decimal import Decimal
from functools import cache
from types import GenericAlias, NoneType, UnionType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin, get_type_hints

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    Strict,
    WithJsonSchema,
    create_model,
)
from typing_extensions import is_typeddict

from ferry_sdk.agents.tools.sanitize import KINDS
from ferry_sdk.agents.tools.schemas import parse_docstring
from ferry_sdk.models.enums import OpenEnum
from ferry_sdk.models.records import Records

_MAX_ITEMS: Final = 50
_STRICT: Final = ConfigDict(extra="forbid", hide_input_in_errors=True, protected_namespaces=())
_DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_TIME: Final = re.compile(r"\d{2}:\d{2}", re.ASCII)
_MONEY: Final = r"^[0-9]{1,9}(\.[0-9]{1,4})?$"


def _parse_date(value: object) -> date:
    if isinstance(value, str) and _DAY.fullmatch(value):
        try:
            return date.fromisoformat(value)
        except ValueError:
            pass
    raise ValueError("expected a calendar date as YYYY-MM-DD")


def _parse_time(value: object) -> time:
    if isinstance(value, str) and _TIME.fullmatch(value):
        try:
            return time.fromisoformat(value)
        except ValueError:
            pass
    raise ValueError("expected a time of day as HH:MM")


def _parse_amount(value: object) -> Decimal:
    text = str(value) if isinstance(value, str | int) else ""
    if re.fullmatch(_MONEY, text, re.ASCII):
        return Decimal(text)
    raise ValueError('expected an amount as a string such as "49.90", or a whole number')


def _text_schema(**more: str) -> WithJsonSchema:
    return WithJsonSchema({"type": "string", **more})


_STRICT_TYPES: Final[Mapping[Any, Any]] = {
    Decimal: Annotated[
        Decimal,
        BeforeValidator(_parse_amount),
        # A whole number is accepted, too, but a list of types crashes google-genai and AutoGen.
        _text_schema(pattern=_MONEY),
    ],
    time: Annotated[
        time, BeforeValidator(_parse_time), _text_schema(pattern="^([01][0-9]|2[0-3]):[0-5][0-9]$")
    ],
    date: Annotated[date, BeforeValidator(_parse_date), _text_schema(format="date")],
    bool: Annotated[bool, Strict()],
    int: Annotated[int, Strict()],
}
"""Strict types that read JSON. Of a union, the first type listed here is used."""


_SHORT_TEXT: Final = Annotated[str, Strict(), Field(min_length=1, max_length=64)]
_DETAIL: Final[Any] = (
    Literal["short", "full"],
    Field(default="short", description="How much of the result is shown."),
)
_CONTAINS: Final[Any] = (
    _SHORT_TEXT,
    Field(default=None, description="Only the records that contain this text; case is ignored."),
)
_CODE: Final[Any] = (
    _SHORT_TEXT,
    Field(default=None, description="The code of the answer that asked for approval."),
)


def model_of(describe: Callable[..., Any], defaults: Mapping[str, str]) -> type[BaseModel]:
    """Return a model of an operation's arguments.

    Args:
        describe: The method that describes the operation.
        defaults: What is said of arguments of which its own docstring says nothing.
    """
    hints = get_type_hints(describe, include_extras=True)
    descriptions = {**defaults, **parse_docstring(describe).fields}
    fields: dict[str, Any] = {}
    for name, parameter in list(inspect.signature(describe).parameters.items())[1:]:
        needed = parameter.default is inspect.Parameter.empty
        fields[name] = _field(name, hints[name], descriptions, default=... if needed else None)
    if get_origin(get_args(hints["return"])[0]) is Records:
        fields["contains"] = _CONTAINS
    fields["detail"] = _DETAIL
    return create_model("Arguments", __config__=_STRICT, **fields)


def add_code(model: type[BaseModel]) -> type[BaseModel]:
    """Return the same model with an argument for the confirmation code."""
    more: dict[str, Any] = {"confirmation_code": _CODE}
    return create_model("Arguments", __base__=model, **more)


def _field(name: str, annotation: object, descriptions: Mapping[str, str], default: object) -> Any:  # noqa: ANN401 -- a field for pydantic
    description = descriptions.get(name) or f"{name.replace('_', ' ').capitalize()}."
    return _argument_type(annotation, name), Field(default=default, description=description)


def _argument_type(annotation: Any, name: str) -> Any:  # noqa: ANN401, PLR0911 -- types, one kind a line
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _constrain(_argument_type(parts[0], name), parts[1:] if parts[0] is int else ())
    if origin in {Union, UnionType}:
        kinds = [one for one in parts if one is not NoneType and not is_typeddict(one)]
        return _argument_type(
            next((kind for kind in _STRICT_TYPES if kind in kinds), kinds[0]), name
        )
    if origin is Sequence:
        several = GenericAlias(list, _argument_type(parts[0], name))
        return _constrain(several, [Field(min_length=1, max_length=_MAX_ITEMS)])
    if origin is Literal:
        return annotation
    if isinstance(annotation, type) and issubclass(annotation, OpenEnum):
        return Literal[tuple(str(member) for member in annotation)]
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return _input_type(annotation)
    return KINDS[name] if annotation is str else _STRICT_TYPES[annotation]


def _constrain(kind: Any, limits: Iterable[object]) -> Any:  # noqa: ANN401 -- a type for pydantic
    for limit in limits:
        kind = Annotated[kind, limit]
    return kind


@cache
def _input_type(model: type[BaseModel]) -> Any:  # noqa: ANN401 -- a type for pydantic
    """Return a strict type for an input model; a valid value becomes that model."""
    descriptions = parse_docstring(model).fields
    fields: dict[str, Any] = {
        name: _field(
            name,
            _constrain(field.annotation, field.metadata),
            descriptions,
            default=... if field.is_required() else None,
        )
        for name, field in model.model_fields.items()
        if not field.exclude
    }
    strict = create_model(model.__name__, __config__=_STRICT, **fields)

    def as_input(made: BaseModel) -> BaseModel:
        return model(**dict(made))

    return Annotated[strict, AfterValidator(as_input)]
