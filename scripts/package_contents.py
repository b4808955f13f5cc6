"""Check what a wheel and an sdist hold: everything they need, and nothing besides.

Usage: package_contents.py FOLDER
"""

from __future__ import annotations

import sys
import tarfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
SHIPPED = ("api.md", "benchmarks", "docs", "examples", "ferry_sdk", "scripts", "tests")
"""What the tests need to run from an unpacked sdist, and users to read."""


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
    package = {name for name in names if ".dist-info/" not in name}
    wanted = expected("ferry_sdk")
    faults = [f"the wheel lacks {name}" for name in sorted(wanted - package)]
    faults += [f"the wheel should not bring {name}" for name in sorted(package - wanted)]
    if "ferry_sdk/py.typed" not in package:
        faults.append("the wheel does not say that it is typed")
    if not any(name.endswith("/licenses/LICENSE") for name in names):
        faults.append("the wheel brings no licence")
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
