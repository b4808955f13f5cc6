"""Print the lines of code of each package: without blanks, comments, docstrings and imports.

Usage: count_lines.py [FOLDER]
"""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
_NO_CODE = {
    tokenize.COMMENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
    tokenize.INDENT,
    tokenize.NEWLINE,
    tokenize.NL,
}


def count_code(source: str) -> int:
    """Return the number of lines of a module that hold code."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in _NO_CODE:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import | ast.ImportFrom) or (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        ):
            lines.difference_update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return len(lines)


def main() -> None:
    """Print the packages inside the folder with their lines, and the sum."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "ferry_sdk"
    lines: Counter[str] = Counter()
    for path in folder.rglob("*.py"):
        first, *rest = path.relative_to(folder).parts
        lines[first if rest else "."] += count_code(path.read_text(encoding="utf-8"))
    for package, number in sorted(lines.items()):
        print(f"{number:7,}  {package}")
    print(f"{lines.total():7,}  all")


if __name__ == "__main__":
    main()
