"""Print which public names no longer work as they did at a revision of the repository.

Usage: breaking_changes.py REVISION [REPOSITORY]
"""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import griffe

from scripts.public_names import PACKAGES

if TYPE_CHECKING:
    from collections.abc import Iterator

GROUPS = "ferry_sdk.resources"
"""The methods of a client's groups are public, too."""


def public_paths(package: griffe.Module) -> Iterator[str]:
    """Yield the path of each public name, and those of the classes that it inherits from."""
    yield GROUPS
    for name_of_package in PACKAGES:
        path = name_of_package.partition(".")[2]
        module = package[path] if path else package
        for name in module.exports or ():
            member = module[str(name)]
            if member.is_alias:
                member = member.final_target
            yield member.canonical_path
            if isinstance(member, griffe.Class):
                yield from (parent.canonical_path for parent in member.mro())


def is_public(path: str, public: set[str]) -> bool:
    """Return whether a path is public, or one of a member of a public class or module."""
    parts = path.split(".")
    if parts[-1].startswith("_") and not parts[-1].endswith("__"):
        return False
    return any(".".join(parts[:length]) in public for length in range(1, len(parts) + 1))


def find_breaking_changes(revision: str, repository: Path) -> Iterator[str]:
    """Describe each public name that does not work as it did at the revision."""
    old = griffe.load_git("ferry_sdk", ref=revision, repo=repository)
    new = griffe.load("ferry_sdk", search_paths=[repository], try_relative_path=False)
    if not isinstance(old, griffe.Module) or not isinstance(new, griffe.Module):
        sys.exit("ferry_sdk is not a package there.")

    public = {*public_paths(old)}
    for breakage in griffe.find_breaking_changes(old, new):
        if is_public(breakage.obj.canonical_path, public):
            values = (breakage.old_value, breakage.new_value)
            names = [value.name for value in values if getattr(value, "name", "")]
            about = f" ({' -> '.join(names)})" if names else ""
            yield f"{breakage.obj.path}: {breakage.kind.value}{about}"


def main(revision: str, repository: str = ".") -> None:
    """Print the breaking changes, and fail if there are any."""
    logging.getLogger("griffe").setLevel(logging.ERROR)
    found = [*dict.fromkeys(find_breaking_changes(revision, Path(repository)))]
    if found:
        sys.exit("\n".join([*found, f"That breaks what {revision} promised."]))
    print(f"Nothing public is broken since {revision}.")


if __name__ == "__main__":
    main(*sys.argv[1:])
