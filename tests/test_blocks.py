"""The Python of the documents, docstrings and notebooks has the form of a reader's own code."""

import json

import pytest

from tests.support.blocks import BLOCKS, MODULES, NOTEBOOKS, PAGES, ROOT, RUFF, save
from tests.support.checkers import place_errors, run_checker
from tests.support.tiers import LONG

pytestmark = [LONG, pytest.mark.timeout(180)]


@pytest.fixture
def saved(tmp_path):
    """Every block in a folder that is nobody's project: its file, and where it stands."""
    save(BLOCKS, tmp_path)
    return {block.file: block.place for block in BLOCKS}


def test_blocks_have_the_form_that_ruff_gives(tmp_path):
    files = [*PAGES, *MODULES, *NOTEBOOKS]
    said = run_checker("ruff", "format", "--check", "--no-cache", *files, cwd=ROOT)
    assert said.strip() == f"{len(files)} files already formatted"


def test_blocks_are_clean_as_a_readers_own_code(saved, tmp_path):
    said = run_checker("ruff", "check", *RUFF, "--output-format", "json", ".", cwd=tmp_path)
    errors = [
        (one["filename"].rpartition("/")[2], one["location"]["row"], one["message"])
        for one in json.loads(said)
    ]
    assert place_errors(errors, saved) == []
