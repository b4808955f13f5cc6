"""An operation's arguments, as a model made from its signature; stricter than the operation."""

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
from ferry_sdk.agents.tools.schemas import words_of
from ferry_sdk.models.enums import OpenEnum
from ferry_sdk.models.records import Records

_MOST: Final = 50
_STRICT: Final = ConfigDict(extra="forbid", hide_input_in_errors=True, protected_namespaces=())
_DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_TIME: Final = re.compile(r"\d{2}:\d{2}", re.ASCII)
_MONEY: Final = r"^[0-9]{1,9}(\.[0-9]{1,4})?$"


def _day(value: object) -> date:
    if isinstance(value, str) and _DAY.fullmatch(value):
        try:
            return date.fromisoformat(value)
        except ValueError:
            pass
    raise ValueError("a date of the calendar as YYYY-MM-DD is expected")


def _clock_time(value: object) -> time:
    if isinstance(value, str) and _TIME.fullmatch(value):
        try:
            return time.fromisoformat(value)
        except ValueError:
            pass
    raise ValueError("a time of day as HH:MM is expected")


def _money(value: object) -> Decimal:
    said = str(value) if isinstance(value, str | int) else ""
    if re.fullmatch(_MONEY, said, re.ASCII):
        return Decimal(said)
    raise ValueError('an amount as a text such as "49.90", or a whole number, is expected')


def _text_schema(**more: str) -> WithJsonSchema:
    return WithJsonSchema({"type": "string", **more})


_STAND_INS: Final[Mapping[Any, Any]] = {
    Decimal: Annotated[
        Decimal,
        BeforeValidator(_money),
        # A whole number is read as well, but a list of types crashes google-genai and AutoGen.
        _text_schema(pattern=_MONEY),
    ],
    time: Annotated[
        time, BeforeValidator(_clock_time), _text_schema(pattern="^([01][0-9]|2[0-3]):[0-5][0-9]$")
    ],
    date: Annotated[date, BeforeValidator(_day), _text_schema(format="date")],
    bool: Annotated[bool, Strict()],
    int: Annotated[int, Strict()],
}
"""What is strict and reads JSON, first the one that stands for all of a union."""


_FEW_WORDS: Final = Annotated[str, Strict(), Field(min_length=1, max_length=64)]
_DETAIL: Final[Any] = (
    Literal["short", "full"],
    Field(default="short", description="How much of the result is shown."),
)
_CONTAINS: Final[Any] = (
    _FEW_WORDS,
    Field(default=None, description="Only the records in which this text stands; case is ignored."),
)
_CODE: Final[Any] = (
    _FEW_WORDS,
    Field(default=None, description="The code of the answer that asked for approval."),
)


def model_of(describe: Callable[..., Any], described: Mapping[str, str]) -> type[BaseModel]:
    """The model of an operation's arguments.

    Args:
        describe: The operation's description.
        described: What is said of arguments of which its own docstring says nothing.
    """
    hints = get_type_hints(describe, include_extras=True)
    said = {**described, **words_of(describe).fields}
    fields: dict[str, Any] = {}
    for name, parameter in list(inspect.signature(describe).parameters.items())[1:]:
        needed = parameter.default is inspect.Parameter.empty
        fields[name] = _field(name, hints[name], said, default=... if needed else None)
    if get_origin(get_args(hints["return"])[0]) is Records:
        fields["contains"] = _CONTAINS
    fields["detail"] = _DETAIL
    return create_model("Arguments", __config__=_STRICT, **fields)


def with_code(model: type[BaseModel]) -> type[BaseModel]:
    """The same arguments, and the code with which a person agrees."""
    more: dict[str, Any] = {"confirmation_code": _CODE}
    return create_model("Arguments", __base__=model, **more)


def _field(name: str, annotation: object, said: Mapping[str, str], default: object) -> Any:  # noqa: ANN401 -- a field for pydantic
    described = said.get(name) or f"{name.replace('_', ' ').capitalize()}."
    return _asked(annotation, name), Field(default=default, description=described)


def _asked(annotation: Any, name: str) -> Any:  # noqa: ANN401, PLR0911 -- types, one kind a line
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _limited(_asked(parts[0], name), parts[1:] if parts[0] is int else ())
    if origin in {Union, UnionType}:
        kinds = [one for one in parts if one is not NoneType and not is_typeddict(one)]
        return _asked(next((kind for kind in _STAND_INS if kind in kinds), kinds[0]), name)
    if origin is Sequence:
        several = GenericAlias(list, _asked(parts[0], name))
        return _limited(several, [Field(min_length=1, max_length=_MOST)])
    if origin is Literal:
        return annotation
    if isinstance(annotation, type) and issubclass(annotation, OpenEnum):
        return Literal[tuple(str(member) for member in annotation)]
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return _input(annotation)
    return KINDS[name] if annotation is str else _STAND_INS[annotation]


def _limited(kind: Any, limits: Iterable[object]) -> Any:  # noqa: ANN401 -- a type for pydantic
    for limit in limits:
        kind = Annotated[kind, limit]
    return kind


@cache
def _input(model: type[BaseModel]) -> Any:  # noqa: ANN401 -- a type for pydantic
    """An input with strict fields, of those that are sent; it is read as the input itself."""
    said = words_of(model).fields
    fields: dict[str, Any] = {
        name: _field(
            name,
            _limited(field.annotation, field.metadata),
            said,
            default=... if field.is_required() else None,
        )
        for name, field in model.model_fields.items()
        if not field.exclude
    }
    strict = create_model(model.__name__, __config__=_STRICT, **fields)

    def as_input(made: BaseModel) -> BaseModel:
        return model(**dict(made))

    return Annotated[strict, AfterValidator(as_input)]
