"""Name what a change breaks for users: the public surface, against a revision of the repository.

Usage: breaking_changes.py REVISION [REPOSITORY]
"""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import griffe

if TYPE_CHECKING:
    from collections.abc import Iterator

FRONT_DOORS = (
    "ferry_sdk",
    "ferry_sdk.aftersales",
    "ferry_sdk.agents",
    "ferry_sdk.conformance",
    "ferry_sdk.journal",
    "ferry_sdk.models",
    "ferry_sdk.notebook",
    "ferry_sdk.offers",
    "ferry_sdk.orders",
    "ferry_sdk.otel",
    "ferry_sdk.sandbox",
    "ferry_sdk.scan",
)
"""What these name in `__all__` is public."""
BEHIND_THEM = "ferry_sdk.resources"
"""And so is what the groups of a client can be asked."""


def public(package: griffe.Module) -> Iterator[str]:
    """List where the public things are written down, and the classes that they are made of."""
    yield BEHIND_THEM
    for door in FRONT_DOORS:
        path = door.partition(".")[2]
        module = package[path] if path else package
        for name in module.exports or ():
            thing = (
                module[str(name)].final_target if module[str(name)].is_alias else module[str(name)]
            )
            yield thing.canonical_path
            if isinstance(thing, griffe.Class):
                yield from (kind.canonical_path for kind in thing.mro())


def is_public(path: str, places: set[str]) -> bool:
    """Say whether a thing is public, or a part of what is."""
    parts = path.split(".")
    if parts[-1].startswith("_") and not parts[-1].endswith("__"):
        return False
    return any(".".join(parts[:length]) in places for length in range(1, len(parts) + 1))


def broken(revision: str, repository: Path) -> Iterator[str]:
    """Describe each public thing that works no more as it did at the revision."""
    old = griffe.load_git("ferry_sdk", ref=revision, repo=repository)
    new = griffe.load("ferry_sdk", search_paths=[repository], try_relative_path=False)
    if not isinstance(old, griffe.Module) or not isinstance(new, griffe.Module):
        sys.exit("ferry_sdk is not a package there.")
    places = {*public(old)}
    for breakage in griffe.find_breaking_changes(old, new):
        if is_public(breakage.obj.canonical_path, places):
            said = [getattr(one, "name", "") for one in (breakage.old_value, breakage.new_value)]
            about = f" ({' -> '.join(filter(None, said))})" if any(said) else ""
            yield f"{breakage.obj.path}: {breakage.kind.value}{about}"


def main(revision: str, repository: str = ".") -> None:
    """Print what is broken, and fail if anything is."""
    logging.getLogger("griffe").setLevel(logging.ERROR)
    found = [*dict.fromkeys(broken(revision, Path(repository)))]
    if found:
        sys.exit("\n".join([*found, f"That breaks what {revision} promised."]))
    print(f"Nothing public is broken since {revision}.")


if __name__ == "__main__":
    main(*sys.argv[1:])
