"""Add public names to the pages of the reference; name what else a name or a method lacks.

Usage: public_names.py [--check]
"""

from __future__ import annotations

import re
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.support.operations import OPERATIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

ROOT = Path(__file__).parents[1]
REFERENCE = ROOT / "docs" / "reference"
PACKAGES = (
    "ferry_sdk",
    "ferry_sdk.models",
    "ferry_sdk.aftersales",
    "ferry_sdk.agents",
    "ferry_sdk.conformance",
    "ferry_sdk.journal",
    "ferry_sdk.notebook",
    "ferry_sdk.offers",
    "ferry_sdk.orders",
    "ferry_sdk.otel",
    "ferry_sdk.sandbox",
    "ferry_sdk.scan",
)
"""The packages whose `__all__` is public; a name of several is documented in the first."""

WITHOUT_ENDPOINT = {
    "bookings.wait",
    "tickets.cancel_fee",
    "tickets.wait_pdf",
    "tickets.save_pdf",
    "tickets.read_pdf",
    "mcp.call_tool",
    "mcp.read_resource",
}
"""Methods that call the endpoint of another, or one that the caller names."""


def has_endpoint(operation: str) -> bool:
    """Return whether a method has an endpoint of its own."""
    return operation not in WITHOUT_ENDPOINT


def has_handler(operation: str) -> bool:
    """Return whether the local service performs a method, and not the protocol MCP itself."""
    return has_endpoint(operation) and operation not in {"mcp.list_tools", "mcp.list_resources"}


FILES: dict[str, tuple[str, Callable[[str], bool]]] = {
    "ferry_sdk/_engine/safety.py": ("the row of", lambda _: True),
    "ferry_sdk/sandbox/operations.py": ("the row of", has_endpoint),
    "ferry_sdk/sandbox/handlers.py": ("the row of", has_handler),
    "ferry_sdk/sandbox/responses/operations.py": ("the row of", has_handler),
}
"""The files that name methods, and which of them."""


def pages() -> dict[str, str]:
    """Return the page of the reference that shows each public name."""
    page_by_path: dict[str, str] = {}
    for page in sorted(REFERENCE.glob("*.md")):
        for path in re.findall(r"^::: (\S+)$", page.read_text("utf-8"), re.MULTILINE):
            page_by_path[path] = page.name
    return page_by_path


def public_names() -> Iterator[tuple[str, Any]]:
    """Yield the path and the value of each public name, once."""
    seen: set[str] = set()
    for package in map(import_module, PACKAGES):
        for name in package.__all__:
            if name not in seen:
                seen.add(name)
                yield f"{package.__name__}.{name}", getattr(package, name, None)


def find_undocumented() -> Iterator[tuple[str, str]]:
    """Yield each public name that is in no page of the reference, and the page it belongs to.

    That is the page with the name of its module, or one that shows another name of its module.
    """
    shown = pages()
    names = dict(public_names())
    page_of = {
        getattr(value, "__module__", ""): shown[path]
        for path, value in names.items()
        if path in shown
    }
    for path, value in names.items():
        if value is not None and path not in shown:
            module = getattr(value, "__module__", "")
            page = f"{module.rpartition('.')[2]}.md"
            if not (REFERENCE / page).is_file():
                page = page_of.get(module, "")
            yield path, page


def missing_names() -> Iterator[str]:
    """Yield a sentence for each public name without a module or a place in the reference."""
    for path, value in public_names():
        if value is None:
            package, _, name = path.rpartition(".")
            yield f"{package.replace('.', '/')}/__init__.py: {name} is in no module that it names"
    for path, page in find_undocumented():
        yield f"docs/reference/{page}: add ::: {path}"


def missing_operations(operations: Iterable[str]) -> Iterator[str]:
    """Yield a sentence for each method that a file should name and does not."""
    for file, (what, is_concerned) in FILES.items():
        names = re.findall(r"[\w.]+", (ROOT / file).read_text("utf-8"))
        for operation in operations:
            if is_concerned(operation) and operation not in names:
                yield f"{file}: add {what} {operation}"


def main(*arguments: str) -> None:
    """Complete the reference, unless ``--check`` is given; fail if something is missing."""
    if "--check" not in arguments:
        for path, page in find_undocumented():
            if page:
                with REFERENCE.joinpath(page).open("a", encoding="utf-8") as file:
                    file.write(f"\n::: {path}\n")
    sys.exit("\n".join([*missing_names(), *missing_operations(OPERATIONS)]) or None)


if __name__ == "__main__":
    main(*sys.argv[1:])
