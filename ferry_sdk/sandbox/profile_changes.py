"""Answers and refusals as a profile selects them.

An operation answers as the client assumes. Before the answer is sent, by REST or by MCP, each row
of `_ALTERNATIVES` changes it if the profile has the row's value in the row's field. For example,
`Profile(balance="zero")` sets every `balance_amount` of a search to 0.
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
_STATUSES = {"not_found": 404, "unprocessable": 422, "error_with_200": 200, "bad_request": 400}
_SEARCHES = ("availability.search", "mcp.search_availability")
_CREATIONS = ("bookings.create", "mcp.create_booking")
_TICKETS = ("bookings.get", "tickets.get", "mcp.view_ticket")
_CANCELLATIONS = ("bookings.cancel", "tickets.cancel", "mcp.cancel_ticket")
_DETAILS = ("birth_date", "nationality", "doc_type", "doc_number", "doc_expiration")
_TIMES = ("expire_at", "timeLimit", "depart_at", "arrive_at", "valid_until", "boarding_time")
_WITHOUT_OFFSET = len("2027-03-01T09:00:00")
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
    for row in _ALTERNATIVES:
        if operation in row.operations and getattr(profile, row.field) == row.value:
            answer = row.change(answer)
    return answer


def _each(change: _Change) -> _Change:
    """Return a change of each record in a list."""

    def change_list(records: list[_Object]) -> list[_Object]:
        return [change(record) for record in records]

    return change_list


def _members(names: Collection[str], change: _Change) -> _Change:
    """Return a change of the members with these names, at any depth.

    A member that becomes `_ABSENT` is left out.
    """

    def change_value(value: JsonValue) -> JsonValue:
        if isinstance(value, list):
            return [change_value(item) for item in value]
        if not isinstance(value, dict):
            return value

        changed: _Object = {}
        for name, member in value.items():
            new = change(member) if name in names else change_value(member)
            if new is not _ABSENT:
                changed[name] = new
        return changed

    return change_value


def _set(name: str, value: object) -> _Change:
    """Return a change that gives the members with this name a value, at any depth."""

    def replace(_: JsonValue) -> object:
        return value

    return _members((name,), replace)


def _rename(names: Mapping[str, str]) -> _Change:
    """Return a change of the names of an object's members: from old to new."""

    def rename(record: _Object) -> _Object:
        return {names.get(name, name): member for name, member in record.items()}

    return rename


def _share_by_person(availability: _Object) -> _Object:
    people: int = availability["passenger_count"]

    def share(amount: float) -> float:
        return round(amount / people, 2)

    change = _members(("amount", "balance_amount"), share)
    return {**availability, "tariffs": change(availability["tariffs"])}


def _keep_outward(availabilities: list[_Object]) -> list[_Object]:
    return [each for each in availabilities if each["direction"] == "Outward"]


def _wrap_in_object(availabilities: list[_Object]) -> _Object:
    return {"availabilities": availabilities}


def _set_country_code(port: _Object) -> _Object:
    return {**port, "country": port["code"][:2]}


def _set_route_codes(journey: _Object) -> _Object:
    return {**journey, "route": f"{journey['depart_code']} → {journey['arrive_code']}"}


def _treat_as_paid(stage: str) -> str:
    return "issuance_due" if stage == "payment_due" else stage


def _cut_offset(time: str | None) -> str | None:
    return None if time is None else time[:_WITHOUT_OFFSET]


def _cut_date(time: str) -> str:
    return time[_CLOCK_TIME]


def _cut_media_type(data_uri: str) -> str:
    return data_uri.partition(",")[2]


def _omit_null(detail: str | None) -> object:
    return detail or _ABSENT


def _refuse_missing(voucher: _Object) -> _Object:
    if voucher["url"] is None:
        raise not_found("no_such_address")
    return voucher


class _Alternative(NamedTuple):
    """A change of answers that a value of the profile selects.

    Attributes:
        field: The field of the profile.
        value: Its value.
        operations: The operations whose answers are changed.
        change: The change of an answer.
    """

    field: str
    value: str
    operations: Collection[str]
    change: _Change


_ALTERNATIVES = (
    _Alternative(
        field="amount",
        value="per_person",
        operations=_SEARCHES,
        change=_each(_share_by_person),
    ),
    _Alternative(
        field="balance",
        value="zero",
        operations=_SEARCHES,
        change=_set("balance_amount", 0.0),
    ),
    _Alternative(
        field="currency",
        value="upper_case",
        operations=_SEARCHES,
        change=_members(("currency",), str.upper),
    ),
    _Alternative(
        field="return_search",
        value="outward_only",
        operations=_SEARCHES,
        change=_keep_outward,
    ),
    _Alternative(
        field="search_list",
        value="in_object",
        operations=_SEARCHES,
        change=_wrap_in_object,
    ),
    _Alternative(
        field="port_country",
        value="code",
        operations=("catalogue.ports",),
        change=_each(_set_country_code),
    ),
    _Alternative(
        field="port_position",
        value="lat_lng",
        operations=("mcp.ports",),
        change=_each(_rename({"latitude": "lat", "longitude": "lng"})),
    ),
    _Alternative(
        field="journey_route",
        value="codes",
        operations=("catalogue.journeys", "mcp.departures"),
        change=_each(_set_route_codes),
    ),
    _Alternative(
        field="created_status",
        value="pending",
        operations=_CREATIONS,
        change=_set("status", "pending"),
    ),
    _Alternative(
        field="created_stage",
        value="issuance_due",
        operations=(*_CREATIONS, *_TICKETS),
        change=_members(("stage",), _treat_as_paid),
    ),
    _Alternative(
        field="created_stage",
        value="issuance_due",
        operations=(*_CREATIONS, "bookings.get"),
        change=_members(("possible_actions",), _rename({"Pay": "Issue"})),
    ),
    _Alternative(
        field="times",
        value="without_offset",
        operations=(*_CREATIONS, *_TICKETS),
        change=_members(_TIMES, _cut_offset),
    ),
    _Alternative(
        field="boarding_time",
        value="clock_time",
        operations=_TICKETS,
        change=_members(("boarding_time",), _cut_date),
    ),
    _Alternative(
        field="boarding_time",
        value="absent",
        operations=_TICKETS,
        change=_set("boarding_time", _ABSENT),
    ),
    _Alternative(
        field="qr_code",
        value="base64",
        operations=_TICKETS,
        change=_members(("qr_code",), _cut_media_type),
    ),
    _Alternative(
        field="qr_code",
        value="absent",
        operations=_TICKETS,
        change=_set("qr_code", _ABSENT),
    ),
    _Alternative(
        field="traveller_details",
        value="absent",
        operations=_TICKETS,
        change=_members(_DETAILS, _omit_null),
    ),
    _Alternative(
        field="voucher",
        value="not_found",
        operations=("tickets.pdf",),
        change=_refuse_missing,
    ),
    _Alternative(
        field="preview",
        value="refund_only",
        operations=("bookings.cancel_fee",),
        change=_set("penalty_amount", 0.0),
    ),
    _Alternative(
        field="cancelled_status",
        value="canceled",
        operations=_CANCELLATIONS,
        change=_set("status", "canceled"),
    ),
)
"""The alternatives, in the order in which they change an answer."""
