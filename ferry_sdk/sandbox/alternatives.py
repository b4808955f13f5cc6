"""Answers and refusals as a profile selects them.

They are changed just before they are sent, for REST and MCP alike.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from http import HTTPStatus
from typing import Any, NamedTuple

from pydantic import JsonValue

from ferry_sdk.sandbox.profile import Profile
from ferry_sdk.sandbox.requests.errors import RefusedError, not_found

_Change = Callable[[Any], Any]
_Object = dict[str, Any]

_ABSENT: Any = object()
_UNKNOWN_IDS = ("booking_unknown", "ticket_unknown", "id_unknown")
_STATUSES = {
    "not_found": 404,
    "unprocessable": 422,
    "error_with_200": 200,
    "bad_request": 400,
}
_SEARCHES = ("availability.search", "mcp.search_availability")
_CREATIONS = ("bookings.create", "mcp.create_booking")
_TICKETS = ("bookings.get", "tickets.get", "mcp.view_ticket")
_CANCELLATIONS = ("bookings.cancel", "tickets.cancel", "mcp.cancel_ticket")
_DETAILS = ("birth_date", "nationality", "doc_type", "doc_number", "doc_expiration")
_TIMES = ("expire_at", "timeLimit", "depart_at", "arrive_at", "valid_until", "boarding_time")
_WITHOUT_OFFSET = slice(len("2027-03-01T09:00:00"))
_CLOCK_TIME = slice(len("2027-03-01T"), len("2027-03-01T09:00"))


def finds_nothing(profile: Profile, error: RefusedError) -> bool:
    """Return whether the answer is an empty list instead of this refusal."""
    return profile.no_sailings == "empty_list" and error.problems[0].text == "no_sailings"


def status_of(profile: Profile, error: RefusedError) -> int:
    """Return the HTTP status of a refusal."""
    if error.problems[0].text in _UNKNOWN_IDS:
        return _STATUSES[profile.unknown_id]
    if error.status == HTTPStatus.UNPROCESSABLE_ENTITY:
        return _STATUSES[profile.invalid_request]
    return error.status


def change_answer(profile: Profile, operation: str, answer: JsonValue) -> JsonValue:
    """Return the answer of an operation as the profile selects it.

    Raises:
        RefusedError: The answer is a refusal.
    """
    for each in _ALTERNATIVES:
        if operation in each.operations and getattr(profile, each.id) == each.value:
            answer = each.change(answer)
    return answer


class _Alternative(NamedTuple):
    """What a value of a profile changes in the answers of some operations."""

    id: str
    value: str
    operations: Collection[str]
    change: _Change


def _each(change: _Change) -> _Change:
    """Return a change of each record in a list, or in the list in an object's only member."""

    def apply(answer: JsonValue) -> JsonValue:
        if isinstance(answer, dict):
            return {name: apply(member) for name, member in answer.items()}
        return [change(record) for record in answer] if isinstance(answer, list) else answer

    return apply


def _members(names: Collection[str], change: _Change) -> _Change:
    """Return a change of the members with these names, at any depth."""

    def apply(value: JsonValue) -> JsonValue:
        if isinstance(value, list):
            return [apply(item) for item in value]
        if not isinstance(value, dict):
            return value
        changed = {
            name: change(member) if name in names else apply(member)
            for name, member in value.items()
        }
        return {name: member for name, member in changed.items() if member is not _ABSENT}

    return apply


def _set(name: str, value: object) -> _Change:
    return _members((name,), lambda _: value)


def _rename(record: _Object, names: Mapping[str, str]) -> _Object:
    return {names.get(name, name): member for name, member in record.items()}


def _per_person(availability: _Object) -> _Object:
    people: int = availability["passenger_count"]
    share = _members(("amount", "balance_amount"), lambda amount: round(amount / people, 2))
    return {**availability, "tariffs": share(availability["tariffs"])}


def _outward(found: list[_Object]) -> list[_Object]:
    return [each for each in found if each["direction"] == "Outward"]


def _in_object(found: list[_Object]) -> _Object:
    return {"availabilities": found}


def _existing(voucher: _Object) -> _Object:
    if voucher["url"] is None:
        raise not_found("no_such_address")
    return voucher


_ALTERNATIVES = (
    _Alternative("amount", "per_person", _SEARCHES, _each(_per_person)),
    _Alternative("balance", "zero", _SEARCHES, _set("balance_amount", 0.0)),
    _Alternative("currency", "upper_case", _SEARCHES, _members(("currency",), str.upper)),
    _Alternative("return_search", "outward_only", _SEARCHES, _outward),
    _Alternative("search_list", "in_object", _SEARCHES, _in_object),
    _Alternative(
        "port_country",
        "code",
        ("catalogue.ports",),
        _each(lambda port: {**port, "country": port["code"][:2]}),
    ),
    _Alternative(
        "port_position",
        "lat_lng",
        ("mcp.ports",),
        _each(lambda port: _rename(port, {"latitude": "lat", "longitude": "lng"})),
    ),
    _Alternative(
        "journey_route",
        "codes",
        ("catalogue.journeys", "mcp.departures"),
        _each(lambda one: {**one, "route": f"{one['depart_code']} → {one['arrive_code']}"}),
    ),
    _Alternative("created_status", "pending", _CREATIONS, _set("status", "pending")),
    _Alternative(
        "created_stage",
        "issuance_due",
        (*_CREATIONS, *_TICKETS),
        _members(("stage",), lambda stage: "issuance_due" if stage == "payment_due" else stage),
    ),
    _Alternative(
        "created_stage",
        "issuance_due",
        (*_CREATIONS, "bookings.get"),
        _members(("possible_actions",), lambda actions: _rename(actions, {"Pay": "Issue"})),
    ),
    _Alternative(
        "times",
        "without_offset",
        (*_CREATIONS, *_TICKETS),
        _members(_TIMES, lambda moment: moment and moment[_WITHOUT_OFFSET]),
    ),
    _Alternative(
        "boarding_time",
        "clock_time",
        _TICKETS,
        _members(("boarding_time",), lambda moment: moment[_CLOCK_TIME]),
    ),
    _Alternative("boarding_time", "absent", _TICKETS, _set("boarding_time", _ABSENT)),
    _Alternative(
        "qr_code",
        "base64",
        _TICKETS,
        _members(("qr_code",), lambda uri: uri.partition(",")[2]),
    ),
    _Alternative("qr_code", "absent", _TICKETS, _set("qr_code", _ABSENT)),
    _Alternative(
        "traveller_details",
        "absent",
        _TICKETS,
        _members(_DETAILS, lambda detail: _ABSENT if detail is None else detail),
    ),
    _Alternative("voucher", "not_found", ("tickets.pdf",), _existing),
    _Alternative(
        "preview",
        "refund_only",
        ("bookings.cancel_fee",),
        _set("penalty_amount", 0.0),
    ),
    _Alternative("cancelled_status", "canceled", _CANCELLATIONS, _set("status", "canceled")),
)
"""In the order in which they are applied."""
