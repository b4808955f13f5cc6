"""A scripted agent: arguments of tools as plain JSON, and results of answers."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import httpx

from ferry_sdk import Ferry
from ferry_sdk.agents import Toolkit
from ferry_sdk.sandbox.network.network import journey_id
from tests.support.trip import DAY

TARIFA, TANGIER = "ESTRF", "MATNG"
WRITES = ("bookings.create", "bookings.confirm", "bookings.cancel", "tickets.cancel")
TRAVELLERS: list[dict[str, Any]] = [{"type": "Adult", "gender": "Female", "age": 34}]
PASSENGERS: list[dict[str, Any]] = [
    {"type": "Adult", "first_name": "Marguerite", "last_name": "Okonkwo"}
]


def approve_all(_: object) -> bool:
    """Approve every write."""
    return True


def result_of(answer: dict[str, Any]) -> Any:
    """Return the result of a successful answer."""
    assert answer["status"] == "done", answer
    return answer["result"]


def error(answer: dict[str, Any], code: str, status: str = "refused") -> dict[str, Any]:
    """Return the error of an answer; assert its code and status."""
    assert (answer["status"], answer["error"]["code"]) == (status, code), answer
    assert answer["error"]["next_step"]
    return answer["error"]


def query(**changes: Any) -> dict[str, Any]:
    """Return the arguments of a search that finds sailings."""
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
    """Return the sailings that a search shows."""
    found: list[dict[str, Any]] = result_of(toolkit.call("availability_search", query(**changes)))[
        "items"
    ]
    return found


def round_trip(toolkit: Any) -> list[dict[str, Any]]:
    """Return a sailing out and one back, whose booking has two tickets."""
    found = sailings(
        toolkit,
        ret_journey_id=journey_id(TANGIER, TARIFA),
        ret_at=str(DAY + timedelta(days=3)),
        ret_time="08:00",
    )
    return [next(one for one in found if one["direction"] == way) for way in ("Outward", "Return")]


def selection_of(sailing: dict[str, Any], tariff: int = 0) -> dict[str, str]:
    """Return the selection of a tariff and of the place that is listed first."""
    return {
        "availability_id": sailing["id"],
        "tariff_id": sailing["tariffs"][tariff]["id"],
        "place_id": sailing["places"][0]["id"],
    }


def order(*sailing: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """Return the arguments that book sailings."""
    return {
        "availabilities": [selection_of(one) for one in sailing],
        "passengers": PASSENGERS,
        **changes,
    }


def book(toolkit: Any, which: int = 0) -> Any:
    """Make a booking with a toolkit whose approver agrees."""
    return result_of(toolkit.call("bookings_create", order(sailings(toolkit)[which])))


def pay(toolkit: Any, booking_id: str) -> Any:
    """Confirm a booking with a toolkit whose approver agrees."""
    return result_of(toolkit.call("bookings_confirm", {"booking_id": booking_id}))


def book_and_pay(toolkit: Any, which: int = 0) -> Any:
    """Make a booking, confirm it, and return the confirmation."""
    return pay(toolkit, book(toolkit, which)["booking_id"])


def answer_to(reply: httpx.Response, name: str, *arguments: dict[str, Any]) -> Any:
    """Return the answer of a tool where the service gives every request the same reply."""
    with httpx.Client(transport=httpx.MockTransport(lambda _: reply)) as http_client:
        ferry = Ferry("t", base_url="https://ferry.example", http_client=http_client, max_retries=0)
        return Toolkit(ferry, tools="all").call(name, *arguments)


class ShortWay:
    """An agent that books "two adults and a car, Genoa to Tunis on 12 July, a cabin".

    Attributes:
        calls: The tools that it has called.
        characters: Those of the arguments and the answers.
    """

    def __init__(self, toolkit: Any) -> None:
        self._toolkit = toolkit
        self.calls: list[str] = []
        self.characters = 0

    def call(self, name: str, **arguments: Any) -> Any:
        """Return the result of a tool, with a second call if it needs a code."""
        answer = self._toolkit.call(name, arguments)
        self.calls.append(name)
        self.characters += sum(
            len(json.dumps(one, ensure_ascii=False)) for one in (arguments, answer)
        )
        if answer["status"] == "approval_needed":
            code = answer["approval"]["confirmation_code"]
            return self.call(name, **arguments, confirmation_code=code)
        return result_of(answer)

    def book(self) -> Any:
        """Return a booking of a cabin."""
        ages = ({"gender": "Female", "age": 34}, {"gender": "Male", "age": 36})
        found = self.call(
            "trips_find",
            origin="Genoa",
            destination="Tunis",
            on="2050-07-12",
            flexible=3,
            passengers=[{"type": "Adult", **one} for one in ages],
            vehicle="Fiat 500",
        )
        cabin = next(key for key, name in found["places"].items() if "abin" in name)
        return self.call(
            "bookings_create",
            offer=found["offers"][0]["offer"],
            places=[cabin],
            vehicle={**found["vehicle"], "identification": "GE 123 AB"},
            passengers=[
                *PASSENGERS,
                {"type": "Adult", "first_name": "Noel", "last_name": "Okonkwo"},
            ],
        )

    def pay(self, booking: Any) -> Any:
        """Return the confirmation of a booking at its total price."""
        return self.call(
            "bookings_confirm",
            booking_id=booking["booking_id"],
            expect_total=booking["total_price"],
        )


def runner_of(toolkit: Any) -> Any:
    """Return the `ToolRunner` of a toolkit of either kind."""
    toolkit = toolkit.toolkit
    return getattr(toolkit, "_target", toolkit)._runner
