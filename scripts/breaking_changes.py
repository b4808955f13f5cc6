"""Print what is public and no longer works as it did at a revision of the repository.

Usage: breaking_changes.py REVISION [REPOSITORY]

Names are compared by griffe. The JSON that users read, which commands print with `--json`, events
and tools have, and records are dumped to, is compared by the golden files in `tests/golden`: those
of the newest version at the revision with those of the newest version now.
"""

from __future__ import annotations

import json
import logging
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import griffe

from scripts.public_names import PACKAGES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

GROUPS = "ferry_sdk.resources"
"""The methods of a client's groups are public, too."""
GOLDEN = "tests/golden"
VERSION = re.compile(r"\d+\.\d+\.\d+")
WITH_MEMBERS = re.compile(r"(commands/|events/).+\.json|tools\.json|records\.json")
"""The golden files whose members users read."""
Types = dict[str, set[str]]
"""The types of each member of a document, by its path, such as ``trips[].price``."""


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


def types_of(document: object) -> Types:
    """Return the types of each member of a JSON document."""
    types: Types = defaultdict(set)
    _add_types(document, "", types)
    return types


def _add_types(value: Any, path: str, types: Types) -> None:  # noqa: ANN401 -- decoded JSON
    match value:
        case dict():
            types[path].add("object")
            for name, member in value.items():
                _add_types(member, f"{path}.{name}".lstrip("."), types)
        case list():
            types[path].add("array")
            for element in value:
                _add_types(element, f"{path}[]", types)
        case None:
            types[path].add("null")
        case bool():
            types[path].add("boolean")
        case str():
            types[path].add("string")
        case _:
            types[path].add("number")


def changed_members(old: object, new: object) -> Iterator[str]:
    """Describe each member of a document that has vanished, or has other types."""
    new_types = types_of(new)
    vanished = "?"
    for path, types in types_of(old).items():
        if path.startswith((f"{vanished}.", f"{vanished}[")):
            continue  # it has vanished with the member that it is in
        if path not in new_types:
            vanished = path
            yield f"{path}: the member has vanished"
        elif types != new_types[path]:
            before, after = (" or ".join(sorted(each)) for each in (types, new_types[path]))
            yield f"{path}: the type has changed ({before} -> {after})"


def versions_in(names: Iterable[str]) -> list[str]:
    """Return the names of folders that are versions, the newest last."""
    versions = [name for name in names if VERSION.fullmatch(name)]
    return sorted(versions, key=lambda name: [int(part) for part in name.split(".")])


def broken_files(revision: str, repository: Path) -> Iterator[str]:
    """Describe each golden file that has changed, and each member that users miss."""

    def git(*arguments: str) -> str:
        command = ["git", "-C", str(repository), *arguments]
        done = subprocess.run(command, capture_output=True, encoding="utf-8", check=True)  # noqa: S603 -- git, with words of this file
        return done.stdout

    listed = git("ls-tree", "-r", "--name-only", revision, f"{GOLDEN}/").splitlines()
    old_files = {file: file.removeprefix(f"{GOLDEN}/").partition("/")[::2] for file in listed}
    released = versions_in({version for version, _ in old_files.values()})
    if not released:
        return

    for file in git("diff", "--name-only", "--no-renames", revision, "--", GOLDEN).splitlines():
        if file in old_files and old_files[file][0] in released:
            yield f"{file}: a golden file has changed"

    newest = versions_in(path.name for path in (repository / GOLDEN).iterdir())[-1]
    for file, (version, name) in old_files.items():
        path = repository / GOLDEN / newest / name
        if version != released[-1] or not WITH_MEMBERS.fullmatch(name):
            continue
        if not path.is_file():
            yield f"{name}: the document has vanished"
            continue
        old = json.loads(git("show", f"{revision}:{file}"))
        for problem in changed_members(old, json.loads(path.read_text("utf-8"))):
            yield f"{name}: {problem}"


def find_breaking_changes(revision: str, repository: Path) -> Iterator[str]:
    """Describe each public name and member that does not work as it did at the revision."""
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
    yield from broken_files(revision, repository)


def main(revision: str, repository: str = ".") -> None:
    """Print the breaking changes, and fail if there are any."""
    logging.getLogger("griffe").setLevel(logging.ERROR)
    found = [*dict.fromkeys(find_breaking_changes(revision, Path(repository)))]
    if found:
        sys.exit("\n".join([*found, f"That breaks what {revision} promised."]))
    print(f"Nothing public is broken since {revision}.")


if __name__ == "__main__":
    main(*sys.argv[1:])
