"""Docstrings say what a value of an enumeration means, and show an example of each call."""

import ast
import inspect
import re
from pathlib import Path

from ferry_sdk.models import enums
from ferry_sdk.sandbox import FaultKind
from ferry_sdk.sandbox.faults import kinds
from tests.support.reference import PAGES, shown_on
from tests.support.tables import each


def members_without_a_meaning(module, names):
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


def test_every_member_of_an_enumeration_has_a_meaning():
    names = {one.__name__ for one in enums.OpenEnum.__subclasses__()}
    assert len(names) >= 13
    assert [*members_without_a_meaning(enums, names)] == []
    assert [*members_without_a_meaning(kinds, {FaultKind.__name__})] == []


@each("page", PAGES)
def test_every_call_has_an_example(page):
    example = ""
    for name, shown, text in shown_on(page):
        own = text.partition("Example:\n")[2]
        _, dot, method = name.partition(".")
        if not dot:
            example = own
        if callable(shown) and not inspect.isclass(shown):
            assert own or (dot and re.search(rf"\b{method}\(", example)), name
