"""What the protocol has besides tools: errors by its codes, progress, prompts and completions."""

from functools import partial

import pytest
from mcp import MCPError
from mcp.types import PromptReference

from ferry_sdk.journal import Journal
from tests.agents.agent import TRAVELLERS, result_of
from tests.stdio.host import Person, answer_of

BOOK = {"origin": "Dover", "destination": "Calais", "on": "2050-06-06", "travellers": "two adults"}


def code_of(call):
    """Return the code of the protocol's error that a call raises."""
    with pytest.raises(MCPError) as caught:
        call()
    return caught.value.code


def test_wrong_parameters_are_errors_of_the_protocol(hosts):
    host = hosts()
    client = host.client
    assert code_of(lambda: host.call("pay_everything")) == -32602
    for listing in (
        client.list_tools,
        client.list_resources,
        client.list_resource_templates,
        client.list_prompts,
    ):
        assert code_of(lambda one=listing: host.wait(partial(one, cursor="2"))) == -32602
    for name, arguments in (("book", BOOK), ("book_a_crossing", {"origin": "Dover"})):
        call = partial(client.get_prompt, name, arguments)
        assert code_of(lambda one=call: host.wait(one)) == -32602


def test_a_search_reports_progress_to_a_host_that_asks(hosts):
    host = hosts()
    seen = []

    async def progress(seconds, total, message):
        seen.append((seconds, total, message))

    trip = {"origin": "Dover", "destination": "Calais", "on": "2050-06-06"}
    arguments = {**trip, "passengers": TRAVELLERS}
    search = partial(host.client.call_tool, "trips_find", arguments, progress_callback=progress)
    assert result_of(answer_of(host.wait(search)))["offers"]
    assert seen
    assert [one[0] for one in seen] == sorted({one[0] for one in seen})
    assert {one[1:] for one in seen} == {(40.0, "Asking the ferry companies")}


def test_a_prompt_leads_to_a_booking_where_bookings_are_offered(hosts):
    reader = hosts()
    assert reader.wait(reader.client.list_prompts).prompts == []
    host = hosts(None, "--writes")
    (prompt,) = host.wait(host.client.list_prompts).prompts
    assert [one.name for one in prompt.arguments] == [*BOOK]
    (message,) = host.wait(host.client.get_prompt, prompt.name, BOOK).messages
    assert "from Dover to Calais on 2050-06-06 for: two adults" in message.content.text
    offered = host.tools()
    assert "bookings_create" in message.content.text
    assert "bookings_create" in offered


def test_the_options_for_travellers_and_a_journal(hosts, tmp_path):
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
    trip = {"origin": "Dover", "destination": "Calais", "on": "2050-06-06"}
    offer = result_of(host.call("trips_find", {**trip, **party}))["offers"][0]["offer"]
    booking = result_of(host.call("bookings_create", {"offer": offer, **party}))
    with Journal(journal) as record:
        assert {*record.booking_ids()} == {booking["booking_id"]}


def test_places_are_completed(hosts):
    host = hosts()
    prompt = PromptReference(name="book_a_crossing")

    def complete(name, value):
        asked = {"name": name, "value": value}
        return host.wait(host.client.complete, prompt, asked).completion.values

    assert "Genoa" in complete("origin", "Genua")
    assert any("Tunis" in one for one in complete("destination", "tun"))
    assert complete("on", "2050") == complete("origin", "") == complete("origin", "<b>") == []
