"""What is shipped, what it depends on, and how it is released: the light part of scripts/check."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from ferry_sdk import __version__
from scripts import audit, licence_policy, package_contents, requirements, sbom_contents
from tests.support.tiers import LONG

ROOT = Path(__file__).parents[1]
CHANGELOG = (ROOT / "CHANGELOG.md").read_text("utf-8")
LOCK = (ROOT / "requirements-dev.lock").read_text("utf-8")
LOCKED = r"^([\w.-]+)==(\S+)(?: ; [^\n]+)? \\\n    --hash=sha256:\w{64}"
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PROJECT = requirements.tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


needs_workflows = pytest.mark.skipif(not WORKFLOWS, reason="an sdist brings no workflows")
BACKENDS = PROJECT["build-system"]["requires"]
ACTION = r" *- uses: [\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+ *"
"""A step that names an action by its commit, with the version in a comment."""


@pytest.fixture(scope="module")
def pythons():
    """The versions of Python that the package is classified for, oldest first."""
    name = r"Programming Language :: Python :: (3\.\d+)"
    matches = [re.fullmatch(name, one) for one in PROJECT["project"]["classifiers"]]
    return [match[1] for match in matches if match]


@pytest.fixture(scope="module")
def locked():
    """The packages of the lock with their versions."""
    return dict(re.findall(LOCKED, LOCK, re.MULTILINE))


def test_readme_names_the_supported_pythons(pythons):
    assert pythons[0] == "3.11"
    assert f"Python {pythons[0]} to {pythons[-1]}" in (ROOT / "README.md").read_text("utf-8")


@needs_workflows
def test_workflow_runs_on_the_supported_pythons(pythons):
    quoted = ", ".join(f'"{one}"' for one in pythons)
    assert f"python: [{quoted}]" in WORKFLOWS[0].read_text("utf-8")


@pytest.fixture(scope="module")
def wheel():
    """The files of a wheel without faults."""
    metadata = {kind.replace("*", "f-1") for kind in package_contents.KINDS if kind[0] == "*"}
    return package_contents.expected("ferry_sdk") | metadata


@pytest.fixture(scope="module")
def sdist():
    """The files of an sdist without faults."""
    files = set().union(*map(package_contents.expected, package_contents.SHIPPED))
    return {f"f-1/{file}" for file in files}


def test_expected_wheel_has_no_faults(wheel):
    assert package_contents.wheel_faults(wheel) == []


def test_expected_sdist_has_no_faults(sdist):
    assert package_contents.sdist_faults(sdist) == []


def test_missing_files_of_a_wheel_are_named(wheel):
    faults = package_contents.wheel_faults(wheel - {"ferry_sdk/py.typed"})
    assert faults == [
        "the wheel lacks ferry_sdk/py.typed",
        "the wheel has no ferry_sdk/py.typed: type checkers read the annotations",
    ]


@pytest.mark.parametrize("file", ["ferry_sdk/notes.txt", "ferry_sdk/a.json", "tests/test_a.py"])
def test_wheel_brings_no_file_without_reason(wheel, file):
    faults = package_contents.wheel_faults(wheel | {file})
    assert faults == [f"nothing says why users get {file}"]


def test_faults_of_an_sdist_are_named(sdist):
    faults = package_contents.sdist_faults(sdist - {"f-1/tests/conftest.py"} | {"f-1/.nox/a"})
    assert faults == ["the sdist lacks tests/conftest.py", "the sdist should not bring .nox/"]


def test_quickstart_lists_every_extra():
    section = (ROOT / "docs" / "start.md").read_text("utf-8").partition("## Extras\n")[2]
    lists = re.findall(r"^- (`\w+`(?:, `\w+`)*): ", section, re.MULTILINE)
    listed = [name.strip("`") for names in lists for name in names.split(", ")]
    assert sorted(listed) == sorted(PROJECT["project"]["optional-dependencies"])


def test_newest_release_of_the_changelog_is_the_version():
    releases = re.findall(r"^## \[(\d[^]]*)\] - \d{4}-\d\d-\d\d$", CHANGELOG, re.MULTILINE)
    assert releases[0] == __version__


def test_each_locked_package_has_a_hash(locked):
    assert len(locked) == len(re.findall(r"^[\w.-]+[ =@]", LOCK, re.MULTILINE)) > 100


def test_lock_fits_the_requirements(locked):
    required = map(
        Requirement,
        [
            *requirements.requirements_of_users(PROJECT),
            *requirements.requirements_of_groups(PROJECT),
        ],
    )
    needed = [one for one in required if one.marker is None or one.marker.evaluate()]
    unfit = [str(one) for one in needed if not one.specifier.contains(locked[one.name.lower()])]
    assert needed
    assert unfit == []


def test_lock_names_no_place():
    assert not re.search(r"://|^-|/\w+/", LOCK, re.MULTILINE)


@pytest.fixture(scope="module")
def lowest():
    """The lines of the script that pins the lowest version of each requirement."""
    command = [sys.executable, ROOT / "scripts" / "requirements.py", "--lowest"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return done.stdout.splitlines()


def test_lowest_versions_are_printed(lowest):
    assert "httpcore==1.0.9" in lowest
    assert 'pydantic==2.14; python_version >= "3.15"' in lowest


def test_lowest_versions_are_pins_of_others(lowest):
    pins = [Requirement(line) for line in lowest]
    assert all(str(one.specifier).startswith("==") for one in pins)
    assert all(one.name != "ferry-sdk" for one in pins)


@pytest.mark.parametrize(
    "licence",
    [
        "MIT",
        "BSD-3-Clause",
        "Apache-2.0 AND MIT",
        "Apache Software License; BSD License",
        "Apache-2.0 OR BSD-2-Clause",
        "MIT AND (GPL-2.0-only OR ISC)",
    ],
)
def test_permissive_licence_is_accepted(licence):
    assert licence_policy.forbidden([{"Name": "one", "License": licence}]) == []


@pytest.mark.parametrize(
    ("name", "licence"),
    [
        ("one", "LGPL-3.0-only"),
        ("one", "MIT; GNU General Public License (GPL)"),
        ("one", "MIT AND GPL-2.0-only"),
        ("one", "LGPL-3.0-only OR GPL-2.0-only"),
        ("one", "GPL-2.0-only AND (MIT OR ISC)"),
        ("one", "UNKNOWN"),
        ("one", "Mozilla Public License 2.0 (MPL 2.0)"),
        ("certifi", "AGPL-3.0-only"),
    ],
)
def test_other_licence_is_named(name, licence):
    found = licence_policy.forbidden([{"Name": name, "License": licence}])
    assert found == [f"{name}: {licence}"]


def sbom_of(*packages, version="1"):
    """An SBOM of the library with these packages."""
    component = {"name": "ferry-sdk", "version": version}
    return {"metadata": {"component": component}, "components": [{"name": one} for one in packages]}


REQUIRED = ["a-b>=1", "c; python_version < '3'"]


def test_whole_sbom_has_no_faults():
    assert sbom_contents.faults(sbom_of("A_B"), REQUIRED, "1") == []


def test_faults_of_an_sbom_are_named():
    assert sbom_contents.faults(sbom_of("pip", version="2"), REQUIRED, "1") == [
        "the SBOM is of ferry-sdk 2",
        "the SBOM lacks a-b",
        "the SBOM should not name pip",
    ]


FLAWED = '{"name": "a", "version": "1", "vulns": [{"id": "X-1", "fix_versions": ["2"]}]}'
SKIPPED = '{"name": "b", "skip_reason": "b was not found"}'


def test_audit_names_flawed_packages():
    packages = audit.parse_audit(f'{{"dependencies": [{FLAWED}, {SKIPPED}]}}')
    assert packages is not None
    assert audit.faults(packages) == ["a 1: X-1, mended in ['2']", "b was not found"]


@pytest.mark.parametrize(
    "output",
    [
        pytest.param(f'{{"dependencies": [{SKIPPED}]}}', id="all skipped"),
        pytest.param("no JSON", id="no JSON"),
    ],
)
def test_audit_of_nothing_is_no_audit(output):
    assert audit.parse_audit(output) is None


@needs_workflows
def test_actions_are_named_by_commit():
    text = "\n".join(workflow.read_text("utf-8") for workflow in WORKFLOWS)
    uses = re.findall(r"^.*\buses\s*:.*$", text, re.MULTILINE)
    assert len(uses) >= 8
    assert [line for line in uses if not re.fullmatch(ACTION, line)] == []


every_workflow = pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)


@every_workflow
def test_workflow_runs_scripts_only(workflow):
    text = workflow.read_text("utf-8")
    commands = re.findall(r"- run: (\S+)", text)
    assert commands
    assert [command for command in commands if not (ROOT / command).is_file()] == []
    assert text.count("run:") == len(commands)


@every_workflow
def test_workflow_holds_no_token(workflow):
    assert not re.search(r"secrets\.|password|token:(?! write)", workflow.read_text("utf-8"))


@pytest.fixture(scope="module")
def release():
    """The workflow of a release."""
    return WORKFLOWS[-1].read_text("utf-8")


@needs_workflows
def test_release_is_published_by_its_identity(release):
    assert "id-token: write" in release


@needs_workflows
def test_release_attests_all_files(release):
    job = release.partition("  attest:")[2].partition("  publish:")[0]
    assert "attestations: write" in job
    assert re.findall(r"subject-path: (\S+)", job) == ["dist/*", "dist/*.whl"]
    assert "sbom-path: build/sbom.json" in job
    assert "run:" not in job  # no other code gets the permission


@needs_workflows
def test_release_is_built_by_the_lock(release):
    assert 'LOCKED: "yes"' in release.partition("  attest:")[0]
    script = (ROOT / "scripts" / "package").read_text("utf-8")
    assert 'if [ -n "${LOCKED:-}" ]; then\n    builder+=(--no-isolation)' in script


@pytest.mark.parametrize("backend", BACKENDS)
def test_lock_has_the_build_backend(locked, backend):
    needed = Requirement(backend)
    assert needed.specifier.contains(locked[needed.name])


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    """A repository of the package, whose only commit has the tag v0."""
    folder = tmp_path_factory.mktemp("repository")
    unread = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "ferry_sdk", folder / "ferry_sdk", ignore=unread)

    def git(*arguments):
        person = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
        command = ["git", *person, *arguments]
        subprocess.run(command, cwd=folder, check=True)

    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "a")
    git("tag", "v0")
    return folder


@pytest.fixture
def changes(repository):
    """Replace a text in a file of the package and return the breaking changes since v0."""
    from scripts import breaking_changes

    originals = {}

    def change(file, before, after):
        path = repository / "ferry_sdk" / file
        originals[path] = path.read_text("utf-8")
        path.write_text(originals[path].replace(before, after), "utf-8")
        return [*breaking_changes.find_breaking_changes("v0", repository)]

    yield change
    for path, text in originals.items():
        path.write_text(text, "utf-8")


needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


@LONG
@needs_git
@pytest.mark.parametrize(
    ("file", "before", "after", "name"),
    [
        pytest.param(
            "resources/bookings.py",
            "get(self, booking_id:",
            "get(self, key:",
            "BookingsGroup.get",
            id="parameter",
        ),
        pytest.param(
            "client/__init__.py",
            "  deadline: float |",
            "  limit: float |",
            "(deadline)",
            id="option",
        ),
        pytest.param(
            "models/bookings.py",
            "def next_actions(",
            "def further(",
            "Booking.next_actions",
            id="method",
        ),
        pytest.param(
            "errors.py",
            "class PriceChangedError",
            "class PriceError",
            "PriceChangedError",
            id="class",
        ),
    ],
)
def test_change_that_breaks_users_is_named(changes, file, before, after, name):
    assert any(name in one for one in changes(file, before, after))


@LONG
@needs_git
def test_change_inside_the_package_breaks_nobody(changes):
    assert changes("_engine/writes.py", "def send_write(", "def send_it(") == []


@LONG
def test_suite_starts_beside_pytest_asyncio(tmp_path):
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
def test_client_works_from_a_zip_file(tmp_path, ferry_sandbox):
    file = shutil.make_archive(str(tmp_path / "app"), "zip", ROOT, "ferry_sdk")
    service = (ferry_sandbox.token, ferry_sandbox.base_url)
    command = [sys.executable, "-I", "-c", IN_A_ZIP_FILE, file, str(ROOT), *service]
    shown = subprocess.run(command, check=True, capture_output=True, text=True, cwd=tmp_path)
    assert shown.stdout == "ITGOA\n"
