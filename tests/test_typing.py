"""mypy and pyright in strict mode find exact types and report mistakes, in the documents as well.

A checker reads the library for longer than all that is checked here, so it runs once over all.
"""

import json
import re
import subprocess
import sys

import pytest

from tests.support import blocks
from tests.support.blocks import BLOCKS, MODULES, NOTEBOOKS, PAGES, RECIPES, ROOT, in_a_function
from tests.support.tiers import LONG

pytestmark = pytest.mark.timeout(180)

USAGE = ROOT / "tests" / "typing"
MISTAKES = ROOT / "tests" / "typing_mistakes.py"
GOOD = sorted(USAGE.glob("*.py"))
STRICT = {"typeCheckingMode": "strict", "pythonVersion": "3.11"}
OTHERS = "\n# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false\n"
"""pandas' and matplotlib's own types are unknown in parts."""
MYPY_MORE = ("deprecated", "redundant-expr", "truthy-bool", "unused-awaitable")
LEADS_TO_OTHERS = ("to_frame(", "ferry_sdk.notebook")
CELL_ENDS = "# pyright: reportUnusedExpression=false\n"
"""A cell ends with what it shows."""


def run_checker(*arguments, cwd):
    """Return what a checker prints, with or without errors."""
    command = [sys.executable, "-m", *map(str, arguments)]
    done = subprocess.run(
        command, capture_output=True, check=False, cwd=cwd, text=True, timeout=150
    )
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return done.stdout


def place_errors(errors, places):
    """Return the errors with the lines of the documents in which they are."""
    found = []
    for file, line, words in errors:
        path, _, first = places[file].rpartition(":")
        found.append(f"{path}:{int(first) + line - 1}: {words}")
    return found


@pytest.fixture
def typed(tmp_path):
    """The place of each file that is checked, by its name in a folder of copies."""
    places = {}
    for block in BLOCKS:
        if block.title in RECIPES:
            continue  # a checker would read all the frameworks, for a minute
        source, line = block.source, block.line
        if block.kind == "py":
            source, line = in_a_function(source), line - 1
        if any(words in source for words in LEADS_TO_OTHERS):
            source += OTHERS
        (tmp_path / block.file).write_text(source, encoding="utf-8")
        places[block.file] = f"{block.path.relative_to(ROOT)}:{line}"
    for path in NOTEBOOKS:
        source = in_a_function(blocks.notebook_source(path)) + OTHERS + CELL_ENDS
        (tmp_path / f"notebook_{path.stem}.py").write_text(source, encoding="utf-8")
        places[f"notebook_{path.stem}.py"] = f"{path.relative_to(ROOT)}:0"
    for path in (*GOOD, MISTAKES):
        assert path.name not in places
        (tmp_path / path.name).write_text(path.read_text("utf-8"), encoding="utf-8")
        places[path.name] = f"{path.relative_to(ROOT)}:1"
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(STRICT), encoding="utf-8")
    return places


def check(errors, places):
    """Check that the errors are the marked mistakes."""
    lines = MISTAKES.read_text(encoding="utf-8").splitlines()
    marked = {number for number, line in enumerate(lines, 1) if "# MISTAKE" in line}
    assert len(marked) > 30
    assert sum(one.read_text(encoding="utf-8").count("assert_type(") for one in GOOD) > 100
    assert place_errors([one for one in errors if one[0] != MISTAKES.name], places) == []
    assert {line for file, line, _ in errors if file == MISTAKES.name} == marked


@LONG
def test_mypy_finds_the_asserted_types(typed, tmp_path):
    options = ("--strict", "--config-file=", "--python-version=3.11", "--cache-dir=/dev/null")
    more = [f"--enable-error-code={name}" for name in MYPY_MORE]
    printed = run_checker("mypy", *options, *more, ".", cwd=tmp_path)
    found = re.findall(r"^(.+?):(\d+): error: (.+)$", printed, re.MULTILINE)
    check([(file, int(line), words) for file, line, words in found], typed)
    assert f"checked {len(typed)} source files" in printed


@LONG
def test_pyright_finds_the_asserted_types(typed, tmp_path):
    here = ("--pythonpath", sys.executable)
    printed = json.loads(run_checker("pyright", *here, "--outputjson", cwd=tmp_path))
    errors = [
        (one["file"].rpartition("/")[2], one["range"]["start"]["line"] + 1, one["message"])
        for one in printed["generalDiagnostics"]
        if one["severity"] in {"error", "warning"}
    ]
    check(errors, typed)
    assert printed["summary"]["filesAnalyzed"] == len(typed)


@LONG
def test_ruff_leaves_the_form_of_blocks():
    files = [*PAGES, *MODULES, *NOTEBOOKS]
    printed = run_checker("ruff", "format", "--check", "--no-cache", *files, cwd=ROOT)
    assert printed.strip() == f"{len(files)} files already formatted"


@LONG
def test_ruff_finds_no_fault_in_blocks(tmp_path):
    blocks.save(BLOCKS, tmp_path)
    command = ("ruff", "check", *blocks.RUFF, "--output-format", "json", ".")
    errors = [
        (error["filename"].rpartition("/")[2], error["location"]["row"], error["message"])
        for error in json.loads(run_checker(*command, cwd=tmp_path))
    ]
    assert place_errors(errors, {block.file: block.place for block in BLOCKS}) == []
