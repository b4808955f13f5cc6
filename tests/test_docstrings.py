"""Docstrings say what a value of an enumeration means, and show an example of each call."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ferry_sdk import Ferry, aftersales, orders
from ferry_sdk.client.groups import sync
from ferry_sdk.journal import Journal
from ferry_sdk.models import enums
from ferry_sdk.sandbox import FaultKind
from ferry_sdk.sandbox.faults import kinds

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType


def members_without_a_meaning(module: ModuleType, names: set[str]) -> Iterator[str]:
    """Name the members of a module's enumerations that no text follows."""
    tree = ast.parse(Path(inspect.getfile(module)).read_text("utf-8"))
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name in names:
            for one, after in zip(node.body, [*node.body[1:], None], strict=True):
                if isinstance(one, ast.Assign) and not (
                    isinstance(after, ast.Expr)
                    and isinstance(after.value, ast.Constant)
                    and str(after.value.value).endswith(".")
                ):
                    yield f"{node.name}.{ast.unparse(one.targets[0])}"


def test_every_member_of_an_enumeration_has_a_meaning() -> None:
    names = {one.__name__ for one in enums.OpenEnum.__subclasses__()}
    assert len(names) >= 13
    assert [*members_without_a_meaning(enums, names)] == []
    assert [*members_without_a_meaning(kinds, {FaultKind.__name__})] == []


def members(cls: type) -> Iterator[tuple[str, Any]]:
    """Yield the public methods of a class, each with its name."""
    for name, member in inspect.getmembers(cls, callable):
        if name[0] != "_":
            yield f"{cls.__name__}.{name}", member


def public_calls() -> Iterator[tuple[str, Any]]:
    """Yield what a user calls with a client, and the calls of a journal that are no recorder's."""
    with Ferry("t", base_url="https://ferry.example") as ferry:
        for name in dir(ferry):
            cls = type(getattr(ferry, name))
            if name[0] != "_" and cls.__module__ == sync.__name__:
                yield from members(cls)
    yield from members(Ferry)
    for package in (orders, aftersales):
        for name in package.__all__:
            if not inspect.isclass(call := getattr(package, name)):
                yield name, call
    yield from members(aftersales.Reconciliation)
    of_the_engine = re.compile(r"begin|end|after_fork|(load|save)_\w+")
    for name, call in members(Journal):
        if not of_the_engine.fullmatch(name.partition(".")[2]):
            yield name, call


def test_every_call_has_an_example() -> None:
    calls = [*public_calls()]
    assert len(calls) > 60
    assert [name for name, call in calls if "Example:\n" not in (inspect.getdoc(call) or "")] == []
