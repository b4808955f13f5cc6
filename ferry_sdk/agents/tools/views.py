"""Views of results for an agent, short or full, in plain JSON, with their schemas.

A short view has ids, times, prices and next actions, and no data of a traveller. A full view has
every known field except the image of a QR code, which would let its holder board.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from math import isfinite
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Literal, TypeVar, Union, cast, get_args, get_origin

from pydantic import BaseModel, JsonValue

from ferry_sdk.agents.tools.sanitize import clean_text
from ferry_sdk.agents.tools.schemas import Schema, parse_docstring
from ferry_sdk.models.availability import Availability, Place, Provider, SailingCompany, Tariff
from ferry_sdk.models.bookings import (
    Booking,
    BookingCancellation,
    BookingConfirmation,
    BookingCreated,
    WithActions,
)
from ferry_sdk.models.catalogue import Company, Departure, Journey, Port, VehicleBrand, VehicleType
from ferry_sdk.models.display.money import format_amount
from ferry_sdk.models.enums import OpenEnum
from ferry_sdk.models.records import Records
from ferry_sdk.models.tickets import (
    CancellationFee,
    Ticket,
    TicketCancellation,
    TicketJourney,
    TicketJourneys,
    TicketLeg,
    Voucher,
)

Detail = Literal["short", "full"]
T = TypeVar("T")

SHORT: Final[Mapping[type[BaseModel], tuple[str, ...]]] = {
    Availability: (
        "id",
        "direction",
        "depart_code",
        "arrive_code",
        "depart_at",
        "arrive_at",
        "is_open",
        "company",
        "provider",
        "ship_name",
        "tariffs",
        "places",
    ),
    SailingCompany: ("id", "name"),
    Provider: ("id",),
    Tariff: ("id", "type", "amount", "currency", "expiration_date", "roundtrip_locked"),
    Place: ("id", "name", "type", "capacity", "count"),
    BookingCreated: (
        "booking_id",
        "booking_reference",
        "stage",
        "total_price",
        "currency",
        "next_actions",
    ),
    Booking: (
        "booking_id",
        "booking_reference",
        "stage",
        "payment_status",
        "total_price",
        "currency",
        "expire_at",
        "next_actions",
        "tickets",
    ),
    BookingConfirmation: ("booking_id", "status", "ticket_id", "ticket_number", "read_back"),
    BookingCancellation: ("booking_id", "status", "refund_amount", "read_back", "previewed"),
    Ticket: ("id", "status", "ticket_number", "direction", "availability", "boarding_time"),
    TicketJourneys: ("outward", "return_"),
    TicketLeg: ("journey",),
    TicketJourney: ("depart_at", "arrive_at", "depart_port_name", "arrive_port_name"),
    TicketCancellation: ("ticket_id", "status", "read_back", "previewed"),
    CancellationFee: ("penalty_amount", "refund_amount", "currency", "ticket_status"),
    Voucher: ("url",),
    Journey: ("journey_id", "route", "duration_minutes"),
    Departure: ("journey_id", "departure_times"),
    Port: ("code", "name", "country"),
    VehicleBrand: ("id", "name"),
    VehicleType: ("code", "name", "max_length", "max_height"),
    Company: ("id", "code", "name"),
}
"""The fields of each record in its short view, in their order."""

_NEVER: Final = frozenset({"qr_code"})
_MAX_LENGTH: Final = 200
_MAX_LENGTH_IN_FULL: Final = 2_000
_PUNCTUATION: Final = 8
_MAX_SIZE: Final = 150_000
"""Approximate characters of a whole result; hosts cut what is longer."""
_MAX_DEPTH: Final = 20
_TOOLS: Final = {
    "Pay": "bookings_confirm",
    "Cancel": "bookings_cancel",
    "Download": "tickets_pdf",
}
_ACTIONS: Final[Schema] = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "mandatory": {"type": "boolean"},
            "time_limit": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            "tool": {"type": "string", "description": "The tool that does it."},
        },
        "required": ["name", "mandatory", "time_limit"],
        "additionalProperties": False,
    },
}
_OMITTED: Final[Schema] = {
    "type": "integer",
    "description": "How many entries were left out, because the result is too long. Ask for fewer "
    "records, such as with `contains`.",
}
_LEAVES: Final[Mapping[Any, Schema]] = {
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    Decimal: {"type": "string"},
    date: {"type": "string", "format": "date"},
    datetime: {"type": "string", "format": "date-time"},
    NoneType: {"type": "null"},
}
_ANY_JSON: Final[Schema] = {
    "anyOf": [{"type": kind} for kind in ("string", "number", "boolean", "object", "array", "null")]
}


@dataclass(slots=True)
class _SizeLimit:
    """The characters that a result may still have, and how many entries were left out."""

    remaining: int = _MAX_SIZE
    omitted: int = 0

    def entries(self, several: Collection[T]) -> Iterator[T]:
        """Yield entries until the limit is reached, and count the others."""
        for index, one in enumerate(several):
            if self.remaining <= 0:
                self.omitted += len(several) - index
                return
            yield one


def view_of(value: object, detail: Detail, contains: str | None = None) -> JsonValue:
    """Return the view of a result.

    Args:
        value: The result.
        detail: How much of it is shown.
        contains: Of a list, show only the records whose short view contains this text.
    """
    limit = _SizeLimit()
    if isinstance(value, Records):
        records = cast("Records[object]", value)
        found = [
            one
            for one in records
            if contains is None
            or _contains(_view(one, _SizeLimit(), "short", ""), contains.casefold())
        ]
        items = [_view(one, limit, detail, "") for one in limit.entries(found)]
        view: JsonValue = {
            "items": cast("JsonValue", items),
            "count": len(items),
            "unreadable": len(records.unreadable),
        }
    else:
        view = _view(value, limit, detail, "")
    if limit.omitted and isinstance(view, dict):
        view["left_out"] = limit.omitted
    return view


def schema_of(annotation: object, detail: Detail) -> Schema:
    """Return the schema of the view of a result type."""
    if get_origin(annotation) is Records:
        schema = _object_schema(
            {
                "items": {"type": "array", "items": _type_schema(get_args(annotation)[0], detail)},
                "count": {"type": "integer"},
                "unreadable": {"type": "integer"},
            }
        )
    else:
        schema = _type_schema(annotation, detail)
    schema["properties"]["left_out"] = _OMITTED
    return schema


def _field_names(model: type[BaseModel], detail: Detail) -> Sequence[str]:
    if detail == "short":
        if model not in SHORT:
            raise LookupError(f"add {model.__name__} to SHORT in {__name__}")
        return SHORT[model]
    known = [name for name in model.model_fields if name not in _NEVER]
    return [*known, "next_actions"] if issubclass(model, WithActions) else known


def _view(value: Any, limit: _SizeLimit, detail: Detail, name: str, depth: int = 0) -> JsonValue:  # noqa: ANN401, PLR0911 -- any value, one kind a line
    limit.remaining -= len(name) + _PUNCTUATION
    if depth > _MAX_DEPTH:
        return "…"
    if isinstance(value, BaseModel):
        return {
            field: _actions(value, limit)
            if field == "next_actions" and isinstance(value, WithActions)
            else _view(getattr(value, field), limit, detail, field, depth + 1)
            for field in _field_names(type(value), detail)
        }
    if isinstance(value, Enum):
        value = value.value
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
            clean_text(key, _MAX_LENGTH): _view(
                one, limit, detail, clean_text(key, _MAX_LENGTH), depth + 1
            )
            for key, one in limit.entries(members.items())
        }
    if isinstance(value, list | tuple):
        several = cast("Sequence[object]", value)
        return [_view(one, limit, detail, name, depth + 1) for one in limit.entries(several)]
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
    return any(_contains(one, text) for one in parts)


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


def _object_schema(properties: Schema) -> Schema:
    return {
        "type": "object",
        "properties": properties,
        "required": [*properties],
        "additionalProperties": False,
    }


def _type_schema(annotation: Any, detail: Detail) -> Schema:  # noqa: ANN401, PLR0911 -- types, one kind a line
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _type_schema(parts[0], detail)
    if origin in {Union, UnionType}:
        return _union_schema([_type_schema(part, detail) for part in parts])
    if origin is tuple:
        return {"type": "array", "items": _type_schema(parts[0], detail)}
    if origin is Mapping:
        return {"type": "object", "additionalProperties": _type_schema(parts[1], detail)}
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return _object_schema(
            {
                name: _field_schema(annotation, name, detail)
                for name in _field_names(annotation, detail)
            }
        )
    if isinstance(annotation, type) and issubclass(annotation, OpenEnum):
        return {"type": "string"}
    return dict(_LEAVES.get(annotation, _ANY_JSON))


def _field_schema(model: type[BaseModel], name: str, detail: Detail) -> Schema:
    if name == "next_actions":
        return _ACTIONS
    description = parse_docstring(model).fields.get(name)
    schema = _type_schema(model.model_fields[name].annotation, detail)
    return {**schema, "description": description} if description else schema


def _union_schema(schemas: list[Schema]) -> Schema:
    """Return a schema for any of these; simple types that differ in format are merged into one."""
    null = _LEAVES[NoneType]
    others = [schema for schema in schemas if schema != null]
    simple = all(schema.keys() <= {"type", "format"} for schema in others)
    if simple and len({schema["type"] for schema in others}) == 1:
        formats = {schema.get("format") for schema in others}
        others = [others[0] if len(formats) == 1 else {"type": others[0]["type"]}]
    if null in schemas:
        others.append(null)
    return others[0] if len(others) == 1 else {"anyOf": others}
