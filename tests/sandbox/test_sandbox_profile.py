"""Profiles: what they change at the start, and that the client copes with all values.

That each value changes what it is about and nothing else is seen by `tests/conformance`.
"""

import json
from typing import get_args

import httpx
import pytest

from ferry_sdk.planning.catalogues import clear_cache
from ferry_sdk.sandbox import InvalidOrderError, McpOptions, Profile, Sandbox
from tests.support.exchanges import caught
from tests.support.tiers import mostly_long
from tests.support.trip import DAY, NOW, PASSENGERS, TRAVELLERS
from tests.support.wire import TLS

VALUES = {name: get_args(field.annotation) for name, field in Profile.model_fields.items()}
OTHERS = [(name, value) for name, values in VALUES.items() for value in values[1:]]


def test_default_profile_has_the_first_values():
    assert Profile().model_dump() == {name: values[0] for name, values in VALUES.items()}


@pytest.mark.parametrize(("value", "has_date"), [("present", True), ("absent", False)])
def test_profile_decides_about_the_date(value, has_date):
    with Sandbox(profile=Profile(date_header=value)) as sandbox:
        reply = httpx.get(f"{sandbox.base_url}/health", verify=TLS)
    assert ("date" in reply.headers) == has_date


@pytest.mark.parametrize(("name", "value"), [row for row in OTHERS if row[0].startswith("mcp_")])
def test_profile_has_initial_options_of_mcp(name, value):
    sandbox = Sandbox(profile=Profile(**{name: value}), mcp=McpOptions(reply="sse"))
    options = {name.removeprefix("mcp_"): value}
    assert sandbox.mcp.current == McpOptions(reply="sse", **options)


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
    selected = {"availabilities": trip.select(trip.fares[0]), "passengers": PASSENGERS}

    created = ferry.bookings.create(**selected)
    confirmed = ferry.bookings.confirm(created.booking_id, expect_total=created.total_price)
    assert ferry.bookings.get(created.booking_id).stage == "ticketed"
    assert ferry.tickets.save_pdf(confirmed.ticket_id, folder / "voucher.pdf").exists()
    assert ferry.bookings.cancel(created.booking_id, max_penalty=1000).refund_amount is not None

    created = ferry.mcp.create_booking(**selected)
    confirmed = ferry.mcp.confirm_booking(created.booking_id)
    ticket = ferry.mcp.view_ticket(confirmed.ticket_id)
    assert ticket.ticket_number == confirmed.ticket_number
    assert ferry.mcp.cancel_ticket(ticket.id).ticket_id == ticket.id


@pytest.mark.parametrize("number", mostly_long(range(1, max(map(len, VALUES.values())))))
def test_client_travels_if_every_assumption_fails(mostly_sync_clients, tmp_path, number):
    others = {name: values[1:][:number][-1] for name, values in VALUES.items()}
    if others["mcp_result"] == "naked":  # not JSON-RPC, which the interface requires
        others["mcp_result"] = "text"
    profile = Profile(**others)
    with Sandbox(now=NOW, profile=profile) as sandbox:
        travel(mostly_sync_clients(sandbox.token, base_url=sandbox.base_url), tmp_path)


# The file


def test_profile_of_a_file_survives_a_reset(tmp_path):
    file = tmp_path / "profile.json"
    values = {"currency": "upper_case", "mcp_result": "text"}
    file.write_text(json.dumps({**values, "not_reproduced": {"amount": "per_cabin"}}))
    sandbox = Sandbox(profile=file)
    sandbox.reset()
    assert sandbox.profile == Profile(**values)
    assert sandbox.mcp.current.result == "text"


@pytest.mark.parametrize(
    ("content", "field"),
    [
        ('{"colour": "per_cabin"}', "colour"),
        ('{"amount": "per_cabin"}', "amount"),
        ("[]", "profile"),
        ("{", "profile"),
    ],
)
def test_invalid_file_names_its_field(tmp_path, content, field):
    file = tmp_path / "profile.json"
    file.write_text(content)
    assert caught(InvalidOrderError, Sandbox, profile=file).field == field
