"""Complete the stubs of the packages that load their public names on first use.

A name that `ferry_sdk` takes from a module of one of these packages is a name of that package too,
and `__all__` has every name. A new name needs one line: its import in the stub of `ferry_sdk`, or
of its own package.

Usage: lazy_stubs.py [--check]
"""

from __future__ import annotations

import sys
from pathlib import Path

from ferry_sdk._runtime.lazy import modules_by_name

ROOT = Path(__file__).parents[1]
PACKAGES = (
    "ferry_sdk",
    "ferry_sdk.agents",
    "ferry_sdk.models",
    "ferry_sdk.notebook",
    "ferry_sdk.sandbox",
)
HIDDEN = {"Records"}
"""Names that Jedi does not find in a stub: in a session it then asks a list for its records."""


def path_of(package: str) -> Path:
    """Return the path of a package's stub."""
    return ROOT.joinpath(*package.split("."), "__init__.pyi")


def stub(package: str) -> str:
    """Return the whole stub of a package; Jedi finds a name in it only if it has an `as`."""
    names: dict[str, str] = {}
    for one in (PACKAGES[0], package):
        names |= modules_by_name(path_of(one).read_text("utf-8"))
    own = {name: module for name, module in names.items() if module.startswith(f"{package}.")}
    lines: list[str] = []
    for name, module in own.items():
        line = f"from {module} import {name}"
        lines.append(line if name in HIDDEN else f"{line} as {name}")

    public = [f'    "{name}",' for name in sorted(own)]
    return "\n".join([*lines, "", "__all__ = [", *public, "]", ""])


def main(*arguments: str) -> None:
    """Write the stubs, or check what is there."""
    for package in PACKAGES:
        path = path_of(package)
        text = stub(package)
        if "--check" not in arguments:
            path.write_text(text, encoding="utf-8")
        elif not path.is_file() or path.read_text(encoding="utf-8") != text:
            sys.exit(f"{path.relative_to(ROOT)} is not complete; run scripts/api-map.")


if __name__ == "__main__":
    main(*sys.argv[1:])
