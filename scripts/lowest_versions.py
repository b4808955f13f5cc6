"""Print the lowest versions that pyproject.toml allows, as constraints for pip and uv."""

from __future__ import annotations

import sys
from pathlib import Path

from packaging.requirements import Requirement
from packaging.version import Version

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

written = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))
project = written["project"]
named = [*project["dependencies"], *written["dependency-groups"]["test"]]
for extra in project["optional-dependencies"].values():
    named += extra

found: dict[str, Version] = {}
for requirement in map(Requirement, named):
    if requirement.name == project["name"]:
        continue
    lowest = [Version(one.version) for one in requirement.specifier if one.operator == ">="]
    if not lowest:
        sys.exit(f"pyproject.toml says no lowest version of {requirement.name}.")
    found[requirement.name] = max(lowest[0], found.get(requirement.name, lowest[0]))

for name, version in found.items():
    print(f"{name}=={version}")
