"""What an agent is shown of a result: short or full, in plain JSON, with its schema.

Short is ids, times, prices and next actions, and nothing of a traveller. Full is every field that
is known, but for the picture of a QR code, which gives its bearer a seat and an agent nothing.
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

from ferry_sdk.agents.tools.sanitize import cleaned
from ferry_sdk.agents.tools.schemas import words_of
from ferry_sdk.models.availability import Availability, Place, Provider, SailingCompany, Tariff
from ferry_sdk.models.bookings import (
    Booking,
    BookingCancellation,
    BookingConfirmation,
    BookingCreated,
    WithActions,
)
from ferry_sdk.models.catalogue import Departure, Journey, Port, VehicleBrand, VehicleType
from ferry_sdk.models.enums import OpenEnum
from ferry_sdk.models.mcp import Company
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
Schema = dict[str, Any]
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
_LONGEST: Final = 200
_LONGEST_IN_FULL: Final = 2_000
_PUNCTUATION: Final = 8
_ROOM: Final = 150_000
"""Characters of a whole result, near enough: a model reads no more, and hosts cut it anyway."""
_DEEPEST: Final = 20
_WRITTEN_OUT: Final = 50
"""Digits of an amount; with more, as in 1E+999999, its exponent is shown."""
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
            "time_limit": {"type": ["string", "null"]},
            "tool": {"type": "string", "description": "The tool that does it."},
        },
        "required": ["name", "mandatory", "time_limit"],
        "additionalProperties": False,
    },
}
_LEFT_OUT: Final[Schema] = {
    "type": "integer",
    "description": "How many entries were left out, because the result is too long. Ask for less, "
    "such as with `contains`.",
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


@dataclass(slots=True)
class _Room:
    """What is left for a result.

    Attributes:
        left: The characters that it may still have.
        left_out: The entries of its lists for which there were none.
    """

    left: int = _ROOM
    left_out: int = 0

    def entries(self, several: Collection[T]) -> Iterator[T]:
        """The entries for which there is room."""
        for index, one in enumerate(several):
            if self.left <= 0:
                self.left_out += len(several) - index
                return
            yield one


def shown(value: object, detail: Detail, contains: str | None = None) -> JsonValue:
    """A result as it is shown.

    Args:
        value: The result.
        detail: How much of it.
        contains: Of a list, only the records with this in a text of their short view.
    """
    room = _Room()
    if isinstance(value, Records):
        records = cast("Records[object]", value)
        found = [one for one in records if has(one, contains)]
        items = [_shown(one, room, detail, "") for one in room.entries(found)]
        view: JsonValue = {
            "items": cast("JsonValue", items),
            "count": len(items),
            "unreadable": len(records.unreadable),
        }
    else:
        view = _shown(value, room, detail, "")
    if room.left_out and isinstance(view, dict):
        view["left_out"] = room.left_out
    return view


def schema_of(annotation: object, detail: Detail) -> Schema:
    """The schema of what is shown of such results."""
    if get_origin(annotation) is Records:
        schema = _object(
            {
                "items": {"type": "array", "items": _schema(get_args(annotation)[0], detail)},
                "count": {"type": "integer"},
                "unreadable": {"type": "integer"},
            }
        )
    else:
        schema = _schema(annotation, detail)
    schema["properties"]["left_out"] = _LEFT_OUT
    return schema


def money(amount: Decimal) -> str:
    """An amount with all its digits, and two behind the point at the least."""
    if len(amount.as_tuple().digits) > _WRITTEN_OUT:
        return f"{amount:.{_WRITTEN_OUT}E}"
    if abs(amount.adjusted()) > _WRITTEN_OUT:
        return str(amount)
    _, _, exponent = amount.as_tuple()
    return f"{amount:.2f}" if isinstance(exponent, int) and exponent > -2 else f"{amount:f}"  # noqa: PLR2004 -- digits


def _fields(model: type[BaseModel], detail: Detail) -> Sequence[str]:
    if detail == "short":
        return SHORT[model]
    known = [name for name in model.model_fields if name not in _NEVER]
    return [*known, "next_actions"] if issubclass(model, WithActions) else known


def _shown(value: Any, room: _Room, detail: Detail, name: str, depth: int = 0) -> JsonValue:  # noqa: ANN401, PLR0911 -- any value, one kind a line
    room.left -= len(name) + _PUNCTUATION
    if depth > _DEEPEST:
        return "…"
    if isinstance(value, BaseModel):
        return {
            field: _actions(value, room)
            if field == "next_actions" and isinstance(value, WithActions)
            else _shown(getattr(value, field), room, detail, field, depth + 1)
            for field in _fields(type(value), detail)
        }
    if isinstance(value, Enum):
        value = value.value
    if isinstance(value, str):
        text = cleaned(value, _longest(name, detail))
        room.left -= len(text)
        return text
    if isinstance(value, Decimal):
        return money(value)
    if isinstance(value, float) and not isfinite(value):
        return None  # 1e999 is a number in JSON, and infinite when it is read
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Mapping):
        members = cast("Mapping[str, object]", value)
        return {
            cleaned(key, _LONGEST): _shown(one, room, detail, cleaned(key, _LONGEST), depth + 1)
            for key, one in room.entries(members.items())
        }
    if isinstance(value, list | tuple):
        several = cast("Sequence[object]", value)
        return [_shown(one, room, detail, name, depth + 1) for one in room.entries(several)]
    return cast("JsonValue", value)


def _longest(name: str, detail: Detail) -> int:
    """How long a text may be; one that is cut ends in an ellipsis, and no id or address does."""
    if name == "url" or name.endswith("_url"):
        return _LONGEST_IN_FULL
    is_key = name in {"id", "code"} or name.endswith(("_id", "_code"))
    return _LONGEST if is_key or detail == "short" else _LONGEST_IN_FULL


def has(record: object, text: str | None) -> bool:
    """Whether a text stands in the short view of a record."""
    return text is None or any(
        text.casefold() in one.casefold() for one in _texts(_shown(record, _Room(), "short", ""))
    )


def _texts(view: JsonValue) -> Iterator[str]:
    if isinstance(view, str):
        yield view
    elif isinstance(view, dict | list):
        for one in view.values() if isinstance(view, dict) else view:
            yield from _texts(one)


def _actions(record: WithActions, room: _Room) -> JsonValue:
    return [
        {
            "name": cleaned(action.name, _LONGEST),
            "mandatory": action.is_mandatory,
            "time_limit": _shown(action.time_limit, room, "short", "time_limit"),
            **({"tool": _TOOLS[action.name]} if action.name in _TOOLS else {}),
        }
        for action in room.entries(record.next_actions())
    ]


def _object(properties: Schema) -> Schema:
    return {
        "type": "object",
        "properties": properties,
        "required": [*properties],
        "additionalProperties": False,
    }


def _schema(annotation: Any, detail: Detail) -> Schema:  # noqa: ANN401, PLR0911 -- types, one kind a line
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _schema(parts[0], detail)
    if origin in {Union, UnionType}:
        return _either([_schema(part, detail) for part in parts])
    if origin is tuple:
        return {"type": "array", "items": _schema(parts[0], detail)}
    if origin is Mapping:
        return {"type": "object", "additionalProperties": _schema(parts[1], detail)}
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return _object(
            {name: _member(annotation, name, detail) for name in _fields(annotation, detail)}
        )
    if isinstance(annotation, type) and issubclass(annotation, OpenEnum):
        return {"type": "string"}
    return dict(_LEAVES.get(annotation, {}))


def _member(model: type[BaseModel], name: str, detail: Detail) -> Schema:
    if name == "next_actions":
        return _ACTIONS
    said = words_of(model).fields.get(name)
    schema = _schema(model.model_fields[name].annotation, detail)
    return {**schema, "description": said} if said else schema


def _either(schemas: list[Schema]) -> Schema:
    """One of them; a moment or else a text is any text."""
    kinds = [*dict.fromkeys(schema.get("type", "") for schema in schemas)]
    if not all(schema.keys() <= {"type", "format"} for schema in schemas):
        return {"anyOf": schemas}
    formats = {schema.get("format") for schema in schemas if schema["type"] != "null"}
    same = formats.pop() if len(formats) == 1 else None
    kind = kinds[0] if len(kinds) == 1 else kinds
    return {"type": kind, **({"format": same} if same else {})}
