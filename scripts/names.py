"""Check the names of the package: modules are nouns, and no word has a second, private meaning.

The list of refused names is ``scripts/forbidden_names.toml``.

Usage: names.py
"""

from __future__ import annotations

import ast
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "ferry_sdk"
LIST = ROOT / "scripts" / "forbidden_names.toml"


def faults(path: Path, source: str, rules: dict[str, Any]) -> Iterator[str]:
    """Yield a line for each refused name of a module, and for the module's own name."""
    if path.stem.endswith("ing") and path.stem not in rules["modules_in_ing"]:
        yield f"{path}: a module is named by a noun, not by a word in -ing"
    seen: set[str] = set()
    for name, line in names_of(ast.parse(source)):
        term = rules["names"].get(name.strip("_").lower())
        if term is not None and name not in seen:
            seen.add(name)
            yield f"{path}:{line}: {name}: use a name with the standard term, such as {term}"


def names_of(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Yield every name that a module gives to something, with its line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name, node.lineno
        elif isinstance(node, ast.arg):
            yield node.arg, node.lineno
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id, node.lineno
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr, node.lineno
        elif isinstance(node, ast.alias) and node.asname:
            yield node.asname, 0


def main() -> int:
    """Print every refused name, and return 1 if there is one."""
    rules = tomllib.loads(LIST.read_text())
    found: list[str] = []
    for path in sorted(PACKAGE.rglob("*.py")):
        found += faults(path.relative_to(ROOT), path.read_text(), rules)
    print(*found, sep="\n", end="\n" if found else "")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
