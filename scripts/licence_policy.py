"""Check that whoever installs the core gets permissive licences only.

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
    """Describe each package whose licence is not permissive, and not accepted by name.

    Of licences joined with OR, one that is permissive is enough.
    """
    return [
        f"{one['Name']}: {one['License']}"
        for one in listed
        if ACCEPTED.get(one["Name"]) != one["License"]
        and not all(
            any(PERMISSIVE.fullmatch(choice.strip(" ()")) for choice in part.split(" OR "))
            for part in re.split(r"; | AND ", one["License"])
        )
    ]


if __name__ == "__main__":
    packages = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    if found := forbidden(packages):
        sys.exit("\n".join(["The core depends on what is not permissive:", *found]))
    print(f"{len(packages)} packages, all with a licence that is accepted.")
