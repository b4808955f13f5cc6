"""Every field of every record and input has a description, wherever a user looks for it."""

from __future__ import annotations

import dataclasses
import inspect

from pydantic import BaseModel, TypeAdapter

import ferry_sdk
from ferry_sdk import models
from ferry_sdk.models import Booking, Country, McpPort, Passenger
from ferry_sdk.models.docstrings import field_descriptions
from tests.support.tables import each


def field_names(thing):
    """The fields of a model, a dataclass or a named tuple; none of anything else."""
    if issubclass(thing, BaseModel):
        return [*thing.model_fields]
    if dataclasses.is_dataclass(thing):
        return [field.name for field in dataclasses.fields(thing) if field.name[0] != "_"]
    return [*getattr(thing, "_fields", ())]


RECORDS = {
    name: thing
    for module in (models, ferry_sdk)
    for name in module.__all__
    if inspect.isclass(thing := getattr(module, name)) and field_names(thing)
}


def test_every_field_has_a_description():
    missing = {
        f"{name}.{field}"
        for name, thing in RECORDS.items()
        for field in set(field_names(thing)) - field_descriptions(thing).keys()
    }
    assert missing == set()
    assert sum(len(field_names(thing)) for thing in RECORDS.values()) > 300


@each("mode", ["validation", "serialization"])
def test_json_schemas_describe_their_properties(mode):
    for name, thing in RECORDS.items():
        if issubclass(thing, BaseModel):
            schema = TypeAdapter(thing).json_schema(mode=mode)
            for schema_of in (schema, *schema.get("$defs", {}).values()):
                for field, part in schema_of.get("properties", {}).items():
                    assert part.get("description"), f"{name}: {field}"


def test_a_schema_says_what_the_docstring_says():
    for model, name in (
        (Booking, "possible_actions"),
        (Passenger, "birth_date"),
        (Country, "code"),
    ):
        described = model.model_json_schema()["properties"][name]["description"]
        assert described == field_descriptions(model)[name]
    assert McpPort.model_json_schema()["properties"]["latitude"]["description"] == "Degrees north."
