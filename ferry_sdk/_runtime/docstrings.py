"""The docstrings of the library, also under ``python -OO``, which removes them from the code.

Schemas, tools and the help of commands take their texts from docstrings. Without them, they are
read from the source of the module: ``docstring_of(Bookings.create)`` looks for the text of
``Bookings.create`` in ``ferry_sdk/resources/bookings.py``.
"""

from __future__ import annotations

import ast
import sys
from functools import cache
from inspect import cleandoc
from typing import Any, Final, cast

_NO_DOCSTRINGS: Final = 2
"""The level of optimisation from which on the code has no docstrings."""
_Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def docstring_of(thing: object) -> str:
    """Return the docstring of a class or a function without its indentation; empty without one."""
    if sys.flags.optimize < _NO_DOCSTRINGS:
        return cleandoc(getattr(thing, "__doc__", None) or "")
    # `dataclass` has given its classes another text, because it found none.
    module: str = getattr(thing, "__module__", "")
    return cleandoc(_docstrings(module).get(getattr(thing, "__qualname__", ""), ""))


@cache
def _docstrings(module: str) -> dict[str, str]:
    """Return the docstrings of a module's classes and functions, by their qualified names."""
    spec = getattr(sys.modules.get(module), "__spec__", None)
    loader: Any = getattr(spec, "loader", None)
    get_source = getattr(loader, "get_source", None)  # a frozen program may have none
    source: str | None = None if get_source is None else get_source(module)
    if source is None:
        return {}

    # Not `ast.parse`: under -OO it leaves docstrings out since Python 3.14.
    parsed = compile(source, module, "exec", flags=ast.PyCF_ONLY_AST, optimize=0)

    docstrings: dict[str, str] = {}
    pending: list[tuple[str, _Documented]] = [("", cast("ast.Module", parsed))]
    while pending:
        prefix, parent = pending.pop()
        for node in parent.body:
            if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                docstrings[f"{prefix}{node.name}"] = ast.get_docstring(node, clean=False) or ""
                pending.append((f"{prefix}{node.name}.", node))
    return docstrings
