"""What agents are told: schemas that hold, short enough to be carried in every conversation."""

from __future__ import annotations

import inspect
import json
import re
import subprocess
import sys

import pytest
from jsonschema import Draft202012Validator

from ferry_sdk import Ferry
from ferry_sdk.agents import Toolkit
from ferry_sdk.agents.tools.schemas import parse_docstring
from ferry_sdk.agents.tools.tools import EXCLUDED, TOOLS
from ferry_sdk.resources.availability import AvailabilityGroup
from ferry_sdk.resources.bookings import BookingsGroup
from ferry_sdk.resources.catalogue import CatalogueGroup
from ferry_sdk.resources.mcp import McpGroup
from ferry_sdk.resources.tickets import TicketsGroup
from ferry_sdk.safety import SAFETY

GROUPS = {
    "availability": AvailabilityGroup,
    "bookings": BookingsGroup,
    "catalogue": CatalogueGroup,
    "mcp": McpGroup,
    "tickets": TicketsGroup,
}
BOTH = [
    pytest.param(tool.definition(approval=approval), id=f"{name}-{approval}")
    for name, tool in TOOLS.items()
    for approval in (False, True)
]
NO_DOCSTRINGS = """
import json
from ferry_sdk.agents.tools.tools import TOOLS
assert not __debug__ and json.__doc__ is None
for tool in TOOLS.values():
    definition = tool.definition(approval=True)
    assert definition.title
    for described in definition.input_schema["properties"].values():
        assert described["description"]
TOOLS["bookings_get"].read({"booking_id": "b1"})
"""
LIGHT = "import sys, ferry_sdk; assert not any('agents' in name for name in sys.modules)"


def schemas_in(schema):
    """The schema and all inside it; what only looks like one, as a field's name, is none."""
    yield schema
    for name, part in schema.items():
        if name == "properties":
            for one in part.values():
                yield from schemas_in(one)
        elif name in {"items", "additionalProperties"} and isinstance(part, dict):
            yield from schemas_in(part)
        elif name in {"anyOf", "oneOf"}:
            for one in part:
                yield from schemas_in(one)


def described(schema):
    return {
        name: one for part in schemas_in(schema) for name, one in part.get("properties", {}).items()
    }


@pytest.mark.parametrize("definition", BOTH)
def test_both_schemas_are_json_schema_of_objects(definition):
    for schema in (definition.input_schema, definition.output_schema):
        Draft202012Validator.check_schema(schema)
        assert schema["type"] == "object"


@pytest.mark.parametrize("definition", BOTH)
def test_every_argument_is_described_and_no_other_is_taken(definition):
    for schema in schemas_in(definition.input_schema):
        assert schema.get("additionalProperties") is False or schema["type"] != "object"
        for name, one in schema.get("properties", {}).items():
            assert one.get("description", "").endswith("."), name


@pytest.mark.parametrize("definition", BOTH)
def test_a_schema_says_nothing_twice_and_nothing_of_null(definition):
    for schema in schemas_in(definition.input_schema):
        assert schema.keys().isdisjoint({"title", "anyOf", "$ref", "$defs", "allOf"})
        assert schema.get("default", "") is not None
        assert "null" not in schema["type"]


@pytest.mark.parametrize("definition", BOTH)
def test_a_type_is_one_word_and_no_list(definition):
    """Google's genai, AutoGen and DSPy crash on a list of types among the arguments."""
    for schema in schemas_in(definition.input_schema):
        assert isinstance(schema["type"], str)


@pytest.mark.parametrize("definition", BOTH)
def test_a_name_is_one_that_every_client_takes(definition):
    assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", definition.name)
    assert definition.title
    assert "\n" not in definition.title
    assert definition.description.startswith(definition.title)
    assert "Interface:" not in definition.description
    assert "``" not in json.dumps(definition.input_schema) + definition.description


def test_definitions_take_little_of_a_conversation():
    with Ferry("token", base_url="https://ferry.test") as ferry:
        tools = Toolkit(ferry, writes=True).anthropic()
    assert len(json.dumps(tools, ensure_ascii=False)) < 18_000


def test_hints_are_those_of_the_safety_table():
    told = {name: tool.definition(approval=True) for name, tool in TOOLS.items()}
    writes = {"bookings_create", "bookings_confirm", "bookings_cancel", "tickets_cancel"}
    assert {name for name, one in told.items() if not one.read_only} == writes
    assert {name for name, one in told.items() if one.destructive} == writes - {"bookings_create"}
    assert {name for name, one in told.items() if not one.idempotent} == writes


def test_an_approval_by_code_is_an_argument_of_writes_alone():
    for tool in TOOLS.values():
        for approval in (False, True):
            definition = tool.definition(approval=approval)
            asked = "confirmation_code" in definition.input_schema["properties"]
            told = "confirmation_code" in definition.description
            answered = "approval" in definition.output_schema["properties"]
            assert asked == told == answered == (approval and not tool.safety.is_read)
            assert "confirmation_code" not in definition.input_schema.get("required", [])


def test_a_definition_is_its_owners_to_change():
    tool = TOOLS["bookings_get"]
    tool.definition(approval=True).input_schema["properties"].clear()
    for schema in tool.definition(approval=True).output_schema["properties"].values():
        schema.get("properties", schema).clear()
    again = tool.definition(approval=True)
    assert "booking_id" in again.input_schema["properties"]
    assert "anyOf" in again.output_schema["properties"]["result"]
    assert "code" in again.output_schema["properties"]["error"]["properties"]


def test_every_operation_is_a_tool_or_left_out_for_a_reason():
    chosen = {tool.operation for tool in TOOLS.values()}
    written = {
        f"{group}.{name}"
        for group, of in GROUPS.items()
        for name, _ in inspect.getmembers(of, inspect.isfunction)
        if not name.startswith("_")
    }
    assert chosen.isdisjoint(EXCLUDED)
    assert chosen | EXCLUDED.keys() == written == SAFETY.keys()
    assert all(EXCLUDED.values())


def test_words_come_from_the_docstring_and_tools_have_their_own_names():
    definition = TOOLS["bookings_confirm"].definition(approval=False)
    assert definition.title == "Confirm a booking, which pays it and issues its tickets"
    described_ = definition.input_schema["properties"]["expect_total"]["description"]
    assert described_.startswith("The expected total in the booking's currency.")
    result = definition.output_schema["properties"]["result"]
    assert "`bookings_get` lists all" in json.dumps(result)


def test_an_argument_without_words_borrows_those_of_another_tool():
    assert "booking_id" not in parse_docstring(BookingsGroup.get).fields
    told = TOOLS["bookings_get"].definition(approval=False).input_schema
    assert told["properties"]["booking_id"]["description"] == "The booking."


def test_a_docstring_is_read_section_by_section():
    def example():
        """Do it: at once. And well.

        Over ``two``
        lines. Interface: POST /api/x.

        Args:
            first: What comes first,
                and goes on.
            second: `bookings.get` too.

        Returns:
            third: Nothing of an argument.
        """

    words = parse_docstring(example)
    assert words.summary == "Do it: at once"
    assert words.details == "And well. Over `two` lines."
    assert words.fields == {
        "first": "What comes first, and goes on.",
        "second": "`bookings_get` too.",
    }


def test_each_format_has_the_same_schema():
    with Ferry("token", base_url="https://ferry.test") as ferry:
        toolkit = Toolkit(ferry)
        formats = toolkit.openai(), toolkit.openai("chat"), toolkit.anthropic()
    for definition, *tool in zip(toolkit.definitions(), *formats, strict=True):
        responses, chat, messages = tool
        assert responses == {"type": "function", **chat["function"]}
        assert responses["parameters"] == messages["input_schema"] == definition.input_schema


@pytest.mark.parametrize("code", ["-OO", "-I"], ids=["without docstrings", "light"])
def test_it_works_without_docstrings_and_loads_only_when_asked(code):
    program = NO_DOCSTRINGS if code == "-OO" else LIGHT
    subprocess.run([sys.executable, code, "-c", program], check=True, timeout=60)
