"""A definition can be called: with it, any framework offers a tool in a few lines."""

import json
from inspect import iscoroutinefunction

import pytest

from tests.agents.agent import PASSENGERS, TRAVELLERS, approve_all, error, result_of

TRIP = {"origin": "Tarifa", "destination": "MATNG", "on": "2050-06-06", "passengers": TRAVELLERS}


class Framework:
    """A framework that knows only the names, descriptions, schemas and functions of tools."""

    def __init__(self, toolkit, portal):
        self._tools = {one.name: one for one in toolkit.definitions()}
        self._strict = {one["name"]: one["parameters"] for one in toolkit.openai(strict=True)}
        self._portal = portal

    def run(self, name, arguments):
        tool = self._tools[name]
        assert tool.description
        if iscoroutinefunction(tool.call):
            return self._portal.call(tool.call, arguments)
        return tool.call(arguments)

    def run_strictly(self, name, **arguments):
        """Send every argument, and null for those that the model leaves out."""
        return self.run(name, json.dumps(filled(self._strict[name], arguments)))


def filled(schema, value):
    """Return arguments with null for each one that is missing."""
    options = [one for one in schema.get("anyOf", [schema]) if one != {"type": "null"}]
    (schema,) = options
    if isinstance(value, list):
        return [filled(schema["items"], one) for one in value]
    if isinstance(value, dict):
        assert value.keys() <= schema["properties"].keys()
        return {
            name: filled(part, value[name]) if name in value else None
            for name, part in schema["properties"].items()
        }
    return value


@pytest.fixture
def framework_of(known_routes, toolkit_of, asyncio_portal):
    """Create frameworks over toolkits that may write; the test runs with each kind."""
    return lambda **settings: Framework(
        toolkit_of({"deadline": 30}, writes=True, **settings), asyncio_portal
    )


def test_a_definition_takes_a_mapping_or_json(framework_of):
    framework = framework_of(approve=approve_all)
    offers = result_of(framework.run("trips_find", TRIP))["offers"]
    wanted = {"offer": offers[0]["offer"], "passengers": PASSENGERS}
    booking = result_of(framework.run("bookings_create", json.dumps(wanted)))
    error(framework.run("bookings_create", wanted), "already_done")
    named = {"booking_id": booking["booking_id"]}
    assert result_of(framework.run("bookings_confirm", named))["status"] == "confirmed"


def test_a_model_in_strict_mode_books_with_codes(framework_of):
    records = []
    framework = framework_of(audit=records.append)
    offers = result_of(framework.run_strictly("trips_find", **TRIP))["offers"]
    wanted = {"offer": offers[0]["offer"], "passengers": PASSENGERS}
    code = framework.run_strictly("bookings_create", **wanted)["approval"]["confirmation_code"]
    booking = result_of(framework.run_strictly("bookings_create", **wanted, confirmation_code=code))
    statuses = [(one.status, one.approval) for one in records if one.approval]
    assert statuses == [("approval_needed", "code"), ("done", "code")]
    read = framework.run_strictly("bookings_get", booking_id=booking["booking_id"])
    assert result_of(read)["stage"] == "payment_due"
