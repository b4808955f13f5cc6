"""Print figures of how the code reads: the package's, and the tests'.

Another project's folders give its figures. The figures show places to look at. They are no limits,
and no check reads them.
"""

from __future__ import annotations

import argparse
import ast
import io
import tokenize
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

LONG = 12
"""Lines of code from which a function is long, and reads better in paragraphs."""
MANY = 5
"""Positional arguments from which a call needs names."""
DIRECTIVES = ("noqa", "type:", "pyright:", "mypy:", "pragma:")
"""What marks a comment as written for a tool."""
LAYOUT = (tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)
"""Tokens that hold no code."""

Function = ast.FunctionDef | ast.AsyncFunctionDef
Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


class Source:
    """A Python file.

    Attributes:
        nodes: All nodes of its tree.
        code: Where it has code: neither blank lines nor comments nor docstrings.
        comments: How many comments it has for people.
    """

    def __init__(self, path: Path) -> None:
        text = path.read_text(encoding="utf-8")
        self.nodes = list(ast.walk(ast.parse(text)))
        self.code: set[int] = set()
        self.comments = 0
        self._lines = text.splitlines()
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                self.comments += not any(word in token.string for word in DIRECTIVES)
            elif token.type not in LAYOUT:
                self.code.update(range(token.start[0], token.end[0] + 1))
        for docstring in self._docstrings():
            self.code.difference_update(lines_of(docstring))

    def functions(self) -> list[Function]:
        """Return all functions, also those within others."""
        return [node for node in self.nodes if isinstance(node, Function)]

    def is_long(self, function: Function) -> bool:
        """Return whether a function has so much code that a reader wants paragraphs."""
        return len(self.code.intersection(lines_of(function))) >= LONG

    def is_unbroken(self, function: Function) -> bool:
        """Return whether neither a blank line nor a comment divides the body of a function."""
        body = function.body
        first = body[1] if is_docstring(body[0]) and len(body) > 1 else body[0]
        lines = self._lines[first.lineno - 1 : body[-1].end_lineno]
        return all(line.strip() and not line.strip().startswith("#") for line in lines)

    def _docstrings(self) -> Iterator[ast.stmt]:
        """Yield the docstrings, also those that stand below an attribute."""
        for node in self.nodes:
            for statement in ast.iter_child_nodes(node):
                if isinstance(statement, ast.stmt) and is_docstring(statement):
                    yield statement


def lines_of(node: ast.stmt) -> range:
    """Return the numbers of the lines of a statement."""
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


def is_docstring(node: ast.stmt) -> bool:
    """Return whether a statement is only a text."""
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def is_nested(comprehension: ast.AST) -> bool:
    """Return whether a comprehension has two loops, or another comprehension within it."""
    loops = sum(isinstance(node, ast.comprehension) for node in ast.walk(comprehension))
    return loops > 1


def spreads_a_name(call: ast.Call) -> bool:
    """Return whether a call passes a tuple by its name, other than a function's own `*args`."""
    spread = [argument.value for argument in call.args if isinstance(argument, ast.Starred)]
    return any(isinstance(value, ast.Name) and value.id != "args" for value in spread)


def calls_a_builtin(call: ast.Call, *names: str) -> bool:
    """Return whether a call is of one of these functions."""
    return isinstance(call.func, ast.Name) and call.func.id in names


def assigns_pairs(node: ast.AST) -> bool:
    """Return whether a node is of the form `a, b = x, y`."""
    return (
        isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Tuple)
        and isinstance(node.value, ast.Tuple)
    )


def read(folder: Path) -> list[Source]:
    """Return the Python files of a folder and of its folders."""
    return [Source(path) for path in sorted(folder.rglob("*.py"))]


def rows_of_package(sources: list[Source]) -> Iterator[tuple[str, str]]:
    """Yield the figures of a package, each with its name."""
    lines = sum(len(source.code) for source in sources)
    nodes = [node for source in sources for node in source.nodes]
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    comprehensions = [node for node in nodes if isinstance(node, Comprehension)]
    is_unbroken = [
        source.is_unbroken(function)
        for source in sources
        for function in source.functions()
        if source.is_long(function)
    ]

    def rate(count: int) -> str:
        return f"{1000 * count / max(lines, 1):.1f}"

    yield "long functions without a blank line or comment", share(is_unbroken)
    yield "comments", rate(sum(source.comments for source in sources))
    yield (
        "calls with five or more positional arguments",
        rate(sum(len(call.args) >= MANY for call in calls)),
    )
    yield "calls with `*name`", rate(sum(map(spreads_a_name, calls)))
    yield "conditional expressions", rate(sum(isinstance(node, ast.IfExp) for node in nodes))
    yield "comprehensions", rate(len(comprehensions))
    yield "nested comprehensions", rate(sum(map(is_nested, comprehensions)))
    yield "lambdas", rate(sum(isinstance(node, ast.Lambda) for node in nodes))
    yield "`map` and `filter`", rate(sum(calls_a_builtin(call, "map", "filter") for call in calls))
    yield "`a, b = x, y`", rate(sum(map(assigns_pairs, nodes)))


def rows_of_tests(sources: list[Source]) -> Iterator[tuple[str, str]]:
    """Yield the figures of tests, each with its name."""
    tests = [
        function
        for source in sources
        for function in source.functions()
        if function.name.startswith("test_")
    ]
    nodes = [node for source in sources for node in source.nodes]
    loops = [any(isinstance(node, ast.For) for node in ast.walk(test)) for test in tests]
    words = [len(test.name.split("_")) - 1 for test in tests]
    spread = [node.value for node in nodes if isinstance(node, ast.Starred)]

    yield "tests", f"{len(tests):,}"
    yield "tests with a `for` loop", share(loops)
    yield "tests whose names have `and`", share(["_and_" in test.name for test in tests])
    yield "words in a test's name, median", f"{median(words or [0]):g}"
    yield (
        "stars over literals",
        str(sum(isinstance(value, ast.Tuple | ast.List) for value in spread)),
    )


def share(answers: list[bool]) -> str:
    """Return how many of the answers are yes."""
    return f"{100 * sum(answers) / max(len(answers), 1):.0f} %"


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables, the figures of a package for 1,000 lines of its code."""
    parser = argparse.ArgumentParser(prog="scripts/readability", description=__doc__)
    parser.add_argument(
        "package", nargs="?", type=Path, default="ferry_sdk", help="a folder of Python files"
    )
    parser.add_argument("tests", nargs="?", type=Path, default="tests", help="that of its tests")
    folders = parser.parse_args(arguments)

    for name, figure in rows_of_package(read(folders.package)):
        print(f"{figure:>8}  {name}")
    print()
    for name, figure in rows_of_tests(read(folders.tests)):
        print(f"{figure:>8}  {name}")


if __name__ == "__main__":
    main()
