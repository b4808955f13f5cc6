"""Print what pyproject.toml asks for: all of it, or the lowest version of what users install.

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


def used(written: dict[str, Any]) -> list[str]:
    """Name what the library and its extras ask for, in the words of pyproject.toml."""
    project = written["project"]
    asked = [*project["dependencies"]]
    for extra in project["optional-dependencies"].values():
        asked += extra
    return [one for one in asked if Requirement(one).name != project["name"]]


def grouped(written: dict[str, Any]) -> list[str]:
    """Name what development asks for."""
    groups = written["dependency-groups"].values()
    return [one for group in groups for one in group if isinstance(one, str)]


def lowest(requirements: Iterable[str]) -> list[str]:
    """Pin each to the lowest version that is allowed; where several say one, to the highest."""
    found: dict[tuple[str, Marker | None], Version] = {}
    for requirement in map(Requirement, requirements):
        said = [Version(one.version) for one in requirement.specifier if one.operator == ">="]
        if not said:
            sys.exit(f"pyproject.toml says no lowest version of {requirement.name}.")
        which = (requirement.name, requirement.marker)
        found[which] = max(said[0], found.get(which, said[0]))
    return [
        f"{name}=={version}" + (f"; {marker}" if marker else "")
        for (name, marker), version in found.items()
    ]


def main(*arguments: str) -> None:
    """Print them, a line each."""
    written = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    if "--lowest" in arguments:
        tested = [*used(written), *written["dependency-groups"]["test"]]
        lines = lowest(tested)
    else:
        lines = [*used(written), *grouped(written), *written["build-system"]["requires"]]
    print(*lines, sep="\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
