"""Check what a wheel and an sdist hold: everything they need, and nothing besides.

Usage: package_contents.py FOLDER
"""

from __future__ import annotations

import sys
import tarfile
import zipfile
from fnmatch import fnmatchcase
from pathlib import Path

ROOT = Path(__file__).parent.parent
SHIPPED = ("api.md", "benchmarks", "docs", "examples", "ferry_sdk", "scripts", "tests")
"""What the tests need to run from an unpacked sdist, and users to read."""

KINDS = {
    "ferry_sdk/*.py": "the code",
    "ferry_sdk/*.pyi": "names that load on first use, and signatures that editors show",
    "ferry_sdk/py.typed": "type checkers read the annotations",
    "ferry_sdk/.agents/skills/ferry-sdk/SKILL.md": "coding agents read how to use the library",
    "ferry_sdk/_engine/letters_and_months.json": "logs hide names and dates in all their spellings",
    "ferry_sdk/_runtime/money.json": "the decimals of currencies",
    "ferry_sdk/agents/mcp_server/approval_card.html": "a host shows it to the person who approves",
    "ferry_sdk/agents/mcp_server/handlers.json": "texts of the MCP server",
    "ferry_sdk/agents/policy/answers.json": "texts of the toolkit's answers",
    "ferry_sdk/agents/tools/*.json": "schemas of the tools",
    "ferry_sdk/notebook/coasts.json": "the coasts on maps",
    "ferry_sdk/planning/aliases.json": "names of towns that no catalogue has",
    "ferry_sdk/rate/schedule.lua": "Redis runs it for a shared rate",
    "ferry_sdk/sandbox/api/mcp/blocks.json": "contents that servers add to a result",
    "ferry_sdk/sandbox/api/openapi/*.css": "how the pages of the local service look",
    "ferry_sdk/sandbox/api/openapi/*.html": "the pages of the local service",
    "ferry_sdk/sandbox/api/openapi/*.js": "what the pages of the local service do",
    "ferry_sdk/sandbox/api/openapi/document.json": "clients in other languages are made of it",
    "ferry_sdk/sandbox/network/data/*.json": "ports, companies, routes and prices to develop with",
    "ferry_sdk/sandbox/requests/messages/*.json": "the local service's messages, by language",
    "*.dist-info/METADATA": "name, version, requirements and README",
    "*.dist-info/RECORD": "installers check the files and remove them",
    "*.dist-info/WHEEL": "installers read for which Pythons it is",
    "*.dist-info/entry_points.txt": "commands, the plugin of pytest, the hook of PyInstaller",
    "*.dist-info/licenses/LICENSE": "the licence asks to be passed on",
}
"""The kinds of files in a wheel, each with a reason why users get it; `*` also matches folders."""


def expected(name: str) -> set[str]:
    """List the files of a folder of the repository, or the file."""
    path = ROOT / name
    found = [path] if path.is_file() else path.rglob("*")
    return {
        one.relative_to(ROOT).as_posix()
        for one in found
        if one.is_file() and "__pycache__" not in one.parts
    }


def wheel_faults(names: set[str]) -> list[str]:
    """Say what is wrong with the files of a wheel."""
    faults = [f"the wheel lacks {name}" for name in sorted(expected("ferry_sdk") - names)]
    by_kind = {kind: {name for name in names if fnmatchcase(name, kind)} for kind in KINDS}
    faults += [f"the wheel has no {kind}: {KINDS[kind]}" for kind in KINDS if not by_kind[kind]]

    unexplained = names.difference(*by_kind.values())
    faults += [f"nothing says why users get {name}" for name in sorted(unexplained)]
    return faults


def sdist_faults(names: set[str]) -> list[str]:
    """Say what is wrong with the files of an sdist."""
    inside = {name.partition("/")[2] for name in names}
    wanted = set[str]().union(*map(expected, SHIPPED))
    faults = [f"the sdist lacks {name}" for name in sorted(wanted - inside)]
    folders = {name.partition("/")[0] for name in inside if "/" in name}
    faults += [f"the sdist should not bring {one}/" for one in sorted(folders - {*SHIPPED})]
    return faults


def main(folder: Path) -> None:
    """Check the one wheel and the one sdist of a folder."""
    (wheel,) = folder.glob("*.whl")
    (sdist,) = folder.glob("*.tar.gz")
    with zipfile.ZipFile(wheel) as archive:
        in_wheel = {one.filename for one in archive.infolist() if not one.is_dir()}
    with tarfile.open(sdist) as tar:
        in_sdist = {one.name for one in tar.getmembers() if one.isfile()}
    faults = wheel_faults(in_wheel) + sdist_faults(in_sdist)
    if faults:
        sys.exit("\n".join(faults))
    print(
        f"{len(in_wheel)} files in the wheel, {len(in_sdist)} in the sdist: all that belong there."
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
