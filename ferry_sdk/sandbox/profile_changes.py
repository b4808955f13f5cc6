"""Answers and refusals as a profile selects them.

They are changed just before they are sent, for REST and MCP alike.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from http import HTTPStatus
from typing import Any

from pydantic import JsonValue

from ferry_sdk.sandbox.profile import Profile
from ferry_sdk.sandbox.requests.errors import RefusedError, not_found

_Change = Callable[[Any], Any]
_Object = dict[str, Any]

_ABSENT: Any = object()
_UNKNOWN_IDS = ("booking_unknown", "ticket_unknown", "id_unknown")
_STATUSES = {"not_found": 404, "unprocessable": 422, "error_with_200": 200, "bad_request": 400}
_SEARCHES = ("availability.search", "mcp.search_availability")
_CREATIONS = ("bookings.create", "mcp.create_booking")
_TICKETS = ("bookings.get", "tickets.get", "mcp.view_ticket")
_CANCELLATIONS = ("bookings.cancel", "tickets.cancel", "mcp.cancel_ticket")
_DETAILS = ("birth_date", "nationality", "doc_type", "doc_number", "doc_expiration")
_TIMES = ("expire_at", "timeLimit", "depart_at", "arrive_at", "valid_until", "boarding_time")
_SECONDS = len("2027-03-01T09:00:00")
_CLOCK = slice(len("2027-03-01T"), len("2027-03-01T09:00"))


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
    for field, value, operations, change in _ALTERNATIVES:
        if operation in operations and getattr(profile, field) == value:
            answer = change(answer)
    return answer


def _each(change: _Change) -> _Change:
    """Return a change of each record in a list."""
    return lambda records: [change(record) for record in records]


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


def _renamed(**names: str) -> _Change:
    return lambda record: {names.get(name, name): member for name, member in record.items()}


def _per_person(availability: _Object) -> _Object:
    people: int = availability["passenger_count"]
    share = _members(("amount", "balance_amount"), lambda amount: round(amount / people, 2))
    return {**availability, "tariffs": share(availability["tariffs"])}


def _outward(availabilities: list[_Object]) -> list[_Object]:
    return [each for each in availabilities if each["direction"] == "Outward"]


def _with_country_code(port: _Object) -> _Object:
    return {**port, "country": port["code"][:2]}


def _with_codes(journey: _Object) -> _Object:
    return {**journey, "route": f"{journey['depart_code']} → {journey['arrive_code']}"}


def _as_paid(stage: str) -> str:
    return "issuance_due" if stage == "payment_due" else stage


def _existing(voucher: _Object) -> _Object:
    if voucher["url"] is None:
        raise not_found("no_such_address")
    return voucher


_due_for_issue = _members(("possible_actions",), _renamed(Pay="Issue"))
_without_offset = _members(_TIMES, lambda time: time and time[:_SECONDS])
_as_clock_time = _members(("boarding_time",), lambda time: time[_CLOCK])

_ALTERNATIVES: tuple[tuple[str, str, Collection[str], _Change], ...] = (
    ("amount", "per_person", _SEARCHES, _each(_per_person)),
    ("balance", "zero", _SEARCHES, _set("balance_amount", 0.0)),
    ("currency", "upper_case", _SEARCHES, _members(("currency",), str.upper)),
    ("return_search", "outward_only", _SEARCHES, _outward),
    ("search_list", "in_object", _SEARCHES, lambda offers: {"availabilities": offers}),
    ("port_country", "code", ("catalogue.ports",), _each(_with_country_code)),
    ("port_position", "lat_lng", ("mcp.ports",), _each(_renamed(latitude="lat", longitude="lng"))),
    ("journey_route", "codes", ("catalogue.journeys", "mcp.departures"), _each(_with_codes)),
    ("created_status", "pending", _CREATIONS, _set("status", "pending")),
    ("created_stage", "issuance_due", (*_CREATIONS, *_TICKETS), _members(("stage",), _as_paid)),
    ("created_stage", "issuance_due", (*_CREATIONS, "bookings.get"), _due_for_issue),
    ("times", "without_offset", (*_CREATIONS, *_TICKETS), _without_offset),
    ("boarding_time", "clock_time", _TICKETS, _as_clock_time),
    ("boarding_time", "absent", _TICKETS, _set("boarding_time", _ABSENT)),
    ("qr_code", "base64", _TICKETS, _members(("qr_code",), lambda uri: uri.partition(",")[2])),
    ("qr_code", "absent", _TICKETS, _set("qr_code", _ABSENT)),
    ("traveller_details", "absent", _TICKETS, _members(_DETAILS, lambda it: it or _ABSENT)),
    ("voucher", "not_found", ("tickets.pdf",), _existing),
    ("preview", "refund_only", ("bookings.cancel_fee",), _set("penalty_amount", 0.0)),
    ("cancelled_status", "canceled", _CANCELLATIONS, _set("status", "canceled")),
)
"""A field of the profile, its value, the operations, and the change of their answers.

The changes are applied in this order.
"""
