"""Check that an SBOM names the library with its version, and what pyproject.toml asks for.

Usage: python -m scripts.sbom_contents FILE, a CycloneDX document in JSON
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from ferry_sdk import __version__
from scripts.requirements import ROOT, requirements_of_users, tomllib

INSTALLERS = {"pip", "setuptools", "wheel"}
"""What an environment starts with."""


def faults(sbom: dict[str, Any], required: list[str], version: str) -> list[str]:
    """Say what is wrong with an SBOM."""
    library = sbom["metadata"]["component"]
    found = {canonicalize_name(one["name"]) for one in sbom["components"]}
    needed = {canonicalize_name(one.name) for one in map(Requirement, required) if applies(one)}

    described = f"{library['name']} {library.get('version')}"
    problems = [] if described == f"ferry-sdk {version}" else [f"the SBOM is of {described}"]
    problems += [f"the SBOM lacks {name}" for name in sorted(needed - found)]
    problems += [f"the SBOM should not name {name}" for name in sorted(found & INSTALLERS)]
    return problems


def applies(requirement: Requirement) -> bool:
    """Say whether this Python needs a requirement."""
    return requirement.marker is None or requirement.marker.evaluate()


def main(file: Path) -> None:
    """Check a file."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    sbom = json.loads(file.read_text("utf-8"))
    if found := faults(sbom, requirements_of_users(project), __version__):
        sys.exit("\n".join(found))
    print(f"{len(sbom['components'])} packages in the SBOM of ferry-sdk {__version__}.")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
