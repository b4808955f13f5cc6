"""Write the OpenAPI 3.1 document of the local service, from the models that the service uses.

Usage: python -m scripts.openapi.document [--check]
"""

from __future__ import annotations

import json
import sys
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue

from ferry_sdk import models
from ferry_sdk._runtime.data import data_beside
from ferry_sdk._runtime.version import __version__
from ferry_sdk.models.base import Model
from ferry_sdk.models.docstrings import field_descriptions
from ferry_sdk.sandbox.api import control
from ferry_sdk.sandbox.api.mcp.methods import tool_record
from ferry_sdk.sandbox.counters import Effect
from ferry_sdk.sandbox.http.conventions import CORRELATION_ID, REQUEST_ID
from ferry_sdk.sandbox.operations import ENDPOINTS, OPERATIONS, RESOURCES, TOOLS, Operation
from ferry_sdk.sandbox.request_log import LoggedRequest
from ferry_sdk.sandbox.requests.access import Access
from ferry_sdk.sandbox.requests.errors import text
from ferry_sdk.sandbox.responses.catalogue import RouteJourney
from ferry_sdk.sandbox.responses.fields import Error
from ferry_sdk.sandbox.responses.operations import ANSWERS
from ferry_sdk.sandbox.service import code_of
from scripts.openapi.examples import Example, examples

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pydantic_core import core_schema

ROOT = Path(__file__).parents[2]
FILE = ROOT / "ferry_sdk" / "sandbox" / "api" / "openapi" / "document.json"
Json = dict[str, Any]

_JSON = "application/json"
_HEADERS = {name: {"$ref": f"#/components/headers/{name}"} for name in (REQUEST_ID, CORRELATION_ID)}
_TEXTS: Json = data_beside(__file__, "texts.json")
"""What each access allows; by status, the code, message and cause of the errors that any operation
can answer, and the cause of the others; and the fields that only the client's records have.
"""


class _Schemas(GenerateJsonSchema):
    """Schemas without titles of fields and without defaults.

    Generators of TypeScript make a field with a default required.
    """

    def field_title_should_be_set(self, schema: object) -> bool:
        del schema
        return False

    def literal_schema(self, schema: core_schema.LiteralSchema) -> JsonSchemaValue:
        made = super().literal_schema(schema)
        if "const" in made:
            made.pop("enum", None)  # some versions of pydantic write both
        return made

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])

    def decimal_schema(self, schema: core_schema.DecimalSchema) -> JsonSchemaValue:
        del schema
        return {"type": "number"}  # the service sends numbers, whatever else the client reads


def main(*arguments: str) -> None:
    """Write the document that the service sends, or check the one that is there."""
    text = json.dumps(document(), indent=2) + "\n"
    if "--check" not in arguments:
        FILE.write_text(text, encoding="utf-8")
    elif FILE.read_text("utf-8") != text:
        sys.exit(f"{FILE.relative_to(ROOT)} is old: run scripts/api-map")


def document() -> Json:
    """Return the document."""
    whole: Json = data_beside(__file__, "base.json")
    definitions, schemas = _schemas()
    performed = examples()
    paths: dict[str, Json] = {}
    for operation in ENDPOINTS:
        record = _operation(operation, schemas, definitions, performed[operation.name])
        paths.setdefault(operation.path, {})[operation.method.lower()] = record
    paths.update(whole["paths"])
    for each in control.ENDPOINTS:
        record = _control(each, schemas, definitions)
        paths.setdefault(each.path, {})[each.method.lower()] = record
    whole["info"]["version"] = __version__
    whole["paths"] = paths
    whole["components"]["responses"].update(_general_errors())
    whole["components"]["schemas"].update(definitions)
    whole["x-mcp"] = _mcp(schemas)
    return whole


def _schemas() -> tuple[dict[str, Json], dict[str, Json]]:
    """Return the named schemas; and those of arguments by model and of answers by operation."""
    answering = [OPERATIONS[name] for name in ANSWERS]
    kinds: dict[str, Any] = {**ANSWERS}
    kinds |= {each.arguments.__name__: each.arguments for each in answering} | {"Error": Error}
    for each in control.ENDPOINTS:
        kinds[f"control.{each.name}"] = ANSWERS.get(each.answer, each.answer)
        if each.fields is not None:
            kinds[each.fields.__name__] = each.fields
    kinds_and_schemas, whole = TypeAdapter.json_schemas(
        [(name, "validation", TypeAdapter[Any](model)) for name, model in kinds.items()],
        ref_template="#/components/schemas/{model}",
        schema_generator=_Schemas,
    )
    definitions: dict[str, Json] = whole["$defs"]
    for schema in definitions.values():  # the fields have descriptions of their own
        if "description" in schema:
            words = schema["description"].partition("\n\nAttributes:")[0]
            schema["description"] = words.partition("Interface:")[0].strip()
    _describe_records(definitions)
    for name, fields in _TEXTS["client_fields"].items():
        for field in fields:
            del definitions[name]["properties"][field]
    _require_sent_fields(definitions)
    for field in ("date", "expiration_date"):
        moment = {"type": "integer", "description": "Seconds since 1970-01-01T00:00:00Z."}
        definitions["Tariff"]["properties"][field] = moment
    schemas = {str(key): schema for (key, _), schema in kinds_and_schemas.items()}
    for name, member in ((each.name, each.member) for each in answering if each.member):
        properties = {member: schemas[name]}
        schemas[name] = {"type": "object", "properties": properties, "required": [member]}
    return definitions, schemas


def _require_sent_fields(definitions: dict[str, Json]) -> None:
    """Require what the local service always sends; a client reads a record without most of it."""
    for name, definition in definitions.items():
        model = getattr(models, name, RouteJourney if name == RouteJourney.__name__ else None)
        if not isinstance(model, type) or not issubclass(model, Model):
            continue
        may_lack = _TEXTS["may_lack"].get(name, [])
        may_be_null = _TEXTS["may_be_null"].get(name, [])
        properties = definition["properties"]
        required = [field for field in properties if field not in may_lack]
        if required:
            definition["required"] = required
            definition |= {key: definition.pop(key) for key in ("title", "type")}
        for field, schema in properties.items():
            if field in required:
                schema.pop("default", None)
            if field not in may_be_null:
                _forbid_null(schema)
        for field in _TEXTS["identifiers"].get(name, []):
            properties[field]["minLength"] = 1


def _forbid_null(schema: Json) -> None:
    parts = [part for part in schema.pop("anyOf", []) if part != {"type": "null"}]
    if len(parts) == 1:
        schema.update(parts[0])
    elif parts:
        schema["anyOf"] = parts


def _describe_records(definitions: dict[str, Json]) -> None:
    """Describe the fields of the public records of the service, which are all sent."""
    for model in (Effect, LoggedRequest):
        definition = definitions[model.__name__]
        definition["required"] = [*definition["properties"]]
        for name, words in field_descriptions(model).items():
            definition["properties"][name]["description"] = words


def _operation(
    operation: Operation, schemas: Json, definitions: dict[str, Json], example: Example
) -> Json:
    model = definitions[operation.arguments.__name__]
    parameters: list[Json] = [
        {"$ref": f"#/components/parameters/{name}"} for name in ("language", "correlation")
    ]
    record: Json = {
        "operationId": operation.name,
        "summary": operation.summary,
        "description": _TEXTS["access"][operation.access.value],
        "tags": [operation.name.partition(".")[0]],
        "parameters": parameters,
    }
    arguments = dict(example.arguments)
    if "{id}" in operation.path:
        field = {"schema": model["properties"]["id"], "example": arguments.pop("id")}
        parameters.insert(0, {"name": "id", "in": "path", "required": True, **field})
    if operation.method == "POST":
        if "{id}" in operation.path:  # the body has the other arguments
            del model["properties"]["id"]
            model["required"].remove("id")
        body = {"schema": schemas[operation.arguments.__name__], "example": arguments}
        record["requestBody"] = {"required": "required" in model, "content": {_JSON: body}}
    answer = schemas[operation.name]
    record["responses"] = {
        str(operation.success): {
            "description": _description(answer, definitions),
            "headers": _HEADERS,
            "content": {_JSON: {"schema": answer, "example": example.answer}},
            **_links(operation),
        },
        **dict(sorted(_errors(operation, example))),
    }
    return record


def _control(endpoint: control.Endpoint, schemas: Json, definitions: Mapping[str, Json]) -> Json:
    name = f"control.{endpoint.name}"
    record: Json = {
        "operationId": name,
        "summary": endpoint.summary,
        "tags": ["control"],
        "security": [{}, {"control": []}],
    }
    errors = {"401": "The control token is missing or wrong.", "403": "Only this machine can."}
    if endpoint.fields is not None:
        errors["422"] = "A field is unknown or invalid."
        if endpoint.method == "GET":
            fields = definitions[endpoint.fields.__name__]["properties"].items()
            record["parameters"] = [
                {"name": field, "in": "query", "schema": schema} for field, schema in fields
            ]
        else:
            schema = schemas[endpoint.fields.__name__]
            record["requestBody"] = {"content": {_JSON: {"schema": schema}}}
    record["responses"] = {
        status: {
            "description": words,
            "headers": _HEADERS,
            "content": {_JSON: {"schema": schemas[name if status == "200" else "Error"]}},
        }
        for status, words in {"200": "What it is now.", **errors}.items()
    }
    return record


def _description(schema: Json, definitions: Mapping[str, Json]) -> str:
    """Return the description of the type of an answer."""
    (record,) = schema.get("properties", {"": schema}).values()
    name: str = record.get("items", record)["$ref"].rpartition("/")[2]
    words: str = definitions[name]["description"]
    return f"A list: {words[0].lower()}{words[1:]}" if "items" in record else words


def _links(operation: Operation) -> Json:
    """Return what the answer of an operation is used for, as links."""
    links: Json = {}
    for target, arguments in operation.links.items():
        where = "parameters" if "{id}" in OPERATIONS[target].path else "requestBody"
        links[target] = {"operationId": target, where: arguments}
    return {"links": links} if links else {}


def _errors(operation: Operation, example: Example) -> Iterator[tuple[str, Json]]:
    """Yield the errors of an operation, by status."""
    in_path = "{id}" in operation.path
    statuses = [401, 406]
    if operation.access is not Access.READ_ONLY:
        statuses.append(403)
    if operation.method == "POST":
        statuses += [400, 413, 415]
    for status in statuses:
        yield str(status), {"$ref": f"#/components/responses/Error{status}"}
    if operation.method == "POST" or in_path:  # the others take no arguments
        for status, error in example.errors.items():
            malformed = status == HTTPStatus.UNPROCESSABLE_ENTITY
            codes = {code_of(operation.name, status, malformed=it) for it in (False, malformed)}
            if in_path and status == HTTPStatus.NOT_FOUND:  # an id with a slash is another path
                codes.add("NOT_FOUND")
            yield str(status), _error(_TEXTS["refusals"][str(status)], codes, error)


def _general_errors() -> Iterator[tuple[str, Json]]:
    """Yield the errors that do not come from an operation, by their names in the document."""
    for status, (code, key, words) in _TEXTS["general_errors"].items():
        message: Error = {"error": True, "code": code, "message": text(key, "en")}
        response = _error(words, {code}, message)
        if code == "UNAUTHORIZED":
            challenge = {"WWW-Authenticate": {"$ref": "#/components/headers/WWW-Authenticate"}}
            response["headers"] = {**_HEADERS, **challenge}
        yield f"Error{status}", response


def _error(words: str, codes: set[str], example: Error) -> Json:
    narrowed = {"properties": {"code": {"enum": sorted(codes)}}}
    schema = {"allOf": [{"$ref": "#/components/schemas/Error"}, narrowed]}
    content = {_JSON: {"schema": schema, "example": example}}
    return {"description": words, "headers": _HEADERS, "content": content}


def _mcp(schemas: Json) -> Json:
    """Return the tools and the resources, with the schemas of what they take and answer."""
    return {
        "tools": [
            {
                **tool_record(name),
                "inputSchema": schemas[tool.arguments.__name__],
                "result": schemas[tool.name],
            }
            for name, tool in TOOLS.items()
        ],
        "resources": [
            {"uri": uri, "description": each.description, "content": schemas[each.name]}
            for uri, each in RESOURCES.items()
        ],
    }


if __name__ == "__main__":
    main(*sys.argv[1:])
