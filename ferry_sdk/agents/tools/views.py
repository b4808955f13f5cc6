"""Views of results for an agent, short or full, in plain JSON, with their schemas.

A short view has ids, times, prices and next actions, and no data of a traveller. A full view has
every known field except the image of a QR code, which would let its holder board.
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

from ferry_sdk._runtime.data import data_beside
from ferry_sdk._runtime.money import format_amount
from ferry_sdk.agents.tools.sanitize import clean_text
from ferry_sdk.agents.tools.schemas import Schema, shape_with, view_schema
from ferry_sdk.models import catalogue
from ferry_sdk.models.bookings import WithActions
from ferry_sdk.models.records import Records

Detail = Literal["short", "full"]
T = TypeVar("T")

SHORT: Final[Mapping[str, Sequence[str]]] = data_beside(__file__)
"""The fields of each record in its short view, in their order.

A record of a catalogue has no data of a traveller; without a row it is shown whole.
"""

_NEVER: Final = frozenset({"qr_code"})
_MAX_LENGTH: Final = 200
_MAX_LENGTH_IN_FULL: Final = 2_000
_PUNCTUATION: Final = 8
_MAX_SIZE: Final = 150_000
"""Approximate characters of a whole result; hosts cut what is longer."""
_MAX_DEPTH: Final = 20
_TOOLS: Final = {"Pay": "bookings_confirm", "Cancel": "bookings_cancel", "Download": "tickets_pdf"}


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
        records: Collection[object] = cast("Records[object]", value)
        if contains is not None:
            text = contains.casefold()
            records = [row for row in records if _contains(_view(row, _SizeLimit(), "short"), text)]
        items = [_view(record, limit, detail) for record in limit.entries(records)]
        counts = {"count": len(items), "unreadable": len(value.unreadable)}
        view: JsonValue = {"items": items, **counts}
    else:
        view = _view(value, limit, detail)
    if limit.omitted and isinstance(view, dict):
        view["left_out"] = limit.omitted
    return view


def has_full_view(annotation: Any) -> bool:  # noqa: ANN401 -- a type for pydantic
    """Return True if a full view of a result type has more fields than the short one."""
    record = _record_of(annotation)
    fields: Mapping[str, object] = getattr(record, "model_fields", {})
    return bool(fields) and not fields.keys() <= {*_field_names("short", record.__name__, fields)}


def schema_of(annotation: Any) -> Schema:  # noqa: ANN401 -- a type for pydantic
    """Return the schema of the short view of a result type; a full view has further fields."""
    record = _record_of(annotation)
    schema = view_schema(record, partial(_field_names, "short"))
    if record is annotation:
        return schema
    return shape_with("records", "items", {"type": "array", "items": schema})


def _record_of(annotation: Any) -> Any:  # noqa: ANN401 -- a type for pydantic
    return get_args(annotation)[0] if get_origin(annotation) is Records else annotation


def _field_names(detail: Detail, record: str, fields: Iterable[str]) -> Sequence[str]:
    """Return the fields of a record that are shown; a list of actions has a view of its own."""
    if detail == "full":
        actions = ["next_actions"] if "next_actions" in SHORT.get(record, ()) else []
        return [*(name for name in fields if name not in _NEVER), *actions]
    if record in SHORT:
        return SHORT[record]
    if hasattr(catalogue, record):
        return [*fields]
    raise LookupError(f"add {record} to views.json beside {__name__}")


def _view(  # noqa: PLR0911 -- one kind of value a line
    value: object, limit: _SizeLimit, detail: Detail, name: str = "", depth: int = 0
) -> JsonValue:
    limit.remaining -= len(name) + _PUNCTUATION
    if depth > _MAX_DEPTH:
        return "…"
    if isinstance(value, BaseModel):
        model = type(value)
        return {
            field: _view(getattr(value, field), limit, detail, field, depth + 1)
            if field in model.model_fields
            else _actions(cast("WithActions", value), limit)
            for field in _field_names(detail, model.__name__, model.model_fields)
        }
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
        members = cast("Mapping[str, object]", value)
        return {
            (key := clean_text(name, _MAX_LENGTH)): _view(member, limit, detail, key, depth + 1)
            for name, member in limit.entries(members.items())
        }
    if isinstance(value, list | tuple):
        entries = limit.entries(cast("Sequence[object]", value))
        return [_view(entry, limit, detail, name, depth + 1) for entry in entries]
    return cast("JsonValue", value)


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
    parts = view.values() if isinstance(view, dict) else view if isinstance(view, list) else ()
    return any(_contains(part, text) for part in parts)


def _actions(record: WithActions, limit: _SizeLimit) -> JsonValue:
    return [
        {
            "name": clean_text(action.name, _MAX_LENGTH),
            "mandatory": action.is_mandatory,
            "time_limit": _view(action.time_limit, limit, "short", "time_limit"),
            **({"tool": _TOOLS[action.name]} if action.name in _TOOLS else {}),
        }
        for action in limit.entries(record.next_actions())
    ]
