"""What an agent would ask of the tools, as plain JSON: a scripted one."""

from __future__ import annotations

from typing import Any

from ferry_sdk.sandbox.network.network import journey_id
from tests.support.trip import DAY

TARIFA, TANGIER = "ESTRF", "MATNG"
WRITES = ("bookings.create", "bookings.confirm", "bookings.cancel", "tickets.cancel")
TRAVELLERS: list[dict[str, Any]] = [{"type": "Adult", "gender": "Female", "age": 34}]
PASSENGERS: list[dict[str, Any]] = [
    {"type": "Adult", "first_name": "Marguerite", "last_name": "Okonkwo"}
]


def done(answer: dict[str, Any]) -> Any:
    """The result of an answer that has one."""
    assert answer["status"] == "done", answer
    return answer["result"]


def error(answer: dict[str, Any], code: str, status: str = "refused") -> dict[str, Any]:
    """The error of an answer that has this one."""
    assert (answer["status"], answer["error"]["code"]) == (status, code), answer
    assert answer["error"]["next_step"]
    return answer["error"]


def query(**changes: Any) -> dict[str, Any]:
    """A search that finds something."""
    return {
        "company": "BALEARIA",
        "depart_code": TARIFA,
        "arrive_code": TANGIER,
        "out_journey_id": journey_id(TARIFA, TANGIER),
        "out_at": DAY.isoformat(),
        "out_time": "08:00",
        "passengers": TRAVELLERS,
        **changes,
    }


def sailings(toolkit: Any, **changes: Any) -> list[dict[str, Any]]:
    """What a search shows."""
    found: list[dict[str, Any]] = done(toolkit.call("availability_search", query(**changes)))[
        "items"
    ]
    return found


def chosen(sailing: dict[str, Any], tariff: int = 0) -> dict[str, str]:
    """One of a sailing's tariffs, in the cheapest place that is listed first."""
    return {
        "availability_id": sailing["id"],
        "tariff_id": sailing["tariffs"][tariff]["id"],
        "place_id": sailing["places"][0]["id"],
    }


def order(*sailing: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """The arguments that book sailings."""
    return {
        "availabilities": [chosen(one) for one in sailing],
        "passengers": PASSENGERS,
        **changes,
    }


def booked(toolkit: Any, which: int = 0) -> Any:
    """A booking made by a toolkit that is always allowed to."""
    return done(toolkit.call("bookings_create", order(sailings(toolkit)[which])))


def runner_of(toolkit: Any) -> Any:
    """Where a toolkit of either kind decides."""
    toolkit = toolkit.toolkit
    return getattr(toolkit, "_target", toolkit)._runner
