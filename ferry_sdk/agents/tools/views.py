"""Views of results for an agent, short or full, in plain JSON, with their schemas.

A short view has ids, times, prices and next actions, and no data of a traveller. A full view has
every known field except the image of a QR code, which would let its holder board.

For example, the short view of a port is
``{"code": "ESTRF", "name": "Tarifa", "country": "Spain"}``, and that of a list of ports
``{"items": [...], "count": 20, "unreadable": 0}``. A result that would be too long ends early, and
``left_out`` says how many entries are missing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import partial
from math import isfinite
from typing import Any, Final, Literal, TypeVar, cast, get_args, get_origin

from pydantic import BaseModel, JsonValue

from ferry_sdk._runtime.money import format_amount
from ferry_sdk.agents.tools.sanitize import clean_text
from ferry_sdk.agents.tools.schemas import RECORDS, Schema, view_schema, with_property
from ferry_sdk.agents.tools.short_views import SHORT
from ferry_sdk.agents.tools.table import tool_name
from ferry_sdk.models import catalogue
from ferry_sdk.models.bookings import NextAction, WithActions
from ferry_sdk.models.records import Records
from ferry_sdk.resources.bookings import BookingsGroup
from ferry_sdk.resources.tickets import TicketsGroup

Detail = Literal["short", "full"]
T = TypeVar("T")

_SHORT_BY_NAME: Final = {record.__name__: names for record, names in SHORT.items()}
"""The fields of short views by the names of records, which are all that a schema has of them."""
_NEVER: Final = frozenset({"qr_code"})
_MAX_LENGTH: Final = 200
_MAX_LENGTH_IN_FULL: Final = 2_000
_PUNCTUATION: Final = 8
"""Characters that JSON adds to a name and a value: quotes, a colon, a comma and spaces, about."""
_MAX_SIZE: Final = 150_000
"""Approximate characters of a whole result; hosts cut what is longer."""
_MAX_DEPTH: Final = 20
_TOOLS_OF_ACTIONS: Final = {
    "Pay": tool_name(BookingsGroup.confirm),
    "Cancel": tool_name(BookingsGroup.cancel),
    "Download": tool_name(TicketsGroup.pdf),
}
"""The tools for the next actions of a booking, by the actions' names on the wire."""


@dataclass(slots=True)
class _SizeLimit:
    """The characters that a result may still have, and how many entries were left out."""

    remaining: int = _MAX_SIZE
    omitted: int = 0

    def entries(self, entries: Collection[T]) -> Iterator[T]:
        """Yield entries until the limit is reached, and count the others."""
        for index, entry in enumerate(entries):
            if self.remaining <= 0:
                self.omitted += len(entries) - index
                return
            yield entry


def view_of(value: object, detail: Detail, contains: str | None = None) -> JsonValue:
    """Return the view of a result.

    Args:
        value: The result.
        detail: How much of it is shown.
        contains: Of a list, show only the records whose short view contains this text.
    """
    limit = _SizeLimit()
    if isinstance(value, Records):
        records = _matching(cast("Records[object]", value), contains)
        items = [_view(record, limit, detail) for record in limit.entries(records)]
        view: JsonValue = {
            "items": items,
            "count": len(items),
            "unreadable": len(value.unreadable),
        }
    else:
        view = _view(value, limit, detail)

    if limit.omitted and isinstance(view, dict):
        view["left_out"] = limit.omitted
    return view


def _matching(records: Collection[object], text: str | None) -> Collection[object]:
    """Return the records whose short view contains a text; all without one."""
    if text is None:
        return records
    folded = text.casefold()
    return [record for record in records if _contains(_view(record, _SizeLimit(), "short"), folded)]


def has_full_view(annotation: Any) -> bool:  # noqa: ANN401 -- a type for pydantic
    """Return True if a full view of a result type has more fields than the short one."""
    record = _record_of(annotation)
    fields: Mapping[str, object] = getattr(record, "model_fields", {})
    if not fields:
        return False
    return not fields.keys() <= {*_field_names("short", record.__name__, fields)}


def schema_of(annotation: Any) -> Schema:  # noqa: ANN401 -- a type for pydantic
    """Return the schema of the short view of a result type; a full view has further fields."""
    record = _record_of(annotation)
    schema = view_schema(record, partial(_field_names, "short"))
    if record is annotation:
        return schema
    return with_property(RECORDS, "items", {"type": "array", "items": schema})


def _record_of(annotation: Any) -> Any:  # noqa: ANN401 -- a type for pydantic
    return get_args(annotation)[0] if get_origin(annotation) is Records else annotation


def _field_names(detail: Detail, record: str, fields: Iterable[str]) -> Sequence[str]:
    """Return the fields of a record that are shown; a list of actions has a view of its own."""
    if detail == "full":
        names = [name for name in fields if name not in _NEVER]
        if "next_actions" in _SHORT_BY_NAME.get(record, ()):
            names.append("next_actions")
        return names

    if record in _SHORT_BY_NAME:
        return _SHORT_BY_NAME[record]
    if hasattr(catalogue, record):
        return [*fields]
    raise LookupError(f"add {record} to SHORT in ferry_sdk.agents.tools.short_views")


def _view(  # noqa: PLR0911 -- one kind of value a paragraph
    value: object, limit: _SizeLimit, detail: Detail, *, name: str = "", depth: int = 0
) -> JsonValue:
    """Return the view of a value; `name` is that of the field that holds it."""
    limit.remaining -= len(name) + _PUNCTUATION
    if depth > _MAX_DEPTH:
        return "…"

    if isinstance(value, BaseModel):
        return _record_view(value, limit, detail, depth=depth)
    if isinstance(value, str):
        text = clean_text(value, _max_length(name, detail))
        limit.remaining -= len(text)
        return text
    if isinstance(value, Decimal):
        return format_amount(value)
    if isinstance(value, float) and not isfinite(value):
        return None  # the JSON number 1e999 is read as infinity
    if isinstance(value, date):
        return value.isoformat()

    if isinstance(value, Mapping):
        members: dict[str, JsonValue] = {}
        for member_name, member in limit.entries(cast("Mapping[str, object]", value).items()):
            key = clean_text(member_name, _MAX_LENGTH)
            members[key] = _view(member, limit, detail, name=key, depth=depth + 1)
        return members
    if isinstance(value, list | tuple):
        entries = limit.entries(cast("Sequence[object]", value))
        return [_view(entry, limit, detail, name=name, depth=depth + 1) for entry in entries]
    return cast("JsonValue", value)


def _record_view(
    record: BaseModel, limit: _SizeLimit, detail: Detail, *, depth: int
) -> dict[str, JsonValue]:
    model = type(record)
    view: dict[str, JsonValue] = {}
    for name in _field_names(detail, model.__name__, model.model_fields):
        if name in model.model_fields:
            view[name] = _view(getattr(record, name), limit, detail, name=name, depth=depth + 1)
        else:
            actions = cast("WithActions", record).next_actions()
            view[name] = [_action_view(action, limit) for action in limit.entries(actions)]
    return view


def _action_view(action: NextAction, limit: _SizeLimit) -> dict[str, JsonValue]:
    view: dict[str, JsonValue] = {
        "name": clean_text(action.name, _MAX_LENGTH),
        "mandatory": action.is_mandatory,
        "time_limit": _view(action.time_limit, limit, "short", name="time_limit"),
    }
    if action.name in _TOOLS_OF_ACTIONS:
        view["tool"] = _TOOLS_OF_ACTIONS[action.name]
    return view


def _max_length(name: str, detail: Detail) -> int:
    """Return the maximum length of a text; longer ones end in an ellipsis."""
    if name == "url" or name.endswith("_url"):
        return _MAX_LENGTH_IN_FULL
    is_key = name in {"id", "code"} or name.endswith(("_id", "_code"))
    return _MAX_LENGTH if is_key or detail == "short" else _MAX_LENGTH_IN_FULL


def _contains(view: JsonValue, text: str) -> bool:
    """Return True if a text of the view contains a text, which is given in lower case."""
    if isinstance(view, str):
        return text in view.casefold()
    if isinstance(view, dict):
        return any(_contains(member, text) for member in view.values())
    if isinstance(view, list):
        return any(_contains(entry, text) for entry in view)
    return False
