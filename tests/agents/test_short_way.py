"""From a sentence to a booking in few calls and few tokens; the tests print the figures."""

import json
from datetime import date, timedelta

import pytest

from ferry_sdk import ConfigurationError
from ferry_sdk.agents import Toolkit
from ferry_sdk.agents.tools.tools import JOURNEY, TOOLS
from tests.agents.agent import TWO, ShortWay, approve_all, result_of
from tests.support.tiers import LONG

pytestmark = pytest.mark.usefixtures("known_routes")
DAY = date(2050, 7, 12)
MOST_CALLS = 6
MOST_TOKENS_OF_TOOLS = 2_600
MOST_TOKENS_WITH_OUTPUT_SCHEMAS = 6_000
MOST_TOKENS_OF_20_OFFERS = 1_000
MOST_COUNTED_TOKENS = {"without output schemas": 2_300, "with output schemas": 5_000}
"""What a tokenizer may count for the tools that need no journal."""


def tokens(value):
    """Return the tokens of a value as JSON, at four characters each."""
    return -(-len(json.dumps(value, ensure_ascii=False)) // 4)


def test_a_sentence_becomes_a_booking_in_few_calls(ferry, record_property):
    agent = ShortWay(Toolkit(ferry, writes=True))
    booking = agent.book()
    record_property("calls of the short way to a booking, with a code", len(agent.calls))
    assert len(agent.calls) <= MOST_CALLS
    agent.pay(booking)
    record_property("calls of the short way until it is paid", len(agent.calls))
    record_property("tokens of their arguments and answers", agent.characters // 4)
    assert len(agent.calls) <= MOST_CALLS


def test_an_approver_makes_it_three_calls(toolkit_of):
    agent = ShortWay(toolkit_of({"deadline": 30}, writes=True, approve=approve_all))
    assert agent.pay(agent.book())["status"] == "confirmed"
    assert agent.calls == ["trips_find", "bookings_create", "bookings_confirm"]


def test_the_tool_list_is_short(ferry, journal, record_property):
    ferry = ferry.with_options(journal=journal)
    toolkit = Toolkit(ferry, writes=True)
    assert [one.name for one in toolkit.definitions()] == [*JOURNEY]
    size = tokens(toolkit.anthropic())
    with_results = size + sum(tokens(one.output_schema) for one in toolkit.definitions())
    everything = tokens(Toolkit(ferry, tools="all", writes=True).anthropic())
    record_property("tokens of the tool list", size)
    record_property("tokens of the tool list with output schemas", with_results)
    record_property("tokens of the list of all tools", everything)
    assert size <= MOST_TOKENS_OF_TOOLS
    assert with_results <= MOST_TOKENS_WITH_OUTPUT_SCHEMAS


@pytest.mark.parametrize("schemas", MOST_COUNTED_TOKENS)
def test_a_tokenizer_counts_few_tokens(ferry, record_property, schemas):
    bpe_openai = pytest.importorskip("bpe_openai", reason="bpe-openai is not installed")
    toolkit = Toolkit(ferry, writes=True)
    tools = toolkit.anthropic()
    if schemas == "with output schemas":
        for tool, one in zip(tools, toolkit.definitions(), strict=True):
            tool["output_schema"] = one.output_schema

    # Compact, as the MCP server sends them.
    text = json.dumps(tools, ensure_ascii=False, separators=(",", ":"))
    size = len(bpe_openai.get_encoding("o200k_base").encode(text))
    record_property(f"o200k_base tokens of {len(tools)} tools {schemas}", size)
    assert size <= MOST_COUNTED_TOKENS[schemas]


def test_texts_name_no_tool_that_is_not_offered(ferry):
    offered = Toolkit(ferry, writes=True).definitions()
    text = json.dumps([(one.description, one.input_schema, one.output_schema) for one in offered])
    assert [name for name in TOOLS.keys() - {one.name for one in offered} if name in text] == []


@pytest.mark.parametrize("kind", [list, set])
def test_tools_are_offered_by_name(ferry, kind):
    toolkit = Toolkit(ferry, tools=kind(["catalogue_ports", "bookings_get"]))
    assert [tool.name for tool in toolkit.definitions()] == ["bookings_get", "catalogue_ports"]
    assert toolkit.call("places_find", {"text": "Dover"})["error"]["code"] == "unknown_tool"


def test_all_tools_are_those_without_a_journal(ferry):
    offered = Toolkit(ferry, tools="all", writes=True).definitions()
    assert {tool.name for tool in offered} == {
        name for name, tool in TOOLS.items() if not tool.needs_journal
    }


def test_a_write_of_a_reading_toolkit_is_refused(ferry):
    assert Toolkit(ferry).call("bookings_create")["error"]["code"] == "writes_disabled"


@pytest.mark.parametrize(
    ("tools", "wrong"),
    [("jurney", "jurney"), (["trips_find", "trips_fnd"], "trips_fnd")],
    ids=["choice", "tool"],
)
def test_an_unknown_choice_is_named(ferry, tools, wrong):
    with pytest.raises(ConfigurationError, match=wrong):
        Toolkit(ferry, tools=tools)


@pytest.mark.parametrize(
    ("tools", "has_selections"), [("journey", False), ("all", True)], ids=["journey", "all"]
)
def test_selections_are_offered_with_their_search(ferry, tools, has_selections):
    offered = Toolkit(ferry, tools=tools, writes=True).definitions()
    (schema,) = [tool.input_schema for tool in offered if tool.name == "bookings_create"]
    assert ("availabilities" in schema["properties"]) is has_selections
    assert ("offer" in schema["required"]) is not has_selections


WEEK_LATER = str(DAY + timedelta(7))


@pytest.mark.parametrize(
    ("origin", "destination", "back"),
    [
        pytest.param("Dover", "Calais", WEEK_LATER, id="many sailings both ways"),
        pytest.param("Dover", "Calais", None, id="many sailings", marks=LONG),
        pytest.param("Piraeus", "Heraklion", WEEK_LATER, id="few sailings both ways", marks=LONG),
        pytest.param("Piraeus", "Heraklion", None, id="few sailings", marks=LONG),
    ],
)
def test_a_result_of_twenty_offers_is_short(ferry, record_property, origin, destination, back):
    trip = {"origin": origin, "destination": destination, "on": str(DAY), "back": back}
    answer = Toolkit(ferry).call("trips_find", {**trip, "passengers": TWO, "limit": 20})
    shown = len(result_of(answer)["offers"])
    way = f"{origin} to {destination}{' and back' if back else ''}"
    record_property(f"tokens of {shown} offers from {way}", tokens(answer))
    assert tokens(answer) <= MOST_TOKENS_OF_20_OFFERS
