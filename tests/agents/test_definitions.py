"""Definitions of tools: valid schemas that are short enough for every conversation."""

import inspect
import json
import re
import subprocess
import sys

from jsonschema import Draft202012Validator

from ferry_sdk import Ferry
from ferry_sdk._engine.safety import SAFETY
from ferry_sdk.agents import Toolkit
from ferry_sdk.agents.tools.schemas import describe, describe_field
from ferry_sdk.agents.tools.table import EXCLUDED, GROUPS, every_method, operation_of
from ferry_sdk.agents.tools.tools import TOOLS
from tests.support.tables import each

BOTH = [
    tool.definition(approval=approval, call=repr)
    for tool in TOOLS.values()
    for approval in (False, True)
]
NO_DOCSTRINGS = """
import json
from ferry_sdk.agents.tools.tools import TOOLS
assert not __debug__ and json.__doc__ is None
for tool in TOOLS.values():
    definition = tool.definition(approval=True, call=repr)
    assert definition.title
    for described in definition.input_schema["properties"].values():
        assert described["description"]
TOOLS["bookings_get"].read({"booking_id": "b1"})
"""
LIGHT = "import sys, ferry_sdk; assert not any('agents' in name for name in sys.modules)"


def schemas_in(schema):
    """Yield the schema and all schemas in it; the names of properties are none."""
    yield schema
    for name, part in schema.items():
        if name == "properties":
            inner = part.values()
        elif name in {"items", "additionalProperties"} and isinstance(part, dict):
            inner = [part]
        else:
            inner = part if name in {"anyOf", "oneOf"} else ()
        for one in inner:
            yield from schemas_in(one)


def properties_in(schema):
    return {name for part in schemas_in(schema) for name in part.get("properties", {})}


@each("definition", BOTH)
def test_schemas_are_plain_described_closed_and_have_one_type_each(definition):
    """Google's genai, AutoGen and DSPy crash on a list of types among the arguments.

    Gemini's service refuses formats other than date-time. smolagents ask for what is not nullable;
    LlamaIndex does not show schemas of objects. The MCP inspector warns about lists of types and
    empty schemas.
    """
    assert definition.input_schema["type"] == definition.output_schema["type"] == "object"
    Draft202012Validator.check_schema(definition.input_schema)
    Draft202012Validator.check_schema(definition.output_schema)
    for schema in schemas_in(definition.input_schema):
        assert schema.get("additionalProperties") is False or schema["type"] != "object"
        for name, one in schema.get("properties", {}).items():
            assert one.get("description", "").endswith("."), name
        unknown = {"title", "anyOf", "$ref", "$defs", "allOf", "default", "format"}
        assert schema.keys().isdisjoint(unknown)
        assert isinstance(schema["type"], str)
        assert schema["type"] != "null"
    required = definition.input_schema.get("required", [])
    for name, one in definition.input_schema["properties"].items():
        assert one.get("nullable", False) is (name not in required)
        assert one["description"] != f"{name.replace('_', ' ').capitalize()}.", name
        fields = one.get("items", one).get("required", [])
        if name in {"passengers", "vehicle", "contact"} and not definition.name.startswith("avail"):
            assert fields or one["type"] == "string"
            assert all(field in one["description"] for field in fields)
    for schema in schemas_in(definition.output_schema):
        assert schema
        assert isinstance(schema.get("type", ""), str)


@each("definition", BOTH)
def test_names_and_descriptions_are_for_a_model(definition):
    text = json.dumps([definition.description, definition.input_schema, definition.output_schema])
    for word in ("None", "poll", "deadline passes", "a date or", "a time or", "Concurrent"):
        assert word not in text
    if not definition.read_only:
        assert re.search(r"\bpays\b|\bcosts?\b", definition.description)
        assert re.search("Next|Call it|call again", definition.description)
    assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", definition.name)
    assert definition.title
    assert "\n" not in definition.title
    assert definition.description.startswith(definition.title)
    assert "Interface:" not in definition.description
    assert "``" not in json.dumps(definition.input_schema) + definition.description
    if definition.name == "bookings_confirm":
        assert definition.title == "Confirm a booking, which pays it and issues its tickets"
        assert "The total_price that the user agreed to" in text
        assert "`bookings_get` lists all" in text


def test_hints_match_the_safety_table_and_only_writes_have_a_confirmation_code_argument():
    definitions = {name: tool.definition(approval=True, call=repr) for name, tool in TOOLS.items()}
    of_bookings = ("create", "confirm", "cancel", "change")
    writes = {"tickets_cancel", *(f"bookings_{one}" for one in of_bookings)}
    for hint, names in {
        "read_only": definitions.keys() - writes,
        "destructive": writes - {"bookings_create"},
        "idempotent": definitions.keys() - writes,
    }.items():
        assert {name for name, one in definitions.items() if getattr(one, hint)} == names, hint
    for name, tool in TOOLS.items():
        for approval in (False, True):
            definition = tool.definition(approval=approval, call=repr)
            asked = "confirmation_code" in definition.input_schema["properties"]
            described = "confirmation_code" in definition.description
            answered = "approval" in definition.output_schema["properties"]
            assert asked == described == answered == (approval and name in writes), name
            assert tool.is_read == (name not in writes)
            assert "confirmation_code" not in definition.input_schema.get("required", [])


def test_changing_a_definition_changes_no_other():
    tool = TOOLS["bookings_get"]
    tool.definition(approval=True, call=repr).input_schema["properties"].clear()
    for schema in tool.definition(approval=True, call=repr).output_schema["properties"].values():
        schema.get("properties", schema).clear()
    again = tool.definition(approval=True, call=repr)
    assert "booking_id" in again.input_schema["properties"]
    assert "stage" in again.output_schema["properties"]["result"]["properties"]
    assert again.output_schema["properties"]["error"]["type"] == "object"


def test_every_method_is_a_tool_or_excluded():
    no_methods = ("trips_find", "places_find", "bookings_change")
    tools = {tool.operation for name, tool in TOOLS.items() if name not in no_methods}
    excluded = {operation_of(method) for method in EXCLUDED}
    methods = {operation_of(method) for method in every_method()}
    assert tools.isdisjoint(excluded)
    assert tools | excluded == methods == SAFETY.keys()


def test_every_public_function_of_a_group_is_a_method():
    names = {
        name
        for group in GROUPS
        for name, _ in inspect.getmembers(group, inspect.isfunction)
        if not name.startswith("_")
    }
    assert names == {method.__name__ for method in every_method()}


def test_every_excluded_method_has_a_reason():
    assert all(EXCLUDED.values())


def test_docstrings_are_parsed_by_section():
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

    assert describe(example) == "Do it: at once. And well. Over `two` lines."
    assert describe_field(example, "first") == "What comes first, and goes on."
    assert describe_field(example, "second") == "`bookings_get` too."
    assert describe_field(example, "third") == ""


def test_each_format_has_the_same_schema_and_strict_ones_require_all_and_allow_null():
    with Ferry("token", base_url="https://ferry.test") as ferry:
        toolkit = Toolkit(ferry, tools="all", writes=True)
        plain, strict = toolkit.openai(), toolkit.openai(strict=True)
        chat = toolkit.openai("chat", strict=True)
        formats = plain, toolkit.openai("chat"), toolkit.anthropic()
    for definition, *tool in zip(toolkit.definitions(), *formats, strict=True):
        responses, chatted, messages = tool
        assert responses == {"type": "function", **chatted["function"]}
        assert responses["parameters"] == messages["input_schema"] == definition.input_schema
    assert [{"type": "function", **one["function"]} for one in chat] == strict
    for loose, tool in zip(plain, strict, strict=True):
        assert (loose["strict"], tool["strict"]) == (False, True)
        Draft202012Validator.check_schema(tool["parameters"])
        names = set()
        for schema in schemas_in(tool["parameters"]):
            assert schema.keys().isdisjoint({"default", "nullable"})
            assert not isinstance(schema.get("type"), list)
            if schema.get("type") == "object":
                assert schema["additionalProperties"] is False
                assert schema["required"] == [*schema["properties"]]
                names |= schema["properties"].keys()
        parameters = loose["parameters"]
        assert names == properties_in(parameters)
        optional = parameters["properties"].keys() - parameters.get("required", [])
        for name, one in tool["parameters"]["properties"].items():
            assert ({"type": "null"} in one.get("anyOf", [])) is (name in optional)
            assert one["description"]


@each("code", ["-OO", "-I"])
def test_definitions_work_without_docstrings_and_load_on_first_use(code):
    program = NO_DOCSTRINGS if code == "-OO" else LIGHT
    subprocess.run([sys.executable, code, "-c", program], check=True, timeout=60)
