"""Profiles: each value changes what it is about and nothing else, and the client copes with all."""

import json
from datetime import timedelta
from typing import get_args

import httpx
import pytest
from offline_service import ADULT, BY_EMAIL, GUEST, OfflineService, search_request, selection

from ferry_sdk.planning.catalogues import clear_cache
from ferry_sdk.sandbox import InvalidOrderError, McpOptions, Profile, Sandbox
from tests.support.exchanges import caught
from tests.support.tables import each
from tests.support.tiers import mostly_long
from tests.support.trip import DAY, NOW, PASSENGERS, TRAVELLERS
from tests.support.wire import TLS

VALUES = {name: get_args(field.annotation) for name, field in Profile.model_fields.items()}
OTHERS = [(name, value) for name, values in VALUES.items() for value in values[1:]]
OF_HTTP = ("date_header", "mcp_result", "mcp_error", "mcp_resource", "mcp_session")
USUAL = {name: values[0] for name, values in VALUES.items() if name not in OF_HTTP}
STATUSES = {404: "not_found", 422: "unprocessable", 400: "bad_request", 200: "error_with_200"}
UNKNOWN = "4b6c0a0e-0d0a-4b57-9d0e-0d3c4f1c7d11"


class Reader(OfflineService):
    """Reads the value of every id from the answers of a service."""

    def find(self, line=BY_EMAIL, people=1, **changes):
        day = self.today() + timedelta(days=60)
        request = search_request(line, day, day + timedelta(days=7)) | changes
        party = [{**ADULT, "order": number + 1} for number in range(people)]
        return self.perform("availability.search", request=request, passengers=party)

    def sailings(self, **changes):
        found = self.find(**changes)
        return found["availabilities"] if isinstance(found, dict) else found

    def status(self, operation, **arguments):
        error = self.attempt(operation, arguments)
        return 200 if error is None else error.status

    def values(self):
        return {**self.of_searches(), **self.of_catalogues(), **self.of_bookings()}

    def of_searches(self):
        first, second, *_ = found = self.sailings()
        (tariff, *_), pair = first["tariffs"], self.sailings(people=2)[0]["tariffs"][0]
        late = self.sailings(out_time=second["depart_at"][11:16])
        request = search_request(("SANDBOX", "XXSBX", "XXNIL"), self.today() + timedelta(days=60))
        empty = {"request": request, "passengers": [ADULT]}
        nothing = self.attempt("availability.search", empty)
        return {
            "no_sailings": "not_found" if nothing else "empty_list",
            "amount": "whole_party" if pair["amount"] > 1.2 * tariff["amount"] else "per_person",
            "balance": "as_amount" if tariff["balance_amount"] == tariff["amount"] else "zero",
            "currency": "upper_case" if tariff["currency"].isupper() else "capitalized",
            "search_list": "list" if isinstance(self.find(), list) else "in_object",
            "out_time": "ignored" if late[0]["depart_at"] == first["depart_at"] else "earliest",
            "return_search": "both_directions" if found[-1]["group_id"] == 2 else "outward_only",
        }

    def of_catalogues(self):
        places, *_ = self.perform("mcp.ports")
        port, *_ = self.perform("catalogue.ports")["ports"]
        journey, *_ = self.perform("catalogue.journeys")["journeys"]
        every = {"provider_id": "CTN", "__journey_id": []}
        departures = self.perform("catalogue.departures", every)["departures"]
        return {
            "unknown_id": STATUSES[self.status("bookings.get", id=UNKNOWN)],
            "invalid_request": STATUSES[self.status("catalogue.departures", provider_id="no")],
            "port_country": "code" if port["country"] == places["country_code"] else "name",
            "port_position": "lat_lng" if {"lat", "lng"} <= set(places) else "latitude_longitude",
            "journey_route": "codes" if journey["depart_code"] in journey["route"] else "names",
            "no_journeys": "all" if departures else "none",
        }

    def make(self, place):
        first = self.sailings()[0]
        name = first["tariffs"][0]["id"].rpartition(".")[2]
        chosen = selection(first, name, place)
        return self.perform("bookings.create", availabilities=[chosen], passengers=[GUEST])

    def of_bookings(self):
        other, made = self.make(place=0), self.make(place=-1)
        read = self.booking(made)
        confirmed = self.confirm(made)
        self.clock.advance(10)  # until it is issued
        fee = self.fee(confirmed["ticket_id"])
        ticket = self.perform("tickets.get", id=confirmed["ticket_id"])
        cancelled = self.cancel(other)
        moments = {
            len(read["expire_at"]),
            len(made["possible_actions"]["Cancel"]["timeLimit"]),
            len(ticket["availability"]["outward"]["journey"]["depart_at"]),
        }
        boarding, code = ticket.get("boarding_time", ""), ticket.get("qr_code", "")
        pdf = self.status("tickets.pdf", id=confirmed["ticket_id"])
        return {
            "times": {25: "with_offset", 19: "without_offset"}[moments.pop()] + "!" * len(moments),
            "qr_code": "data_uri" if code[:5] == "data:" else "base64" if code else "absent",
            "boarding_time": {0: "absent", 5: "clock_time"}.get(len(boarding), "moment"),
            "traveller_details": "null" if "doc_type" in ticket["passengers"][0] else "absent",
            "voucher": "not_found" if pdf == 404 else "null",
            "preview": "sum" if fee["penalty_amount"] else "refund_only",
            "place_price": "added" if made["total_price"] > other["total_price"] else "included",
            "created_status": made["status"].lower(),
            "created_stage": made["stage"],
            "cancelled_status": cancelled["status"],
        }


@each(("name", "value"), [each for each in OTHERS if each[0] not in OF_HTTP])
def test_a_value_changes_what_it_is_about_and_nothing_else(name, value):
    assert Reader(Profile(**{name: value})).values() == {**USUAL, name: value}


def test_a_service_without_a_profile_has_the_first_value_of_each_id():
    assert Profile().model_dump() == {name: values[0] for name, values in VALUES.items()}
    assert Reader().values() == USUAL


def test_a_profile_decides_about_the_date_and_the_initial_options_of_mcp():
    for value in VALUES["date_header"]:
        with Sandbox(profile=Profile(date_header=value)) as sandbox:
            reply = httpx.get(f"{sandbox.base_url}/health", verify=TLS)
        assert ("date" in reply.headers) == (value == "present")
    for name, value in OTHERS:
        if name.startswith("mcp_"):
            sandbox = Sandbox(profile=Profile(**{name: value}), mcp=McpOptions(reply="sse"))
            changed = {name.removeprefix("mcp_"): value}
            assert sandbox.mcp.current == McpOptions(reply="sse", **changed)


# The client


def travel(ferry, folder):
    """Make a whole journey over REST, and one over MCP."""
    clear_cache()
    (route,) = ferry.routes.find("Tarifa", "MATNG")
    assert ferry.places.get("Tarifa").country_code == "ES"
    assert ferry.mcp.ports()[0].latitude
    (trip, *_) = ferry.trips.search(
        "Tarifa", "Tanger-Ville", on=DAY, passengers=TRAVELLERS, companies=["BALEARIA"]
    )
    assert trip.outward.journey_id == route.journey_id
    chosen = {"availabilities": trip.select(trip.fares[0]), "passengers": PASSENGERS}
    created = ferry.bookings.create(**chosen)
    confirmed = ferry.bookings.confirm(created.booking_id, expect_total=created.total_price)
    assert ferry.bookings.get(created.booking_id).stage == "ticketed"
    assert ferry.tickets.save_pdf(confirmed.ticket_id, folder / "voucher.pdf").exists()
    assert ferry.bookings.cancel(created.booking_id, max_penalty=1000).refund_amount is not None
    created = ferry.mcp.create_booking(**chosen)
    confirmed = ferry.mcp.confirm_booking(created.booking_id)
    ticket = ferry.mcp.view_ticket(confirmed.ticket_id)
    assert ticket.ticket_number == confirmed.ticket_number
    assert ferry.mcp.cancel_ticket(ticket.id).ticket_id == ticket.id


@pytest.mark.parametrize("number", mostly_long(range(1, max(map(len, VALUES.values())))))
def test_a_client_makes_the_whole_journey_if_every_assumption_fails(
    mostly_sync_clients, tmp_path, number
):
    others = {name: values[1:][:number][-1] for name, values in VALUES.items()}
    if others["mcp_result"] == "naked":  # not JSON-RPC, which the interface requires
        others["mcp_result"] = "text"
    profile = Profile(**others)
    with Sandbox(now=NOW, profile=profile) as sandbox:
        travel(mostly_sync_clients(sandbox.token, base_url=sandbox.base_url), tmp_path)


# The file


def test_a_profile_is_read_from_a_file_and_survives_a_reset(tmp_path):
    file = tmp_path / "profile.json"
    values = {"currency": "upper_case", "mcp_result": "text"}
    file.write_text(json.dumps({**values, "not_reproduced": {"amount": "per_cabin"}}))
    sandbox = Sandbox(profile=file)
    sandbox.reset()
    assert sandbox.profile == Profile(**values)
    assert sandbox.mcp.current.result == "text"


@each(
    ("content", "field"),
    [
        *((f'{{"{name}": "per_cabin"}}', name) for name in ("colour", "amount")),
        *((text, "profile") for text in ("[]", "{")),
    ],
)
def test_an_invalid_file_is_refused_by_the_name_of_the_field(tmp_path, content, field):
    file = tmp_path / "profile.json"
    file.write_text(content)
    assert caught(InvalidOrderError, Sandbox, profile=file).field == field
