"""Print the requirements in pyproject.toml: all, or the lowest versions of what users install.

Usage: requirements.py [--lowest]
"""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from packaging.requirements import Requirement
from packaging.version import Version

if TYPE_CHECKING:
    from collections.abc import Iterable

    from packaging.markers import Marker

ROOT = Path(__file__).parent.parent


def requirements_of_users(written: dict[str, Any]) -> list[str]:
    """Return the requirements of the library and its extras, as they stand in pyproject.toml."""
    project = written["project"]
    lines = [*project["dependencies"]]
    for extra in project["optional-dependencies"].values():
        lines += extra
    return [line for line in lines if Requirement(line).name != project["name"]]


def requirements_of_groups(written: dict[str, Any]) -> list[str]:
    """Return the requirements of development; a group may also include another one."""
    lines: list[str] = []
    for group in written["dependency-groups"].values():
        lines += [line for line in group if isinstance(line, str)]
    return lines


def lowest(requirements: Iterable[str]) -> list[str]:
    """Pin each to the lowest version that all of its requirements allow."""
    pinned: dict[tuple[str, Marker | None], Version] = {}
    for requirement in map(Requirement, requirements):
        bounds = [
            Version(specifier.version)
            for specifier in requirement.specifier
            if specifier.operator == ">="
        ]
        if not bounds:
            sys.exit(f"pyproject.toml has no lowest version of {requirement.name}.")

        key = (requirement.name, requirement.marker)
        pinned[key] = max(bounds[0], pinned.get(key, bounds[0]))

    lines: list[str] = []
    for (name, marker), version in pinned.items():
        line = f"{name}=={version}"
        lines.append(line if marker is None else f"{line}; {marker}")
    return lines


def main(*arguments: str) -> None:
    """Print the requirements, one a line."""
    written = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    if "--lowest" in arguments:
        tested = [*requirements_of_users(written), *written["dependency-groups"]["test"]]
        lines = lowest(tested)
    else:
        lines = [
            *requirements_of_users(written),
            *requirements_of_groups(written),
            *written["build-system"]["requires"],
        ]
    print(*lines, sep="\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
