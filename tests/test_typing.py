"""The types a user meets: exact under mypy and pyright in strict mode, and mistakes reported."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.tiers import LONG

ROOT = Path(__file__).parent.parent
USAGE = ROOT / "tests" / "typing"
MISTAKES = ROOT / "tests" / "typing_mistakes.py"
GOOD = sorted(USAGE.glob("*.py"))


def run(*arguments: object) -> str:
    """What a checker says, whatever it thinks of the files."""
    done = subprocess.run(
        [sys.executable, "-m", *map(str, arguments)],
        capture_output=True,
        check=False,
        cwd=ROOT,
        text=True,
        timeout=55,
    )
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def mypy(tmp_path_factory) -> set[tuple[str, int, str]]:
    """File, line and words of every error of mypy's."""
    cache = tmp_path_factory.mktemp("mypy")
    said = run("mypy", "--strict", "--show-absolute-path", "--cache-dir", cache, *GOOD, MISTAKES)
    found = re.findall(r"^(.+?):(\d+): error: (.+)$", said, re.MULTILINE)
    assert "Found" in said or "Success" in said, said
    return {(Path(file).name, int(line), words) for file, line, words in found}


@pytest.fixture(scope="module")
def pyright() -> set[tuple[str, int, str]]:
    """File, line and words of every error of pyright's."""
    here = ("--pythonpath", sys.executable)
    said = json.loads(run("pyright", *here, "--outputjson", *GOOD, MISTAKES))
    assert said["summary"]["filesAnalyzed"] == len(GOOD) + 1
    return {
        (Path(one["file"]).name, one["range"]["start"]["line"] + 1, one["message"])
        for one in said["generalDiagnostics"]
        if one["severity"] in {"error", "warning"}
    }


def marked() -> set[int]:
    lines = MISTAKES.read_text(encoding="utf-8").splitlines()
    return {number for number, line in enumerate(lines, 1) if "# MISTAKE" in line}


def test_there_are_files_to_check():
    names = [
        "agents.py",
        "both_clients.py",
        "event_hooks.py",
        "http_clients.py",
        "notebooks.py",
        "views_and_raw.py",
    ]
    assert [one.name for one in GOOD] == names
    assert len(marked()) > 30
    assert sum(one.read_text(encoding="utf-8").count("assert_type(") for one in GOOD) > 100


@LONG
@pytest.mark.parametrize("checker", ["mypy", "pyright"])
def test_every_call_has_exactly_the_type_it_says(checker, request):
    found = request.getfixturevalue(checker)
    assert [one for one in sorted(found) if one[0] != MISTAKES.name] == []


@LONG
@pytest.mark.parametrize("checker", ["mypy", "pyright"])
def test_every_mistake_is_reported_and_nothing_else(checker, request):
    found = request.getfixturevalue(checker)
    assert {line for file, line, _ in found if file == MISTAKES.name} == marked()
