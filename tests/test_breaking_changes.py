"""A member of JSON that vanishes or changes its type is named, and so is a changed golden file."""

import json
import shutil
import subprocess

import pytest

from scripts.breaking_changes import GOLDEN, broken_files, changed_members

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
TRIP = {"trips": [{"price": "5.00", "back_id": None, "fares": [{"kind": "single"}]}]}


@pytest.mark.parametrize(
    ("old", "new", "problems"),
    [
        pytest.param({"a": 1}, {"a": 2.5, "b": 1}, [], id="new member"),
        pytest.param({"a": 1}, {}, ["a: the member has vanished"], id="vanished member"),
        pytest.param(
            {"a": {"b": [{"c": 1}]}}, {}, ["a: the member has vanished"], id="with its members"
        ),
        pytest.param(
            {"a": [{"b": 1}, {"c": 1}]},
            {"a": [{"b": 1}]},
            ["a[].c: the member has vanished"],
            id="member of an element",
        ),
        pytest.param(
            {"a": "1"}, {"a": 1}, ["a: the type has changed (string -> number)"], id="other type"
        ),
        pytest.param(
            [{"a": 1}, {"a": None}],
            [{"a": 1}],
            ["[].a: the type has changed (null or number -> number)"],
            id="fewer types",
        ),
        pytest.param(
            {"a": True}, {"a": 1}, ["a: the type has changed (boolean -> number)"], id="boolean"
        ),
    ],
)
def test_changes_of_members_are_named(old, new, problems):
    assert [*changed_members(old, new)] == problems


@pytest.fixture
def repository(tmp_path):
    """A repository with the golden files of two versions, the newer of which has the tag v0."""
    write(tmp_path, "0.9.0/commands/search.json", {"old": 1})
    write(tmp_path, "0.10.0/commands/search.json", TRIP)
    write(tmp_path, "0.10.0/values.json", {"x": "y"})
    write(tmp_path, "world.py", {})
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "a")
    git(tmp_path, "tag", "v0")
    return tmp_path


def git(repository, *arguments):
    """Run a command of git."""
    person = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    command = ["git", *person, *arguments]
    subprocess.run(command, cwd=repository, check=True)


def write(repository, name, document):
    """Write a file below the golden files."""
    path = repository / GOLDEN / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document), "utf-8")


def test_equal_files_break_nobody(repository):
    write(repository, "world.py", {"is": "no golden file"})
    assert [*broken_files("v0", repository)] == []


def test_new_version_is_compared_with_the_last(repository):
    changed = {"trips": [{"price": 5, "back_id": None}]}
    write(repository, "0.11.0/commands/search.json", changed)
    assert [*broken_files("v0", repository)] == [
        "commands/search.json: trips[].price: the type has changed (string -> number)",
        "commands/search.json: trips[].fares: the member has vanished",
    ]


def test_document_that_vanished_is_named(repository):
    write(repository, "0.11.0/values.json", {})
    document = "commands/search.json: the document has vanished"
    assert [*broken_files("v0", repository)] == [document]


@pytest.mark.parametrize("version", ["0.9.0", "0.10.0"])
def test_changed_golden_file_is_named(repository, version):
    write(repository, f"{version}/commands/search.json", TRIP | {"old": 1, "new": 1})
    changed = f"{GOLDEN}/{version}/commands/search.json: a golden file has changed"
    assert [*broken_files("v0", repository)] == [changed]


def test_golden_file_that_is_gone_is_named(repository):
    (repository / GOLDEN / "0.9.0/commands/search.json").unlink()
    changed = f"{GOLDEN}/0.9.0/commands/search.json: a golden file has changed"
    assert [*broken_files("v0", repository)] == [changed]


def test_revision_without_golden_files_is_accepted(repository):
    git(repository, "rm", "-rq", "--cached", GOLDEN)
    git(repository, "commit", "-qm", "b")
    assert [*broken_files("HEAD", repository)] == []
