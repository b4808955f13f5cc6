"""The small changes that `scripts/mutate` makes: each is a piece of source in another's place."""

from __future__ import annotations

import ast
from collections import Counter
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_SWAPPED: dict[type[ast.AST], str] = {
    ast.Lt: "<=",
    ast.LtE: "<",
    ast.Gt: ">=",
    ast.GtE: ">",
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.Is: "is not",
    ast.IsNot: "is",
    ast.In: "not in",
    ast.NotIn: "in",
}
_STATES = {
    "not_sent": "unknown",
    "unknown": "not_sent",
    "rejected": "not_sent",
    "done": "unknown",
    "open": "done",
    "lost": "not_sent",
    "rate_limited": "lost",
    "unauthorised": "lost",
}
_FOR_PEOPLE = ("logger.", "warnings.", "logging.")
"""Calls that only inform people are not changed."""


@dataclass(frozen=True)
class Mutation:
    """One change of one module.

    Attributes:
        module: Its path in the package, without its suffix.
        function: Where in it the change is made.
        old: The source that is replaced.
        new: What takes its place.
        number: Which of the equal ones of the function it is.
        start: Where it begins, in characters.
        end: Where it ends.
    """

    module: str
    function: str
    old: str
    new: str
    number: int
    start: int
    end: int

    @property
    def change(self) -> str:
        """The old source and the new one, such as ``a < b -> a <= b``."""
        again = f" #{self.number}" if self.number > 1 else ""
        return f"{' '.join(self.old.split())} -> {self.new}{again}"

    @property
    def key(self) -> str:
        """The text that identifies it, wherever in its module the function stands."""
        return f"{self.module} {self.function}: {self.change}"

    def apply(self, source: str) -> str:
        """Return the source of the module with the change."""
        return source[: self.start] + self.new + source[self.end :]


def mutations_of(path: Path, module: str) -> list[Mutation]:
    """Return every mutation of a module, in the order of its source."""
    source = _Source(path.read_text())
    found: list[Mutation] = []
    seen: Counter[tuple[str, str, str]] = Counter()
    for function, node, new in _changes(ast.parse(source.text), source, ""):
        start, end = source.place(node)
        old = source.text[start:end]
        seen[function, old, new] += 1
        found.append(
            Mutation(
                module=module,
                function=function,
                old=old,
                new=new,
                number=seen[function, old, new],
                start=start,
                end=end,
            )
        )
    return found


class _Source:
    """The source of a module, and the place of a node in it. The tree counts bytes of lines.

    Args:
        text: The source.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self._lines = text.splitlines(keepends=True)
        self._starts = [0, *accumulate(map(len, self._lines))]

    def place(self, node: ast.AST) -> tuple[int, int]:
        """Return where a node begins and ends, in characters."""
        return (
            self._position(node.lineno, node.col_offset),
            self._position(node.end_lineno, node.end_col_offset),
        )

    def of(self, node: ast.AST) -> str:
        """Return the source of a node."""
        start, end = self.place(node)
        return self.text[start:end]

    def part(self, node: ast.expr) -> str:
        """Return the source of a part of a condition, in parentheses if it needs them."""
        needs_them = isinstance(node, ast.YieldFrom | ast.NamedExpr | ast.IfExp | ast.Lambda)
        return f"({self.of(node)})" if needs_them else self.of(node)

    def _position(self, line: int, column: int) -> int:
        return self._starts[line - 1] + len(self._lines[line - 1].encode()[:column].decode())


def _changes(node: ast.AST, source: _Source, function: str) -> Iterator[tuple[str, ast.AST, str]]:
    """Yield each node that can be changed, with its function and its replacement."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        function = f"{function}.{node.name}".lstrip(".")
    if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
        return
    if isinstance(node, ast.Assert):
        return  # it informs a type checker
    if isinstance(node, ast.Subscript) and ast.unparse(node.value) == "Literal":
        return  # a type, which is not checked at run time

    for new in _replacements(node, source):
        yield function or "(module)", node, new
    if isinstance(node, ast.If | ast.IfExp | ast.While) and not isinstance(
        node.test, ast.Compare | ast.BoolOp | ast.UnaryOp | ast.Constant
    ):
        yield function or "(module)", node.test, f"not ({ast.unparse(node.test)})"
    for child in _children(node):
        yield from _changes(child, source, function)


def _children(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the parts of a node that may be changed: no types and no texts for people."""
    for name, value in ast.iter_fields(node):
        if name in {"annotation", "returns", "decorator_list", "bases", "type_params"}:
            continue
        children = value if isinstance(value, list) else [value]
        for child in children:
            if isinstance(child, ast.AST) and not _is_for_people(child):
                yield child


def _is_for_people(node: ast.AST) -> bool:
    """Return whether a node is a text, or only informs people."""
    if isinstance(node, ast.JoinedStr):
        return True
    if not isinstance(node, ast.Expr):
        return False
    if isinstance(node.value, ast.Constant):
        return True
    return isinstance(node.value, ast.Call) and ast.unparse(node.value).startswith(_FOR_PEOPLE)


def _replacements(node: ast.AST, source: _Source) -> Iterator[str]:  # noqa: C901 -- one case a kind
    match node:
        case ast.Compare(ops=[operator]):
            left = source.of(node.left)
            right = source.of(node.comparators[0])
            yield f"{left} {_SWAPPED[type(operator)]} {right}"
        case ast.BoolOp():
            word = " or " if isinstance(node.op, ast.And) else " and "
            yield f"({word.join(map(source.part, node.values))})"
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield f"({source.of(operand)})"
        case ast.Constant(value=bool(value)):
            yield str(not value)
        case ast.Constant(value=int() | float()):
            yield f"({source.of(node)} + 1)"
        case ast.Constant(value=str(value)) if value in _STATES:
            yield repr(_STATES[value]).replace("'", '"')
        case ast.Raise() | ast.AugAssign():
            yield "pass"
        case ast.Expr(value=ast.Call() | ast.YieldFrom()):
            yield "pass"
        case ast.Assign(targets=[ast.Attribute()]):
            yield "pass"
        case ast.Return(value=ast.expr() as value) if not isinstance(value, ast.Constant):
            yield "return None"
        case _:
            pass
