"""A scripted agent: arguments of tools as plain JSON, and results of answers."""

import json
from datetime import timedelta

import httpx

from ferry_sdk import Ferry
from ferry_sdk.agents import Toolkit
from ferry_sdk.sandbox.network.network import journey_id
from tests.support.trip import DAY

TARIFA, TANGIER = "ESTRF", "MATNG"
WRITES = ("bookings.create", "bookings.confirm", "bookings.cancel", "tickets.cancel")
TRAVELLERS = [{"type": "Adult", "gender": "Female", "age": 34}]
TWO = [*TRAVELLERS, {"type": "Adult", "gender": "Male", "age": 36}]
PASSENGERS = [{"type": "Adult", "first_name": "Marguerite", "last_name": "Okonkwo"}]
TWO_NAMES = [*PASSENGERS, {"type": "Adult", "first_name": "Noel", "last_name": "Okonkwo"}]


def approve_all(_):
    return True


def result_of(answer):
    assert answer["status"] == "done", answer
    return answer["result"]


def error(answer, code, status="refused"):
    """Return the error of an answer; assert its code and status."""
    assert (answer["status"], answer["error"]["code"]) == (status, code), answer
    assert answer["error"]["next_step"]
    return answer["error"]


def query(**changes):
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


def sailings(toolkit, **changes):
    return result_of(toolkit.call("availability_search", query(**changes)))["items"]


def round_trip(toolkit):
    """Return a sailing out and one back, whose booking has two tickets."""
    back = {"ret_journey_id": journey_id(TANGIER, TARIFA), "ret_time": "08:00"}
    found = sailings(toolkit, ret_at=str(DAY + timedelta(days=3)), **back)
    return [next(one for one in found if one["direction"] == way) for way in ("Outward", "Return")]


def selection_of(sailing, tariff=0):
    return {
        "availability_id": sailing["id"],
        "tariff_id": sailing["tariffs"][tariff]["id"],
        "place_id": sailing["places"][0]["id"],
    }


def order(*sailing, **changes):
    chosen = [selection_of(one) for one in sailing]
    return {"availabilities": chosen, "passengers": PASSENGERS, **changes}


def book(toolkit, which=0):
    return result_of(toolkit.call("bookings_create", order(sailings(toolkit)[which])))


def pay(toolkit, booking_id):
    return result_of(toolkit.call("bookings_confirm", {"booking_id": booking_id}))


def book_and_pay(toolkit, which=0):
    return pay(toolkit, book(toolkit, which)["booking_id"])


def answer_to(reply, name, *arguments):
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

    def __init__(self, toolkit):
        self._toolkit = toolkit
        self.calls = []
        self.characters = 0

    def call(self, name, **arguments):
        """Return the result of a tool, with a second call if it needs a code."""
        answer = self._toolkit.call(name, arguments)
        self.calls.append(name)
        written = (json.dumps(one, ensure_ascii=False) for one in (arguments, answer))
        self.characters += sum(map(len, written))
        if answer["status"] == "approval_needed":
            code = answer["approval"]["confirmation_code"]
            return self.call(name, **arguments, confirmation_code=code)
        return result_of(answer)

    def book(self):
        trip = {"origin": "Genoa", "destination": "Tunis", "on": "2050-07-12", "flexible": 3}
        found = self.call("trips_find", **trip, passengers=TWO, vehicle="Fiat 500")
        cabin = next(key for key, name in found["places"].items() if "abin" in name)
        return self.call(
            "bookings_create",
            offer=found["offers"][0]["offer"],
            places=[cabin],
            vehicle={**found["vehicle"], "identification": "GE 123 AB"},
            passengers=TWO_NAMES,
        )

    def pay(self, booking):
        total = booking["total_price"]
        return self.call("bookings_confirm", booking_id=booking["booking_id"], expect_total=total)


def runner_of(toolkit):
    """Return the `ToolRunner` of a toolkit of either kind."""
    toolkit = toolkit.toolkit
    return getattr(toolkit, "_target", toolkit)._runner
