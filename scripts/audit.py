"""Ask pip-audit for known vulnerabilities of the packages in requirements-dev.lock.

Usage: audit.py [--required]: with it, an index that cannot be reached is a failure.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

UNREACHABLE = "Skipped: the index of known vulnerabilities cannot be reached from here."


def parse_audit(printed: str) -> list[dict[str, Any]] | None:
    """Return what pip-audit found of each package; None if it could ask about none of them."""
    try:
        packages: list[dict[str, Any]] = json.loads(printed)["dependencies"]
    except ValueError:
        return None
    return packages if any("vulns" in package for package in packages) else None


def flaws_of(package: dict[str, Any]) -> list[str]:
    """Describe each known vulnerability of a package."""
    return [
        f"{package['name']} {package['version']}: {flaw['id']}, mended in {flaw['fix_versions']}"
        for flaw in package.get("vulns", ())
    ]


def faults(packages: list[dict[str, Any]]) -> list[str]:
    """Describe each known vulnerability, and each package that could not be asked about."""
    found: list[str] = []
    for package in packages:
        found += flaws_of(package)
    return found + [package["skip_reason"] for package in packages if "skip_reason" in package]


def main(*arguments: str) -> None:
    """Print the known vulnerabilities, and fail if there are any."""
    command = ["pip_audit", "--require-hashes", "--disable-pip", "--format", "json"]
    done = subprocess.run(  # noqa: S603 -- a tool of this environment
        [sys.executable, "-m", *command, "--requirement", "requirements-dev.lock"],
        capture_output=True,
        check=False,
        text=True,
    )

    packages = parse_audit(done.stdout)
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
