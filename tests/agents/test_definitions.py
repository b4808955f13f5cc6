"""Definitions of tools: valid schemas that are short enough for every conversation."""

import inspect
import json
import re
import subprocess
import sys

import pytest
from jsonschema import Draft202012Validator

from ferry_sdk import Ferry
from ferry_sdk._engine.safety import SAFETY
from ferry_sdk.agents import Toolkit
from ferry_sdk.agents.tools.arguments import _FIELD_TEXTS, _TEXTS
from ferry_sdk.agents.tools.schemas import ANSWER, ANSWER_WITH_APPROVAL, describe, describe_field
from ferry_sdk.agents.tools.table import EXCLUDED, GROUPS, every_method, operation_of
from ferry_sdk.agents.tools.tools import TOOLS, choose_tools
from tests.support.blocks import ROOT
from tests.support.tiers import LONG

BY_PERSON = [tool.definition(approver="person", call=repr) for tool in TOOLS.values()]
BY_CODE = [tool.definition(approver="code", call=repr) for tool in TOOLS.values()]
WRITES = {
    "bookings_create",
    "bookings_confirm",
    "bookings_cancel",
    "bookings_change",
    "tickets_cancel",
}
every_definition = pytest.mark.parametrize(
    "definition",
    [pytest.param(definition, id=f"{definition.name} by code") for definition in BY_CODE]
    + [pytest.param(one, id=one.name, marks=LONG if one.read_only else ()) for one in BY_PERSON],
)
"""All definitions; those of reads are the same with a person and by code."""
every_write = pytest.mark.parametrize(
    "definition",
    [pytest.param(one, id=f"{one.name} by code") for one in BY_CODE if not one.read_only]
    + [pytest.param(one, id=one.name) for one in BY_PERSON if not one.read_only],
)
every_tool = pytest.mark.parametrize(
    "definition", BY_CODE, ids=[definition.name for definition in BY_CODE]
)
"""The definitions with an argument for a code, which have all arguments."""
NO_DOCSTRINGS = """
import json
from ferry_sdk.agents.tools.tools import TOOLS
assert not __debug__ and json.__doc__ is None
for tool in TOOLS.values():
    definition = tool.definition(approver="code", call=repr)
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


@every_tool
def test_schemas_are_objects_of_json_schema(definition):
    assert definition.input_schema["type"] == definition.output_schema["type"] == "object"
    Draft202012Validator.check_schema(definition.input_schema)
    Draft202012Validator.check_schema(definition.output_schema)


@every_tool
def test_schemas_of_arguments_are_plain(definition):
    """Google's genai, AutoGen and DSPy crash on a list of types among the arguments.

    Gemini's service refuses formats other than date-time. LlamaIndex does not show schemas of
    objects. The MCP inspector warns about lists of types and empty schemas.
    """
    unknown = {"title", "anyOf", "$ref", "$defs", "allOf", "default", "format"}
    for schema in schemas_in(definition.input_schema):
        assert schema.keys().isdisjoint(unknown)
        assert isinstance(schema["type"], str)
        assert schema["type"] != "null"


@every_tool
def test_objects_of_arguments_are_closed(definition):
    schemas = schemas_in(definition.input_schema)
    objects = [schema for schema in schemas if schema["type"] == "object"]
    assert [schema for schema in objects if schema.get("additionalProperties") is not False] == []


@every_tool
def test_every_argument_is_described(definition):
    for schema in schemas_in(definition.input_schema):
        for name, part in schema.get("properties", {}).items():
            assert part.get("description", "").endswith("."), name
    for name, part in definition.input_schema["properties"].items():
        assert part["description"] != f"{name.replace('_', ' ').capitalize()}."


@every_tool
def test_the_optional_arguments_are_nullable(definition):
    """smolagents ask for what is not nullable."""
    required = definition.input_schema.get("required", [])
    for name, part in definition.input_schema["properties"].items():
        assert part.get("nullable", False) is (name not in required), name


@pytest.mark.parametrize(
    "definition",
    [
        pytest.param(definition, id=definition.name)
        for definition in BY_CODE
        if not definition.name.startswith("avail")
    ],
)
def test_an_object_is_described_with_its_required_fields(definition):
    properties = definition.input_schema["properties"]
    for name in {"passengers", "vehicle", "contact"} & properties.keys():
        part = properties[name]
        fields = part.get("items", part).get("required", [])
        assert fields or part["type"] == "string"
        assert all(field in part["description"] for field in fields), name


@pytest.mark.parametrize("schema", [ANSWER, ANSWER_WITH_APPROVAL], ids=["by person", "by code"])
def test_answers_are_objects_of_json_schema(schema):
    assert schema["type"] == "object"
    Draft202012Validator.check_schema(schema)


@every_tool
def test_schemas_of_answers_have_one_type_each(definition):
    for schema in schemas_in(definition.output_schema):
        assert schema
        assert isinstance(schema.get("type", ""), str)


@every_definition
def test_descriptions_are_for_a_model(definition):
    text = json.dumps([definition.description, definition.input_schema, definition.output_schema])
    words = ("None", "poll", "deadline passes", "a date or", "a time or", "Concurrent")
    assert [word for word in words if word in text] == []
    assert "Interface:" not in definition.description
    assert "``" not in json.dumps(definition.input_schema) + definition.description


@every_tool
def test_a_name_is_one_short_word(definition):
    assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", definition.name)


@every_tool
def test_a_title_is_the_beginning_of_the_description(definition):
    assert definition.title
    assert "\n" not in definition.title
    assert definition.description.startswith(definition.title)


@every_write
def test_a_write_says_its_cost(definition):
    assert re.search(r"\bpays\b|\bcosts?\b", definition.description)


@every_write
def test_a_write_says_the_next_step(definition):
    assert re.search("Next|Call it|call again", definition.description)


def test_the_confirmation_is_described_for_a_model():
    definition = TOOLS["bookings_confirm"].definition(approver="code", call=repr)
    text = json.dumps([definition.description, definition.input_schema, definition.output_schema])
    assert definition.title == "Confirm a booking, which pays it and issues its tickets"
    assert "The total_price that the user agreed to" in text
    assert "`bookings_get` lists all" in text


@pytest.mark.parametrize(
    ("hint", "names"),
    [
        ("read_only", TOOLS.keys() - WRITES),
        ("destructive", WRITES - {"bookings_create"}),
        ("idempotent", TOOLS.keys() - WRITES),
    ],
    ids=["read_only", "destructive", "idempotent"],
)
def test_hints_tell_the_writes(hint, names):
    assert {one.name for one in BY_CODE if getattr(one, hint)} == names


def test_the_safety_table_tells_the_writes():
    assert {name for name, tool in TOOLS.items() if not tool.is_read} == WRITES


PAGE = (ROOT / "docs" / "agents.md").read_text("utf-8")
ROW = re.compile(r"^\| `(\w+)` \| (`[^|]+`) \| (`[^|]+`) \|$", re.MULTILINE)


def test_page_has_the_arguments_of_the_writes():
    rows = {}
    for name, required, optional in ROW.findall(PAGE):
        rows[name] = [re.findall(r"\w+", names) for names in (required, optional)]

    schemas = {one.name: one.input_schema for one in BY_PERSON if not one.read_only}
    assert rows == {
        name: [
            schema["required"],
            [one for one in schema["properties"] if one not in schema["required"]],
        ]
        for name, schema in schemas.items()
    }


def asks_for_code(definition):
    """Return whether a tool has an argument for a code; its texts and its answer agree."""
    is_argument = "confirmation_code" in definition.input_schema["properties"]
    is_described = "confirmation_code" in definition.description
    is_answered = "approval" in definition.output_schema["properties"]
    assert is_argument == is_described == is_answered
    assert "confirmation_code" not in definition.input_schema.get("required", [])
    return is_argument


@every_tool
def test_only_writes_ask_for_a_code(definition):
    assert asks_for_code(definition) == (definition.name in WRITES)


@pytest.mark.parametrize("definition", BY_PERSON, ids=[definition.name for definition in BY_PERSON])
def test_nothing_asks_for_a_code_beside_a_person(definition):
    assert not asks_for_code(definition)


def test_changing_a_definition_changes_no_other():
    tool = TOOLS["bookings_get"]
    tool.definition(approver="code", call=repr).input_schema["properties"].clear()
    for schema in tool.definition(approver="code", call=repr).output_schema["properties"].values():
        schema.get("properties", schema).clear()
    again = tool.definition(approver="code", call=repr)
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


def test_every_function_of_a_group_is_a_method():
    names = {
        name
        for group in GROUPS
        for name, _ in inspect.getmembers(group, inspect.isfunction)
        if not name.startswith("_")
    }
    assert names == {method.__name__ for method in every_method()}


def test_every_excluded_method_has_a_reason():
    assert all(EXCLUDED.values())


def test_every_text_describes_an_argument():
    by_handle = choose_tools("all", by_handle=True).values()
    definitions = [*BY_CODE, *(tool.definition(approver="code", call=repr) for tool in by_handle)]
    names = set().union(*(properties_in(definition.input_schema) for definition in definitions))
    assert _TEXTS.keys() <= names


@pytest.mark.parametrize("model", _FIELD_TEXTS, ids=[model.__name__ for model in _FIELD_TEXTS])
def test_every_text_of_an_input_describes_a_field(model):
    assert _FIELD_TEXTS[model].keys() <= model.model_fields.keys()


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


def test_the_text_before_the_sections_describes_a_tool():
    assert describe(example) == "Do it: at once. And well. Over `two` lines."


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("first", "What comes first, and goes on."),
        ("second", "`bookings_get` too."),
        ("third", ""),
    ],
    ids=["two lines", "a method", "another section"],
)
def test_the_section_of_arguments_describes_them(name, text):
    assert describe_field(example, name) == text


@pytest.fixture(scope="module")
def offered():
    """A toolkit with all tools; it makes no request."""
    with Ferry("token", base_url="https://ferry.test") as ferry:
        yield Toolkit(ferry, tools="all", writes=True)


def test_each_format_has_the_same_schema(offered):
    formats = offered.openai(), offered.openai("chat"), offered.anthropic()
    for definition, responses, chat, messages in zip(offered.definitions(), *formats, strict=True):
        assert responses == {"type": "function", **chat["function"]}
        assert responses["parameters"] == messages["input_schema"] == definition.input_schema
        assert responses["strict"] is False


def test_both_formats_of_openai_are_equally_strict(offered):
    chat = offered.openai("chat", strict=True)
    strict = offered.openai(strict=True)
    assert [{"type": "function", **tool["function"]} for tool in chat] == strict
    assert all(tool["strict"] for tool in strict)


def test_strict_schemas_require_every_argument(offered):
    for loose, strict in zip(offered.openai(), offered.openai(strict=True), strict=True):
        Draft202012Validator.check_schema(strict["parameters"])
        names = set()
        for schema in schemas_in(strict["parameters"]):
            assert schema.keys().isdisjoint({"default", "nullable"})
            assert not isinstance(schema.get("type"), list)
            if schema.get("type") == "object":
                assert schema["additionalProperties"] is False
                assert schema["required"] == [*schema["properties"]]
                names |= schema["properties"].keys()
        assert names == properties_in(loose["parameters"])


def test_strict_schemas_allow_null_for_optional_arguments(offered):
    for loose, strict in zip(offered.openai(), offered.openai(strict=True), strict=True):
        parameters = loose["parameters"]
        optional = parameters["properties"].keys() - parameters.get("required", [])
        for name, part in strict["parameters"]["properties"].items():
            assert ({"type": "null"} in part.get("anyOf", [])) is (name in optional)
            assert part["description"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("option", "program"),
    [
        pytest.param("-OO", NO_DOCSTRINGS, id="without docstrings"),
        pytest.param("-I", LIGHT, id="loaded on first use"),
    ],
)
def test_definitions_work_in_another_interpreter(option, program):
    subprocess.run([sys.executable, option, "-c", program], check=True, timeout=60)
