"""The schemas in `tools/list` accept exactly what the tools accept."""

import copy
import json
import re

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator, FormatChecker, ValidationError, validators
from offline_service import ADULT, NOW, ONE_TICKET, search_request

from ferry_sdk.sandbox import Sandbox
from ferry_sdk.sandbox.operations import TOOLS
from ferry_sdk.sandbox.requests.errors import messages
from tests.support.shapes import is_about_shape
from tests.support.tables import each
from tests.support.tiers import examples, is_quick
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
        self.http = httpx.Client(verify=TLS, base_url=sandbox.base_url, headers=headers, timeout=60)
        listed = self.request("tools/list", {})["tools"]
        self.schemas = {tool["name"]: tool["inputSchema"] for tool in listed}
        self.validators = {
            name: Validator(schema, format_checker=FormatChecker(["date"]))
            for name, schema in self.schemas.items()
        }

    def request(self, method, params):
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        return self.http.post("/mcp", json=message).json()["result"]

    def shape_errors(self, name, arguments):
        """Return the messages about the shape of the arguments."""
        result = self.request("tools/call", {"name": name, "arguments": arguments})
        if not result["isError"]:
            return []
        error = result["structuredContent"]
        said = [each["message"] for each in error.get("errors", [])] or [error["message"]]
        return [words for words in said if is_about_shape(words)]

    def agree(self, name, arguments, *, is_valid):
        """Check that the schema and the service have the same opinion of the arguments."""
        assert self.validators[name].is_valid(arguments) == is_valid
        assert (self.shape_errors(name, arguments) == []) == is_valid


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
def valid_and_damaged(draw, requests):
    """Return a valid request, and one in which one value is changed, removed or added."""
    valid = draw(requests)
    request = copy.deepcopy(valid)
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
    return valid, request


@pytest.mark.parametrize("name", TOOLS)
def test_schema_and_service_agree_on_the_shape_of_every_value(tools, name):
    schema, validator = tools.schemas[name], tools.validators[name]

    @examples(10 if is_quick() else 40)
    @given(valid_and_damaged(values(schema, schema).filter(validator.is_valid)))
    def check(requests):
        valid, damaged = requests
        tools.agree(name, valid, is_valid=True)
        tools.agree(name, damaged, is_valid=validator.is_valid(damaged))

    check()


def test_schema_and_service_agree_on_times_and_one_way_searches(tools):
    request = search_request(ONE_TICKET, NOW.date()) | dict.fromkeys(
        ("ret_journey_id", "ret_at", "ret_time"), ""
    )
    search = {"request": request, "passengers": [ADULT]}
    tools.agree("search_availability", search, is_valid=True)
    for time in ("10:00:00Z", "24:00", "9:00"):
        wrong = {**search, "request": {**request, "out_time": time}}
        tools.agree("search_availability", wrong, is_valid=False)
        assert tools.shape_errors("search_availability", wrong) == [messages("en")["time"]]


CHOSEN = [{"availability_id": "A", "tariff_id": "B", "place_id": "C"}]


@each(
    ("given", "is_valid"),
    [
        ({}, False),
        ({"id": None}, False),
        ({"id": "A1"}, True),
        ({"id": "A1", "availabilities": None}, True),
        ({"availabilities": CHOSEN}, True),
        ({"id": "A1", "availabilities": CHOSEN}, False),
    ],
)
def test_a_booking_takes_an_id_or_availabilities(tools, given, is_valid):
    guest = {"type": "ADT", "first_name": "Ada", "last_name": "Byron"}
    tools.agree("create_booking", {"passengers": [guest], **given}, is_valid=is_valid)


def test_every_property_has_a_description_and_no_schema_is_a_union(tools):
    for name, schema in tools.schemas.items():
        assert schema["type"] == "object", name
        assert not {"anyOf", "oneOf", "allOf"} & set(schema)
        for record in (schema, *schema.get("$defs", {}).values()):
            assert record["additionalProperties"] is False
            for field, one in record["properties"].items():
                assert one.get("description"), f"{name}: {field}"
    assert json.dumps(tools.schemas).count('"format": "time"') == 0
