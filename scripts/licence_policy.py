"""Check that the core depends only on packages with permissive licences.

Usage: licence_policy.py FILE, a list made by pip-licenses in JSON
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

PERMISSIVE = re.compile(
    r"MIT|MIT License|0BSD|BSD( License|-[023]-Clause)?|Apache(-2\.0| License 2\.0"
    r"| Software License)|ISC|PSF-2\.0|Python Software Foundation License|Unlicense",
)
ACCEPTED = {
    # The Mozilla Public License covers its own files, here a list of certificates, unchanged.
    "certifi": "Mozilla Public License 2.0 (MPL 2.0)",
}


def forbidden(listed: list[dict[str, str]]) -> list[str]:
    """Describe each package whose licence is neither permissive nor accepted by name."""
    found: list[str] = []
    for package in listed:
        name = package["Name"]
        licence = package["License"]
        if ACCEPTED.get(name) != licence and not is_permissive(licence):
            found.append(f"{name}: {licence}")
    return found


def is_permissive(licence: str) -> bool:
    """Return whether all licences of a package are permissive; of those joined with OR, one."""
    return all(has_permissive_choice(part) for part in re.split(r"; | AND ", licence))


def has_permissive_choice(licences: str) -> bool:
    """Return whether one of the licences joined with OR is permissive."""
    choices = [choice.strip(" ()") for choice in licences.split(" OR ")]
    return any(PERMISSIVE.fullmatch(choice) for choice in choices)


if __name__ == "__main__":
    packages = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    if found := forbidden(packages):
        sys.exit("\n".join(["The core depends on what is not permissive:", *found]))
    print(f"{len(packages)} packages, all with a licence that is accepted.")
