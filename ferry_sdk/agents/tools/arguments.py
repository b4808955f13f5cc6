"""Make a strict pydantic model of a method's arguments from its signature, and read JSON with it.

1. `model_of` makes a field of each argument. `_argument_type` finds the strict form of its type,
   and its description is a row of `_TEXTS` or `_FIELD_TEXTS`, else that of the docstring.
2. `read_arguments` decodes the JSON of a call, leaves out what stands for an omitted argument, and
   validates the rest.

For example, ``max_penalty: Decimal | int | str | None`` becomes a `Decimal` that is read from a
text such as ``"12.50"`` or a whole number. ``{"max_penalty": null}`` is read as no argument.
``{"max_penalty": "12,50"}`` and ``{"max_fee": "12.50"}`` are refused. The model is stricter than
the method, because a language model sends JSON, and a near miss is an error.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import date, time
from decimal import Decimal
from functools import cache
from types import GenericAlias, NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Final,
    Literal,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    Strict,
    ValidationError,
    WithJsonSchema,
    create_model,
)
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails
from typing_extensions import is_typeddict

from ferry_sdk.agents.tools.sanitize import STRING, text_type
from ferry_sdk.agents.tools.schemas import describe_field
from ferry_sdk.errors import InvalidInputError
from ferry_sdk.models.enums import OpenEnum
from ferry_sdk.models.inputs import Contact, Input, Passenger, Selection, Vehicle

_MAX_ITEMS: Final = 50
_DERIVED: Final = frozenset({"order", "param", "vehicule_code", "brand", "model"})
"""Fields that follow from others or from the search, so that a model needs not fill them in."""
_APPROVED: Final = frozenset({"currency", "min_refund"})
"""Arguments that the toolkit sets to what a person approves."""
_OF_PROGRAMS: Final = frozenset({"idempotency_key"})
"""Arguments that only a program can repeat. The toolkit refuses repeated questions itself."""
_TEXTS: Final[Mapping[str, str]] = {
    "age": "In years, on the day of travel.",
    "birth_date": "As YYYY-MM-DD.",
    "confirmation_code": "The code of the first call.",
    "contains": "Only records with this text.",
    "detail": "`full` shows every field.",
    "doc_expiration": "Its last day, as YYYY-MM-DD.",
    "expect_total": (
        "The total_price that the user agreed to. Nothing is paid at another. Needed if it is more "
        "than was approved."
    ),
    "max_penalty": "The highest fee that the user accepts, such as 12.50.",
    "out_at": "Date out, as YYYY-MM-DD, local to the port.",
    "out_time": "Earliest departure, HH:MM, local to the port.",
    "provider_id": "The id of a sailing's provider, as `availability_search` shows it.",
    "travellers": "All travellers, by the handles that `travellers_list` shows.",
    "wait": "Seconds to wait for the tickets, at most 60.",
}
"""Descriptions of arguments for a model, in place of those for callers in Python."""
_FIELD_TEXTS: Final[Mapping[object, Mapping[str, str]]] = {
    Contact: {
        "email": "Their e-mail address.",
        "name": "First and last name.",
        "phone": "Without the prefix.",
        "prefix": "Such as +33.",
    },
    Passenger: {
        "email": "An e-mail address.",
        "doc_number": "Its number.",
        "doc_type": "Such as Passport.",
    },
    Vehicle: {"code": "Such as CAR, as `trips_find` shows it."},
}
"""Descriptions of the fields of one input, which other inputs describe in other words."""
_STRICT: Final = ConfigDict(extra="forbid", hide_input_in_errors=True, protected_namespaces=())
_TIME: Final = "^([01][0-9]|2[0-3]):[0-5][0-9]$"
_MONEY: Final = r"^[0-9]{1,9}(\.[0-9]{1,4})?$"


def _reader(parse: Callable[[str], object], pattern: str, expected: str) -> BeforeValidator:
    """Return a validator that accepts texts of one form, and whole numbers if the form does."""

    def read(value: object) -> object:
        text = str(value) if isinstance(value, str | int) else ""
        if re.fullmatch(pattern, text, re.ASCII):
            with suppress(ValueError):
                return parse(text)
        raise ValueError(f"expected {expected}")

    return BeforeValidator(read)


_AMOUNT: Final = _reader(
    Decimal, _MONEY, 'an amount as a string such as "49.90", or a whole number'
)
_TIME_OF_DAY: Final = _reader(time.fromisoformat, _TIME, "a time of day as HH:MM")
_DAY: Final = _reader(date.fromisoformat, r"\d{4}-\d{2}-\d{2}", "a calendar date as YYYY-MM-DD")
_STRICT_TYPES: Final[Mapping[Any, Any]] = {
    # A whole number is accepted, too, but a list of types crashes google-genai and AutoGen.
    Decimal: Annotated[Decimal, _AMOUNT, STRING],
    time: Annotated[time, _TIME_OF_DAY, WithJsonSchema({"type": "string", "pattern": _TIME})],
    # Gemini refuses every request that has a format other than date-time.
    date: Annotated[date, _DAY, STRING],
    bool: Annotated[bool, Strict()],
    int: Annotated[int, Strict()],
}
"""Strict types that read JSON. Of a union, the first type listed here is used."""


_SHORT_TEXT: Final = Annotated[str, Strict(), Field(min_length=1, max_length=64), STRING]
_HANDLES: Final[Any] = (
    Annotated[list[_SHORT_TEXT], Field(min_length=1, max_length=_MAX_ITEMS)],  # type: ignore[valid-type]  # a type with limits
    Field(description=_TEXTS["travellers"]),
)
_WAIT: Final = Annotated[int, Strict(), Field(ge=0, le=60)]
TOOLKIT_ARGUMENTS: Final[Mapping[str, Any]] = {
    "contains": (_SHORT_TEXT, Field(None, description=_TEXTS["contains"])),
    "detail": (Literal["short", "full"], Field("short", description=_TEXTS["detail"])),
    "wait": (_WAIT, Field(0, description=_TEXTS["wait"])),
    "confirmation_code": (_SHORT_TEXT, Field(None, description=_TEXTS["confirmation_code"])),
}
"""The arguments of a tool that are not its method's; see `Arguments`."""


def model_of(
    describe: Callable[..., Any],
    *,
    more: Iterable[str] = (),
    without: Collection[str] = (),
    by_handle: bool = False,
) -> type[BaseModel]:
    """Return a model of an operation's arguments.

    Args:
        describe: A method or a class with a signature and a docstring.
        more: Names of `TOOLKIT_ARGUMENTS` that it has, too.
        without: Arguments that are left out.
        by_handle: Whether travellers are named by handles instead of their data.
    """
    hints = get_type_hints(describe, include_extras=True)
    fields: dict[str, Any] = {}
    for name, parameter in inspect.signature(describe).parameters.items():
        if by_handle and name == "passengers":
            fields["travellers"] = _HANDLES
        elif name not in {"self", *_APPROVED, *_OF_PROGRAMS, *without}:
            # An offer and selections replace each other; without selections, an offer is needed.
            is_only_way = name == "offer" and "availabilities" in without
            needed = is_only_way or parameter.default is inspect.Parameter.empty
            fields[name] = _field(describe, name, hints[name], needed=needed)

    for name in more:
        fields[name] = TOOLKIT_ARGUMENTS[name]
    return create_model("Arguments", __config__=_STRICT, **fields)


def _field(of: Any, name: str, annotation: object, *, needed: bool) -> Any:  # noqa: ANN401 -- a field for pydantic, of a method or a model
    own_texts = _FIELD_TEXTS.get(of, {})
    description = _TEXTS.get(name) or own_texts.get(name) or describe_field(of, name)
    if not description:  # a frozen program without docstrings may have no source either
        description = f"{name.replace('_', ' ').capitalize()}."
    default = ... if needed else None
    return _argument_type(annotation, name), Field(default=default, description=description)


def _argument_type(annotation: Any, name: str) -> Any:  # noqa: ANN401, PLR0911 -- types, one kind a paragraph
    origin, parts = get_origin(annotation), get_args(annotation)

    if origin is Annotated:
        kind, *limits = parts
        strict_kind = _argument_type(kind, name)
        # Other kinds have a strict form of their own, which is narrower than their limits.
        return _constrain(strict_kind, limits) if kind is int else strict_kind

    if origin in {Union, UnionType}:
        kinds = [part for part in parts if part is not NoneType and not is_typeddict(part)]
        strictest = [kind for kind in _STRICT_TYPES if kind in kinds]
        return _argument_type((strictest or kinds)[0], name)

    if origin is Sequence:
        several = GenericAlias(list, _argument_type(parts[0], name))
        return _constrain(several, [Field(min_length=1, max_length=_MAX_ITEMS)])

    if origin is Literal:
        return annotation
    if isinstance(annotation, type) and issubclass(annotation, OpenEnum):
        return Literal[tuple(str(member) for member in annotation)]
    if isinstance(annotation, type) and issubclass(annotation, Input):
        return _input_type(annotation)
    return text_type(name) if annotation is str else _STRICT_TYPES[annotation]


def _constrain(kind: Any, limits: Iterable[object]) -> Any:  # noqa: ANN401 -- a type for pydantic
    for limit in limits:
        kind = Annotated[kind, limit]
    return kind


@cache
def _input_type(model: type[Input]) -> Any:  # noqa: ANN401 -- a type for pydantic
    """Return a strict type for an input model; a valid value becomes that model."""
    fields: dict[str, Any] = {}
    for name, field in model.model_fields.items():
        # Of a selection, the ids are enough: the toolkit knows the rest from the search.
        is_known = model is Selection and not field.is_required()
        if name not in _DERIVED and not is_known:
            annotation = _constrain(field.annotation, field.metadata)
            fields[name] = _field(model, name, annotation, needed=field.is_required())
    strict = create_model(model.__name__, __config__=_STRICT, **fields)

    def make_input(validated: BaseModel) -> BaseModel:
        return model(**dict(validated))

    return Annotated[strict, AfterValidator(make_input)]


_MAX_LENGTH: Final = 100_000
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}", re.ASCII)
_PROBLEMS: Final = {
    "extra_forbidden": "there is no such argument",
    "missing": "this argument is required",
    "model_type": "expected an object",
}
_MOST_PROBLEMS: Final = 5


def read_arguments(model: type[BaseModel], arguments: object) -> BaseModel:
    """Return the arguments of a call as an instance of their model.

    Args:
        model: The model.
        arguments: A mapping, or the JSON text of an object.

    Raises:
        InvalidInputError: Arguments are invalid. The error names up to five problems, those of
            unknown names first; `field` is the first. It never repeats a value.
    """
    try:
        return model.model_validate(_without_empty(model, _decode(arguments)))
    except ValidationError as error:
        errors = error.errors(include_url=False, include_context=False, include_input=False)
    errors.sort(key=_is_no_unknown_name)  # a wrong name explains others

    problems: dict[str, str] = {}
    for err in errors:
        problem = _PROBLEMS.get(err["type"], err["msg"].removeprefix("Value error, "))
        problems.setdefault(_path(err["loc"]), problem)  # of several at one place, the first

    (field, problem), *others = [*problems.items()][:_MOST_PROBLEMS]
    texts = [problem, *(f"{name}: {text}" for name, text in others)]
    raise InvalidInputError("; ".join(texts), field=field)


def _is_no_unknown_name(err: ErrorDetails) -> bool:
    return err["type"] != "extra_forbidden"


def _without_empty(model: type[BaseModel], plain: Any) -> Any:  # noqa: ANN401 -- any JSON
    """Leave out the empty lists and objects of optional arguments.

    Some strict modes do not allow null, so a model sends these for arguments that it would omit.
    """
    if not isinstance(plain, dict):
        return plain
    members = cast("dict[str, object]", plain)
    return {
        name: member
        for name, member in members.items()
        if member not in ([], {}) or not _is_optional_container(model.model_fields.get(name))
    }


def _is_optional_container(field: FieldInfo | None) -> bool:
    """Return whether a field is an optional list or object."""
    if field is None or field.is_required():
        return False
    return get_origin(field.annotation) is list or hasattr(field.annotation, "model_fields")


def _decode(arguments: object) -> Any:  # noqa: ANN401 -- any JSON
    """Return arguments as JSON values, without the members that are null or empty texts."""
    if isinstance(arguments, str) and len(arguments) > _MAX_LENGTH:
        raise InvalidInputError("the arguments are too long", field="arguments")
    if isinstance(arguments, Mapping):
        # As text, so that a mapping passes the same checks as the JSON of a model.
        members = cast("Mapping[object, object]", arguments).items()
        parts = [_encode(name, value) for name, value in members]
        arguments = f"{{{','.join(parts)}}}"

    try:
        text = arguments if isinstance(arguments, str) else json.dumps(arguments)
        return json.loads(text, object_pairs_hook=_members)
    except InvalidInputError:
        raise
    except (TypeError, ValueError, RecursionError):
        raise InvalidInputError("expected the JSON text of an object", field="arguments") from None


def _encode(name: object, value: object) -> str:
    """Return the JSON of an argument, such as ``"id": "b-1"``; its mappings may be of any kind."""
    try:
        return json.dumps({name: value}, default=_as_dict)[1:-1]
    except (TypeError, ValueError, RecursionError):
        field = _path((name if isinstance(name, str) else "?",))
        raise InvalidInputError("expected a JSON value", field=field) from None


def _as_dict(mapping: Any) -> dict[object, object]:  # noqa: ANN401 -- TypeError if it is no mapping
    return {**mapping}


def _members(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members: dict[str, object] = {}
    for name, value in pairs:
        if name in members:
            raise InvalidInputError("this argument is given more than once", field=_path((name,)))
        members[name] = value
    # Models send null and "" for arguments that they would omit.
    return {name: value for name, value in members.items() if value not in (None, "")}


def _path(parts: tuple[int | str, ...]) -> str:
    """Return a field's path; a part that cannot be a name becomes ``?``, as it may be any text."""
    names: list[str] = []
    for part in parts:
        is_safe = isinstance(part, int) or _NAME.fullmatch(part)
        names.append(str(part) if is_safe else "?")
    return ".".join(names) or "arguments"
