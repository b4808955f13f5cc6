"""Ask pip-audit for known vulnerabilities of what requirements-dev.lock names.

Usage: audit.py [--required]: with it, not being able to ask is a failure.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

UNREACHABLE = "Skipped: the index of known vulnerabilities cannot be reached from here."


def audited(printed: str) -> list[dict[str, Any]] | None:
    """Read what pip-audit found of each package; None where it could ask about none of them."""
    try:
        packages: list[dict[str, Any]] = json.loads(printed)["dependencies"]
    except ValueError:
        return None
    return packages if any("vulns" in one for one in packages) else None


def faults(packages: list[dict[str, Any]]) -> list[str]:
    """Describe each known vulnerability, and each package that could not be asked about."""
    found = [
        f"{one['name']} {one['version']}: {flaw['id']}, mended in {flaw['fix_versions']}"
        for one in packages
        for flaw in one.get("vulns", ())
    ]
    return found + [one["skip_reason"] for one in packages if "skip_reason" in one]


def main(*arguments: str) -> None:
    """Print what is known, and fail if anything is."""
    command = ["pip_audit", "--require-hashes", "--disable-pip", "--format", "json"]
    done = subprocess.run(  # noqa: S603 -- a tool of this environment
        [sys.executable, "-m", *command, "--requirement", "requirements-dev.lock"],
        capture_output=True,
        check=False,
        text=True,
    )
    packages = audited(done.stdout)
    if packages is not None:
        if found := faults(packages):
            sys.exit("\n".join(found))
        print(f"{len(packages)} packages, no known vulnerability.")
    elif done.stdout or "requests.exceptions." in done.stderr:
        if "--required" in arguments:
            sys.exit(UNREACHABLE)
        print(UNREACHABLE)
    else:
        sys.exit(done.stderr)


if __name__ == "__main__":
    main(*sys.argv[1:])
