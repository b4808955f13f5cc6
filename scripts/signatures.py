"""Write the stubs of `ferry_sdk.client.groups` from the methods of the groups.

Usage: signatures.py [--check]
"""

from __future__ import annotations

import ast
import inspect
import json
import re
import sys
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ferry_sdk.planning import PlannedResources, request
from ferry_sdk.resources import arguments, bodies
from ferry_sdk.resources.groups import Resources

if TYPE_CHECKING:
    from collections.abc import Callable

FOLDER = Path(__file__).parents[1] / "ferry_sdk" / "client" / "groups"
WIDTH = 100
STUBS: dict[str, tuple[type[Resources], str, str]] = {
    "sync": (PlannedResources, "def", "{}"),
    "async_": (PlannedResources, "async def", "{}"),
    "raw": (Resources, "def", "RawResponse[{}]"),
    "async_raw": (Resources, "async def", "RawResponse[{}]"),
}
"""The groups in each stub, how their methods are defined, and what these return."""
HEAD = "# scripts/api-map writes this file from the methods of the groups."
IMPORTS = {
    "AnyTransport": "from ferry_sdk.resources.base import AnyTransport",
    "RawResponse": "from ferry_sdk._engine.http import RawResponse",
    "Resource": "from ferry_sdk.resources.base import Resource",
    "deprecated": "from typing_extensions import deprecated",
}
"""What a stub may need and its groups do not import."""


def groups(resources: type[Resources]) -> dict[str, type]:
    """Return the class of each group."""
    instance: Any = resources(None)
    classes: dict[str, type] = {}
    for base in reversed(resources.mro()):
        for name, member in vars(base).items():
            if isinstance(member, cached_property):
                classes[name] = type(getattr(instance, name)).__base__
    return classes


def methods(group: type) -> dict[str, Callable[..., Any]]:
    """Return the functions that describe a group's methods."""
    functions: dict[str, Callable[..., Any]] = {}
    for name, member in vars(group).items():
        function = getattr(member, "describe", member)
        if inspect.isfunction(function) and not name.startswith("_"):
            functions[name] = function
    return functions


def imports(group: type) -> dict[str, str]:
    """Return how each name is imported in a group's module and in those of its arguments."""
    found: dict[str, str] = {}
    for module in (arguments, bodies, request, sys.modules[group.__module__]):
        for node in ast.parse(inspect.getsource(module)).body:
            if isinstance(node, ast.ImportFrom):
                found |= {one.name: f"from {node.module} import {one.name}" for one in node.names}
            elif isinstance(node, ast.Import):
                found |= {one.name: f"import {one.name}" for one in node.names}
            elif isinstance(node, ast.ClassDef):
                found[node.name] = f"from {module.__name__} import {node.name}"
    return found


def _literal(value: object) -> str:
    """Return a default as Python; one that is no simple value as an ellipsis."""
    if isinstance(value, str):
        return json.dumps(value)
    return repr(value) if isinstance(value, int | None) else "..."


def definition(name: str, function: Callable[..., Any], keyword: str, answer: str) -> str:
    """Write one method with the result of its `Operation` or `Plan`, as `ruff format` does."""
    signature = inspect.signature(function)
    described = re.fullmatch(r"(?:Operation|Plan)\[(.+)\]", signature.return_annotation)
    if described:
        result = answer.format(described[1])
    else:  # TripStream | AsyncTripStream, neither of which is awaited
        sync_result, async_result = signature.return_annotation.split(" | ")
        result = async_result if keyword == "async def" else sync_result
        keyword = "def"

    parameters: list[str] = ["self"]
    for one in list(signature.parameters.values())[1:]:
        if one.kind is one.KEYWORD_ONLY and "*" not in parameters:
            parameters.append("*")
        default = "" if one.default is one.empty else f" = {_literal(one.default)}"
        parameters.append(f"{one.name}: {one.annotation}{default}")

    message = getattr(function, "__deprecated__", None)
    mark = "" if message is None else f'    @deprecated("{message}")\n'
    start = f"    {keyword} {name}("
    end = f") -> {result}: ..."
    line = start + ", ".join(parameters) + end
    if len(line) > WIDTH:
        line = "\n".join([start, *(f"        {one}," for one in parameters), f"    {end}"])
    return mark + line


def stub(file: str) -> str:
    """Return the text of one stub."""
    resources, keyword, answer = STUBS[file]
    classes: dict[str, str] = {}
    properties = ["    def __init__(self, transport: AnyTransport) -> None: ..."]
    sources = dict(IMPORTS)
    for name, group in groups(resources).items():
        sources |= imports(group)
        lines = [definition(*one, keyword, answer) for one in methods(group).items()]
        classes[group.__name__] = "\n".join([f"class {group.__name__}(Resource):", *lines])
        properties += ["    @property", f"    def {name}(self) -> {group.__name__}: ..."]

    body = "\n\n".join([*classes.values(), "\n".join(["class Groups:", *properties])])
    used = {*re.findall(r"(?<!\.)\b[A-Za-z]\w*", body)} & (sources.keys() - classes.keys())
    return "\n".join([HEAD, "", *sorted(sources[name] for name in used), "", body, ""])


def main(*arguments: str) -> None:
    """Write the stubs, or check what is there."""
    for file in STUBS:
        path = FOLDER / f"{file}.pyi"
        text = stub(file)
        if "--check" not in arguments:
            path.write_text(text, encoding="utf-8")
        elif path.read_text(encoding="utf-8") != text:
            sys.exit(f"{path.name} differs from the methods; run scripts/api-map.")


if __name__ == "__main__":
    main(*sys.argv[1:])
