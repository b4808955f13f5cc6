"""What is shipped, what it depends on, and how it is released: the light part of scripts/check."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from scripts import audit, licence_policy, package_contents, requirements
from tests.support.tables import each
from tests.support.tiers import LONG

ROOT = Path(__file__).parents[1]
LOCK = (ROOT / "requirements-dev.lock").read_text("utf-8")
LOCKED = r"^([\w.-]+)==(\S+)(?: ; [^\n]+)? \\\n    --hash=sha256:\w{64}"
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PROJECT = requirements.tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


def test_pythons_contents_locks_licences_and_flaws_are_those_that_are_known():
    pythons = [
        one.rpartition(" ")[2]
        for one in PROJECT["project"]["classifiers"]
        if re.fullmatch(r"Programming Language :: Python :: 3\.\d+", one)
    ]
    assert pythons[0] == "3.10"
    assert f"Python {pythons[0]} to {pythons[-1]}" in (ROOT / "README.md").read_text("utf-8")
    for workflow in WORKFLOWS[:1]:
        quoted = ", ".join(f'"{one}"' for one in pythons)
        assert f"python: [{quoted}]" in workflow.read_text("utf-8")
    wheel = package_contents.expected("ferry_sdk") | {"f-1.dist-info/licenses/LICENSE"}
    sdist = {
        f"f-1/{file}" for one in package_contents.SHIPPED for file in package_contents.expected(one)
    }
    assert package_contents.wheel_faults(wheel) == package_contents.sdist_faults(sdist) == []

    faults = package_contents.wheel_faults(wheel - {"ferry_sdk/py.typed"} | {"tests/test_a.py"})
    assert faults == [
        "the wheel lacks ferry_sdk/py.typed",
        "the wheel should not bring tests/test_a.py",
        "the wheel does not say that it is typed",
    ]
    faults = package_contents.sdist_faults(sdist - {"f-1/tests/conftest.py"} | {"f-1/.nox/a"})
    assert faults == ["the sdist lacks tests/conftest.py", "the sdist should not bring .nox/"]
    locked = dict(re.findall(LOCKED, LOCK, re.MULTILINE))
    assert len(locked) == len(re.findall(r"^[\w.-]+[ =@]", LOCK, re.MULTILINE)) > 100
    for asked in [*requirements.used(PROJECT), *requirements.grouped(PROJECT)]:
        one = Requirement(asked)
        if one.marker is None or one.marker.evaluate():
            assert one.specifier.contains(locked[one.name.lower()]), asked
    # It names no place.
    assert not re.search(r"://|^-|/\w+/", LOCK, re.MULTILINE)
    command = [sys.executable, ROOT / "scripts" / "requirements.py", "--lowest"]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    assert "httpcore==1.0.9" in lines
    assert 'matplotlib==3.11; python_version >= "3.12"' in lines
    pins = [Requirement(line) for line in lines]
    assert all(str(one.specifier).startswith("==") for one in pins)
    assert all(one.name != "ferry-sdk" for one in pins)
    for licence in (
        *("MIT", "BSD-3-Clause", "Apache-2.0 AND MIT", "Apache Software License; BSD License"),
        *("Apache-2.0 OR BSD-2-Clause", "MIT AND (GPL-2.0-only OR ISC)"),
    ):
        assert licence_policy.forbidden([{"Name": "one", "License": licence}]) == []
    for name, licence in (
        *(("one", "LGPL-3.0-only"), ("one", "MIT; GNU General Public License (GPL)")),
        *(("one", "MIT AND GPL-2.0-only"), ("one", "LGPL-3.0-only OR GPL-2.0-only")),
        *(("one", "GPL-2.0-only AND (MIT OR ISC)"), ("one", "UNKNOWN")),
        ("one", "Mozilla Public License 2.0 (MPL 2.0)"),
        ("certifi", "AGPL-3.0-only"),
    ):
        found = licence_policy.forbidden([{"Name": name, "License": licence}])
        assert found == [f"{name}: {licence}"]
    known = '{"name": "a", "version": "1", "vulns": [{"id": "X-1", "fix_versions": ["2"]}]}'
    unknown = '{"name": "b", "skip_reason": "b was not found"}'
    packages = audit.audited(f'{{"dependencies": [{known}, {unknown}]}}')
    assert packages is not None
    assert audit.faults(packages) == ["a 1: X-1, mended in ['2']", "b was not found"]
    assert audit.audited(f'{{"dependencies": [{unknown}]}}') is None
    assert audit.audited("no JSON") is None


@pytest.mark.skipif(not WORKFLOWS, reason="an sdist brings no workflows")
def test_the_workflows_use_actions_by_commit_call_scripts_and_hold_no_token():
    texts = [workflow.read_text("utf-8") for workflow in WORKFLOWS]
    uses = re.findall(r"^.*\buses\s*:.*$", "\n".join(texts), re.MULTILINE)
    assert len(uses) >= 8
    for line in uses:
        assert re.fullmatch(r" *- uses: [\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+ *", line), (
            line
        )
    for text in texts:
        commands = re.findall(r"- run: (\S+)", text)
        assert commands
        for command in commands:
            assert (ROOT / command).is_file(), command
        assert text.count("run:") == len(commands)
        assert not re.search(r"secrets\.|password|token:(?! write)", text)
    assert "id-token: write" in texts[-1]
    # A release is built by what the lock names.
    assert 'LOCKED: "yes"' in texts[-1].partition("  publish:")[0]
    script = (ROOT / "scripts" / "package").read_text("utf-8")
    assert 'if [ -n "${LOCKED:-}" ]; then\n    builder+=(--no-isolation)' in script
    for backend in map(Requirement, PROJECT["build-system"]["requires"]):
        assert backend.specifier.contains(
            dict(re.findall(LOCKED, LOCK, re.MULTILINE))[backend.name]
        )


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    folder = tmp_path_factory.mktemp("repository")
    unread = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "ferry_sdk", folder / "ferry_sdk", ignore=unread)
    person = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    for command in (["init", "-q"], ["add", "."], [*person, "commit", "-qm", "a"], ["tag", "v0"]):
        subprocess.run(["git", *command], cwd=folder, check=True)  # noqa: S607 -- whichever git
    return folder


@LONG
@pytest.mark.skipif(shutil.which("git") is None, reason="there is no git")
@each(
    "file, before, after, told",
    [
        ("resources/bookings.py", "get(self, booking_id:", "get(self, key:", "BookingsGroup.get"),
        ("client/__init__.py", "  deadline: float |", "  limit: float |", "(deadline)"),
        ("models/bookings.py", "def next_actions(", "def further(", "Booking.next_actions"),
        ("errors.py", "class PriceChangedError", "class PriceError", "PriceChangedError"),
        ("_engine/writes.py", "def send_write(", "def send_it(", None),
    ],
)
def test_what_breaks_users_is_named_and_nothing_else(repository, file, before, after, told):
    from scripts import breaking_changes

    path = repository / "ferry_sdk" / file
    old = path.read_text("utf-8")
    path.write_text(old.replace(before, after), "utf-8")
    try:
        found = [*breaking_changes.broken("v0", repository)]
    finally:
        path.write_text(old, "utf-8")
    assert bool(found) == bool(told), found
    assert not told or any(told in one for one in found), found


@pytest.mark.long
def test_the_suite_starts_beside_pytest_asyncio(tmp_path):
    (tmp_path / "eager.py").write_text("def pytest_configure():\n    raise SystemError\n", "utf-8")
    installed = tmp_path / "eager-1.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text("Name: eager\nVersion: 1\n", "utf-8")
    (installed / "entry_points.txt").write_text("[pytest11]\nasyncio = eager\n", "utf-8")
    command = [sys.executable, "-m", "pytest", "--noconftest", "--markers"]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    subprocess.run(command, check=True, cwd=ROOT, env=environment, capture_output=True)


IN_A_ZIP_FILE = """
import sys
sys.meta_path = [one for one in sys.meta_path if "editable" not in repr(one).lower()]
sys.path[:] = [sys.argv[1], *(one for one in sys.path if one not in {"", sys.argv[2]})]
import ferry_sdk
assert ferry_sdk.__file__.startswith(sys.argv[1])
from ferry_sdk import Ferry
with Ferry(sys.argv[3], base_url=sys.argv[4]) as ferry:
    print(ferry.places.get("Genoa").code)
"""


@pytest.mark.slow
def test_the_client_works_from_a_zip_file(tmp_path, ferry_sandbox):
    file = shutil.make_archive(str(tmp_path / "app"), "zip", ROOT, "ferry_sdk")
    service = (ferry_sandbox.token, ferry_sandbox.base_url)
    command = [sys.executable, "-I", "-c", IN_A_ZIP_FILE, file, str(ROOT), *service]
    shown = subprocess.run(command, check=True, capture_output=True, text=True, cwd=tmp_path)
    assert shown.stdout == "ITGOA\n"
