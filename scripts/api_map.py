"""Write api.md, the map of every method, its endpoint and its types, from the methods themselves.

Usage: api_map.py [--check]
"""

from __future__ import annotations

import inspect
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ferry_sdk
import ferry_sdk.models
from ferry_sdk import SAFETY, AsyncFerry, Ferry
from ferry_sdk.resources.arguments import ReservationTypeName
from ferry_sdk.resources.base import method
from ferry_sdk.resources.conditions import Until
from ferry_sdk.resources.groups import Resources
from ferry_sdk.resources.read_back import Recovered

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "api.md"
WIDTH = 100
HEAD = """\
# The API

Every method of the clients, the endpoint that it calls, and its types. `AsyncFerry` has the same \
methods, to be awaited; under `with_raw_response` they give the same results in a `RawResponse`.

A **read** may be sent again whatever happened, a **write** only where nothing of it was done: \
[outcomes](docs/outcomes.md).

This page is made by `scripts/api-map`, from the methods themselves."""
_RESOURCES: Any = Resources(None)
GROUPS: dict[str, type] = {
    name: type(getattr(_RESOURCES, name))
    for name in ("availability", "bookings", "tickets", "catalogue", "mcp")
}
CLIENTS = "## The clients\n\nWhat calls no endpoint of its own. `AsyncFerry` is closed by `aclose`."
OF_CLIENTS = (Ferry.with_options, Ferry.recover, Ferry.close, AsyncFerry.aclose)
SHORTHANDS = {
    "Recovered": Recovered,
    "Until": Until,
    "arguments.ReservationTypeName": ReservationTypeName,
}
"""Names of the library's own that a reader should not have to look up."""
TYPES = {
    name: value
    for space in (ferry_sdk.models, ferry_sdk)
    for name in space.__all__
    if isinstance(value := getattr(space, name), type)
}


def in_words(annotation: str) -> str:
    """Write an annotation with what its shorthand stands for."""
    first, *others = annotation.split(" | ")
    if first not in SHORTHANDS:
        return annotation
    meaning = re.sub(r"[\w.]+\.(\w+)", r"\1", str(SHORTHANDS[first])).replace("'", '"')
    return " | ".join([meaning, *others])


def argument(one: inspect.Parameter) -> str:
    """Write one argument with its type and its default."""
    default = "" if one.default is one.empty else f" = {one.default!r}"
    return f"{one.name}: {in_words(one.annotation)}{default}"


def called(name: str, signature: inspect.Signature) -> str:
    """Write a method as it is called: on one line, or an argument a line."""
    arguments: list[str] = []
    for one in list(signature.parameters.values())[1:]:
        if one.kind is one.KEYWORD_ONLY and "*" not in arguments:
            arguments.append("*")
        arguments.append(argument(one))
    gives = in_words(re.sub(r"^Operation\[(.+)\]$", r"\1", signature.return_annotation))
    line = f"{name}({', '.join(arguments)}) -> {gives}"
    if len(line) <= WIDTH:
        return line
    return "\n".join([f"{name}(", *(f"    {one}," for one in arguments), f") -> {gives}"])


def links(code: str) -> Iterator[str]:
    """Link the library's own types that a signature names, each once."""
    for word in dict.fromkeys(re.findall(r"\w+", code)):
        if word in TYPES:
            file = TYPES[word].__module__.replace(".", "/")
            yield f"[`{word}`]({file}.py)"


def section(name: str, documentation: str, signature: inspect.Signature) -> str:
    """Describe one method; one that is in the safety table has to name its endpoint."""
    endpoint = re.search(r"Interface: (.+?)\.$", documentation, re.MULTILINE)
    if endpoint is None and name in SAFETY:
        sys.exit(f"The docstring of {name} names no endpoint.")
    code = called(f"ferry.{name}", signature)
    types = ", ".join(links(code))
    lines = [
        f"### `{name}`",
        endpoint and f"`{endpoint[1]}` · {SAFETY[name].kind}",
        re.sub(r" *Interface: .+", "", documentation.splitlines()[0]),
        f"```python\n{code}\n```",
        types and f"Types: {types}",
    ]
    return "\n\n".join(line for line in lines if line)


def page() -> str:
    """Make the whole page."""
    parts = [HEAD]
    for group, kind in GROUPS.items():
        parts.append(f"## {group}\n\n{inspect.getdoc(kind)}")
        for name, one in vars(kind).items():
            if isinstance(one, method):
                signature = inspect.signature(one.describe)
                parts.append(section(f"{group}.{name}", inspect.getdoc(one) or "", signature))
    parts.append(CLIENTS)
    for function in OF_CLIENTS:
        documentation = inspect.getdoc(function) or ""
        parts.append(section(function.__name__, documentation, inspect.signature(function)))
    return "\n\n".join(parts) + "\n"


def main(*arguments: str) -> None:
    """Write the page, or check the one that is there."""
    if "--check" not in arguments:
        PAGE.write_text(page(), encoding="utf-8")
    elif PAGE.read_text(encoding="utf-8") != page():
        sys.exit("api.md is not what the methods are; run scripts/api-map.")


if __name__ == "__main__":
    main(*sys.argv[1:])
