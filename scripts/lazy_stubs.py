"""Write the stubs of the packages that load their public names on first use, from their tables.

Usage: lazy_stubs.py [--check]
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

from ferry_sdk._runtime.lazy import TABLES

ROOT = Path(__file__).parents[1]
PACKAGES = ("ferry_sdk", "ferry_sdk.models", "ferry_sdk.sandbox")
HIDDEN = {"Records"}
"""Names that Jedi does not find in a stub: in a session it then asks a list for its records."""
HEAD = "# scripts/api-map writes this file from the table in `__init__.py`.\n\n"


def modules(package: str) -> dict[str, list[str]]:
    """Return the public names of each module of a package, by its table."""
    import_module(package)
    return {f"{package}.{module}": names for module, names in TABLES[package].items()}


def folder_of(package: str) -> Path:
    """Return the folder of a package."""
    return ROOT.joinpath(*package.split("."))


def stub(package: str) -> str:
    """Return the stub of a package; Jedi finds a name in it only if it is imported with `as`."""
    homes = modules(package)
    imports = "".join(
        f"from {module} import {name}" + ("\n" if name in HIDDEN else f" as {name}\n")
        for module, names in homes.items()
        for name in names
    )
    every_name = sorted(name for names in homes.values() for name in names)
    listed = "".join(f'    "{name}",\n' for name in every_name)
    return f"{HEAD}{imports}\n__all__ = [\n{listed}]\n"


def main(*arguments: str) -> None:
    """Write the stubs, or check what is there."""
    for package in PACKAGES:
        path, text = folder_of(package) / "__init__.pyi", stub(package)
        if "--check" not in arguments:
            path.write_text(text, encoding="utf-8")
        elif not path.is_file() or path.read_text(encoding="utf-8") != text:
            sys.exit(f"{path.relative_to(ROOT)} differs from its table; run scripts/api-map.")


if __name__ == "__main__":
    main(*sys.argv[1:])
