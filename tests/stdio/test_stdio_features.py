"""What the protocol has besides tools: resources, errors, progress, prompts and completions."""

import json
from functools import partial

import pytest
from mcp import MCPError
from mcp.types import PromptReference

from ferry_sdk.journal import Journal
from tests.agents.agent import TRAVELLERS, result_of, sailings
from tests.stdio.conftest import Person, answer_of
from tests.support.tiers import LONG
from tests.support.trip import booked

TRIP = {"origin": "Dover", "destination": "Calais", "on": "2050-06-06"}
BOOK = {**TRIP, "travellers": "two adults"}


def error_of(host, method, *arguments, **more):
    with pytest.raises(MCPError) as caught:
        host.wait(partial(getattr(host.client, method), *arguments, **more))
    return caught.value


def test_wrong_parameters_are_errors(hosts):
    host = hosts()
    lists = ["list_tools", "list_resources", "list_resource_templates", "list_prompts"]
    errors = [error_of(host, method, cursor="2") for method in lists]
    errors += [
        error_of(host, "call_tool", "pay_everything", {}),
        error_of(host, "get_prompt", "book", BOOK),
        error_of(host, "get_prompt", "book_a_crossing", {"origin": "Dover"}),
    ]
    assert [error.code for error in errors] == [-32602] * 7


def test_a_search_reports_progress_if_asked(hosts):
    host = hosts()
    reports = []

    async def progress(*report):
        reports.append(report)

    arguments = {**TRIP, "passengers": TRAVELLERS}
    search = partial(host.client.call_tool, "trips_find", arguments, progress_callback=progress)
    assert result_of(answer_of(host.wait(search)))["offers"]
    assert reports
    seconds = [report[0] for report in reports]
    assert seconds == sorted(set(seconds))
    assert {report[1:] for report in reports} == {(40.0, "Asking the ferry companies")}


def test_a_wait_for_tickets_reports_progress(hosts, ferry):
    host = hosts()
    booking = booked(ferry)
    reports = []

    async def progress(*report):
        reports.append(report)

    arguments = {"booking_id": booking.booking_id, "wait": 3}
    call = partial(host.client.call_tool, "bookings_get", arguments, progress_callback=progress)
    assert "are over" in answer_of(host.wait(call))["notes"][0]
    assert {report[1:] for report in reports} == {(3.0, "Waiting for the tickets")}


def test_a_prompt_leads_to_a_booking(hosts):
    host = hosts(None, "--writes")
    (prompt,) = host.wait(host.client.list_prompts).prompts
    assert [argument.name for argument in prompt.arguments] == [*BOOK]
    (message,) = host.wait(host.client.get_prompt, prompt.name, BOOK).messages
    assert "from Dover to Calais on 2050-06-06 for: two adults" in message.content.text
    assert "bookings_create" in message.content.text
    assert "bookings_create" in host.tools()


def test_a_reader_has_no_prompt(hosts):
    reader = hosts()
    assert reader.wait(reader.client.list_prompts).prompts == []


def test_a_reader_completes_places(hosts):
    reader = hosts()

    def complete(name, value):
        asked = PromptReference(name="book_a_crossing"), {"name": name, "value": value}
        return reader.wait(reader.client.complete, *asked).completion.values

    assert "Genoa" in complete("origin", "Genua")
    assert any("Tunis" in port for port in complete("destination", "tun"))
    assert complete("on", "2050") == []
    assert complete("origin", "") == []
    assert complete("origin", "<b>") == []


@pytest.mark.slow
def test_travellers_of_a_file_are_booked(hosts, tmp_path):
    file = tmp_path / "travellers.csv"
    file.write_text("first_name,last_name,gender,age\nAda,Reyes,Female,34\n", "utf-8")
    journal = f"sqlite:///{tmp_path / 'journal.db'}"
    options = ("--tools", "journey", "--writes", "--travellers", str(file), "--journal", journal)
    host = hosts(Person(), *options)
    offered = host.tools()
    assert "bookings_change" in offered
    assert "passengers" not in str(offered)
    party = {"travellers": result_of(host.call("travellers_list"))["travellers"]}
    assert party == {"travellers": ["t1"]}
    offer = result_of(host.call("trips_find", {**TRIP, **party}))["offers"][0]["offer"]
    booking = result_of(host.call("bookings_create", {"offer": offer, **party}))
    with Journal(journal) as record:
        assert {*record.booking_ids()} == {booking["booking_id"]}


def read(host, uri):
    (content,) = host.wait(host.client.read_resource, uri).contents
    assert (str(content.uri), content.mime_type) == (uri, "application/json")
    return json.loads(content.text)


@LONG
def test_every_listed_catalogue_can_be_read(hosts):
    host = hosts()
    ports = read(host, "ferry://ports")
    assert "FRMRS" in [port["code"] for port in ports["items"]]
    assert ports == result_of(host.call("catalogue_ports"))
    listed = host.wait(host.client.list_resources).resources
    names = ["ports", "journeys", "companies", "vehicle-brands", "vehicle-types"]
    assert [str(resource.uri) for resource in listed] == [f"ferry://{name}" for name in names]
    for resource in listed:
        assert resource.title
        assert resource.annotations.audience == ["assistant"]
        catalogue = read(host, str(resource.uri))
        assert catalogue["count"] == len(catalogue["items"]) > 5


@LONG
def test_the_departures_of_a_provider_can_be_read(hosts):
    host = hosts()
    (template,) = host.wait(host.client.list_resource_templates).resource_templates
    assert template.uri_template == "ferry://departures/{provider_id}"
    provider = sailings(host)[0]["provider"]["id"]
    departures = read(host, f"ferry://departures/{provider}")
    assert departures["items"][0]["departure_times"]
    encoded = provider.replace("-", "%2D")
    assert encoded != provider
    assert read(host, f"ferry://departures/{encoded}") == departures


@LONG
@pytest.mark.parametrize("uri", ["ferry://tides", "ferry://", "file:///etc/passwd"])
def test_an_unknown_resource_is_an_error(hosts, uri):
    unknown = error_of(hosts(), "read_resource", uri)
    assert (unknown.code, unknown.data) == (-32602, {"uri": uri})


@LONG
@pytest.mark.parametrize("provider", ["", "..%2Ftickets", "none"], ids=["none", "path", "name"])
def test_an_unknown_provider_is_an_error(hosts, provider):
    unknown = error_of(hosts(), "read_resource", f"ferry://departures/{provider}")
    assert unknown.code == -32602
    assert unknown.data["outcome"] in {"not_sent", "rejected"}


@LONG
def test_an_unreadable_resource_is_an_error(hosts, ferry_sandbox):
    host = hosts()
    ferry_sandbox.faults.add("server_error", "catalogue.ports", times=None)
    unreadable = error_of(host, "read_resource", "ferry://ports")
    assert unreadable.code == -32603
    assert unreadable.data["next_step"]
