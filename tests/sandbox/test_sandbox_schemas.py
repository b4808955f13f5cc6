"""The schemas in `tools/list` accept exactly what the tools accept."""

import copy
import json
import re

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator, FormatChecker, ValidationError, validators

from ferry_sdk.sandbox import Sandbox
from ferry_sdk.sandbox.operations import TOOLS
from ferry_sdk.sandbox.requests.errors import messages
from tests.support.shapes import is_about_shape
from tests.support.tables import each
from tests.support.tiers import examples
from tests.support.wire import TLS


def matches(validator, pattern, instance, schema):
    """Check `pattern` as JSON Schema defines it: `$` matches at the end only, as Python's `\\Z`."""
    if isinstance(instance, str) and not re.search(f"{pattern.removesuffix('$')}\\Z", instance):
        yield ValidationError(f"{instance!r} does not match {pattern!r}")


Validator = validators.extend(Draft202012Validator, {"pattern": matches})


class Tools:
    """The tools as a client sees them, over a real connection."""

    def __init__(self, sandbox):
        headers = {"authorization": f"Bearer {sandbox.token}", "accept": "application/json"}
        self.http = httpx.Client(verify=TLS, base_url=sandbox.base_url, headers=headers, timeout=30)
        listed = self.request("tools/list", {})["tools"]
        self.schemas = {tool["name"]: tool["inputSchema"] for tool in listed}
        self.validators = {
            name: Validator(schema, format_checker=FormatChecker(["date"]))
            for name, schema in self.schemas.items()
        }

    def request(self, method, params):
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        return self.http.post("/mcp", json=message).json()["result"]

    def errors(self, name, arguments):
        """Return the messages about the arguments; None if the tool accepted them."""
        result = self.request("tools/call", {"name": name, "arguments": arguments})
        if not result["isError"]:
            return None
        error = result["structuredContent"]
        return [each["message"] for each in error.get("errors", [])] or [error["message"]]

    def shape_errors(self, name, arguments):
        """Return the messages about the shape of the arguments."""
        said = self.errors(name, arguments) or []
        return [words for words in said if is_about_shape(words)]


@pytest.fixture(scope="module")
def tools():
    with Sandbox() as sandbox:
        made = Tools(sandbox)
        yield made
        made.http.close()


def values(schema, whole):
    """Return a strategy for the values that a schema allows."""
    if "$ref" in schema:
        return values(whole["$defs"][schema["$ref"].rpartition("/")[2]], whole)
    if "anyOf" in schema:
        return st.one_of(*(values(one, whole) for one in schema["anyOf"]))
    if "const" in schema or "enum" in schema:
        return st.sampled_from(schema.get("enum", [schema.get("const")]))
    kinds = {"object": objects, "array": arrays, "integer": numbers, "string": texts}
    if schema["type"] in kinds:
        return kinds[schema["type"]](schema, whole)
    return {"boolean": st.booleans(), "null": st.none()}[schema["type"]]


def arrays(schema, whole):
    inner = values(schema["items"], whole)
    most = min(schema["maxItems"], 2)  # enough to be a list, and quick to make
    return st.lists(inner, min_size=schema.get("minItems", 0), max_size=most)


def numbers(schema, _):
    whole = st.integers(schema["minimum"], schema["maximum"])
    return whole | whole.map(float)


def texts(schema, _):
    pattern = schema.get("pattern", "")
    if schema.get("format") == "date":
        return st.dates().map(str).filter(re.compile(pattern).match)
    letters = st.characters(codec="utf-8")
    if r"[\s\S]*" in pattern:  # any text but a blank one, which a search in a pattern finds slowly
        return st.text(letters, max_size=schema["maxLength"]).filter(re.compile(pattern).match)
    found = st.from_regex(f"{pattern.removesuffix('$')}\\Z", alphabet=letters)
    return found.filter(lambda text: len(text) <= schema.get("maxLength", len(text)))


def objects(schema, whole):
    required = schema.get("required", [])
    inner = {name: values(one, whole) for name, one in schema["properties"].items()}
    return st.fixed_dictionaries(
        {name: inner[name] for name in required},
        optional={name: one for name, one in inner.items() if name not in required},
    )


def requests(tools, name):
    schema = tools.schemas[name]
    return values(schema, schema).filter(tools.validators[name].is_valid)


def places(value, way=()):
    """Yield the path of every value inside a value."""
    yield way
    inner = enumerate(value) if isinstance(value, list) else ()
    for step, item in value.items() if isinstance(value, dict) else inner:
        yield from places(item, (*way, step))


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 300) | st.floats(-5, 300) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=3,
)
ODD = ["", " ", "24:00", "9:00", "10:00:00Z", "2027-02-30", "20270228", "0001-01-01", "FR\n"]
ODD += ["x" * 201, "@", "+0", "123", "PEUGEOT 208", "a__", 34.5, -1, 10, 121, "Adult", "ADT", []]


@st.composite
def damage_one_value(draw, requests):
    """Return a valid request in which one value is changed, removed or added."""
    request = copy.deepcopy(draw(requests))
    *way, last = draw(st.sampled_from([each for each in places(request) if each]))
    record = request
    for step in way:
        record = record[step]
    damage = draw(st.sampled_from(["change", "change", "leave out", "add"]))
    if damage == "leave out":
        del record[last]
    elif damage == "add" and isinstance(record, dict):
        record[f"{last}_"] = record[last]
    else:
        record[last] = draw(ANYTHING | st.sampled_from(ODD))
    return request


@pytest.mark.parametrize("name", TOOLS)
def test_the_service_accepts_the_shape_of_every_value_that_a_schema_allows(tools, name):
    @settings(max_examples=20)
    @given(requests(tools, name))
    def check(arguments):
        assert tools.shape_errors(name, arguments) == []

    check()


@pytest.mark.parametrize("name", TOOLS)
def test_the_service_refuses_the_shape_of_every_value_that_a_schema_refuses(tools, name):
    @examples(25)
    @given(damage_one_value(requests(tools, name)))
    def check(arguments):
        if tools.validators[name].is_valid(arguments):
            assert tools.shape_errors(name, arguments) == []
        else:
            assert tools.shape_errors(name, arguments)

    check()


SEARCH = {
    "request": {
        "company": "CTN",
        "depart_code": "FRMRS",
        "arrive_code": "TNLGN",
        "out_journey_id": "J1",
        "out_at": "2027-03-01",
        "out_time": "10:00",
        "ret_journey_id": "",
        "ret_at": "",
        "ret_time": "",
    },
    "passengers": [{"order": 1, "type": "Adult", "param": "A", "gender": "Male", "age": 34}],
}


def test_schema_and_service_agree_on_times_and_one_way_searches(tools):
    assert tools.validators["search_availability"].is_valid(SEARCH)
    assert tools.shape_errors("search_availability", SEARCH) == []
    for time in ("10:00:00Z", "24:00", "9:00"):
        wrong = {**SEARCH, "request": {**SEARCH["request"], "out_time": time}}
        assert not tools.validators["search_availability"].is_valid(wrong)
        assert tools.shape_errors("search_availability", wrong) == [messages("en")["time"]]


@each(
    ("given", "is_right"),
    [
        ({}, False),
        ({"id": None}, False),
        ({"id": "A1"}, True),
        ({"id": "A1", "availabilities": None}, True),
        ({"availabilities": [{"availability_id": "A", "tariff_id": "B", "place_id": "C"}]}, True),
        (
            {
                "id": "A1",
                "availabilities": [{"availability_id": "A", "tariff_id": "B", "place_id": "C"}],
            },
            False,
        ),
    ],
)
def test_a_booking_takes_an_id_or_availabilities(tools, given, is_right):
    guest = {"type": "ADT", "first_name": "Ada", "last_name": "Byron"}
    arguments = {"passengers": [guest], **given}
    assert tools.validators["create_booking"].is_valid(arguments) == is_right
    assert (tools.shape_errors("create_booking", arguments) == []) == is_right


def test_every_property_has_a_description_and_no_schema_is_a_union(tools):
    for name, schema in tools.schemas.items():
        assert schema["type"] == "object", name
        assert not {"anyOf", "oneOf", "allOf"} & set(schema)
        for record in (schema, *schema.get("$defs", {}).values()):
            assert record["additionalProperties"] is False
            for field, one in record["properties"].items():
                assert one.get("description"), f"{name}: {field}"
    assert json.dumps(tools.schemas).count('"format": "time"') == 0
