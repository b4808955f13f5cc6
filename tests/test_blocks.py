"""The Python of the documents, docstrings and notebooks is good as a reader's own code."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.support.blocks import (
    BLOCKS,
    MODULES,
    NOTEBOOKS,
    PAGES,
    ROOT,
    RUFF,
    in_a_function,
    notebook_source,
    save,
)
from tests.support.tiers import LONG

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [LONG, pytest.mark.timeout(180)]

STRICT = {"typeCheckingMode": "strict", "pythonVersion": "3.10"}
OTHERS = "\n# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false\n"
"""pandas' and matplotlib's own types are unknown in parts."""
LEADS_TO_OTHERS = ("to_frame(", "ferry_sdk.notebook")
CELL_ENDS = "# pyright: reportUnusedExpression=false\n"
"""A cell ends with what it shows."""


def said_by(*arguments: object, cwd: Path) -> str:
    """What a checker says, whatever it thinks of the files."""
    done = subprocess.run(
        [sys.executable, "-m", *map(str, arguments)],
        capture_output=True,
        check=False,
        cwd=cwd,
        text=True,
        timeout=150,
    )
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def saved(tmp_path: Path) -> dict[str, str]:
    """Every block in a folder that is nobody's project: its file, and where it stands."""
    save(BLOCKS, tmp_path)
    return {block.file: block.place for block in BLOCKS}


@pytest.fixture
def typed(saved: dict[str, str], tmp_path: Path) -> dict[str, str]:
    """The same for a type checker, with the notebooks."""
    for block in BLOCKS:
        source = block.source
        if block.kind == "py":
            source = in_a_function(source)
            saved[block.file] = f"{block.path.relative_to(ROOT)}:{block.line - 1}"
        if any(words in source for words in LEADS_TO_OTHERS):
            source += OTHERS
        (tmp_path / block.file).write_text(source, encoding="utf-8")
    for path in NOTEBOOKS:
        source = in_a_function(notebook_source(path)) + OTHERS + CELL_ENDS
        (tmp_path / f"notebook_{path.stem}.py").write_text(source, encoding="utf-8")
        saved[f"notebook_{path.stem}.py"] = f"{path.relative_to(ROOT)}:0"
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(STRICT), encoding="utf-8")
    return saved


def placed(errors: list[tuple[str, int, str]], places: dict[str, str]) -> list[str]:
    """Each error, by the document's own line."""
    found = []
    for file, line, words in errors:
        path, _, first = places[file].rpartition(":")
        found.append(f"{path}:{int(first) + line - 1}: {words}")
    return found


def test_blocks_have_the_form_that_ruff_gives(tmp_path):
    files = [*PAGES, *MODULES, *NOTEBOOKS]
    said = said_by("ruff", "format", "--check", "--no-cache", *files, cwd=ROOT)
    assert said.strip() == f"{len(files)} files already formatted"


def test_blocks_are_clean_as_a_readers_own_code(saved, tmp_path):
    said = said_by("ruff", "check", *RUFF, "--output-format", "json", ".", cwd=tmp_path)
    errors = [
        (one["filename"].rpartition("/")[2], one["location"]["row"], one["message"])
        for one in json.loads(said)
    ]
    assert placed(errors, saved) == []


def test_blocks_are_typed_for_mypy(typed, tmp_path):
    options = ("--strict", "--config-file=", "--python-version=3.10", "--cache-dir=.cache")
    said = said_by("mypy", *options, ".", cwd=tmp_path)
    found = re.findall(r"^(.+?):(\d+): error: (.+)$", said, re.MULTILINE)
    assert placed([(file, int(line), words) for file, line, words in found], typed) == []
    assert f"no issues found in {len(typed)} source files" in said


def test_blocks_are_typed_for_pyright(typed, tmp_path):
    here = ("--pythonpath", sys.executable)
    said = json.loads(said_by("pyright", *here, "--outputjson", cwd=tmp_path))
    errors = [
        (one["file"].rpartition("/")[2], one["range"]["start"]["line"] + 1, one["message"])
        for one in said["generalDiagnostics"]
    ]
    assert placed(errors, typed) == []
    assert said["summary"]["filesAnalyzed"] == len(typed)
