"""The skill for coding agents, in the format of https://agentskills.io."""

import re

import pytest

from scripts.package_contents import expected
from tests.support.blocks import BLOCKS, ROOT, SKILL

TEXT = SKILL.read_text("utf-8")


@pytest.fixture(scope="module")
def frontmatter():
    """The fields before the text."""
    head = re.match(r"---\n(.*?)\n---\n", TEXT, re.DOTALL)
    assert head
    return dict(line.split(": ", 1) for line in head[1].splitlines())


def test_skill_has_the_required_fields(frontmatter):
    assert {*frontmatter} == {"name", "description"}


def test_skill_is_named_like_its_folder(frontmatter):
    assert frontmatter["name"] == SKILL.parent.name
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", frontmatter["name"])


def test_description_is_plain_text_of_allowed_length(frontmatter):
    assert 1 <= len(frontmatter["description"]) <= 1024
    assert not re.search(r": | #", frontmatter["description"])  # YAML reads more than a text there


def test_skill_is_short():
    assert len(TEXT.splitlines()) <= 60


def test_blocks_of_the_skill_are_run():
    assert len([block for block in BLOCKS if block.path == SKILL]) == TEXT.count("```python") == 2


def test_wheel_brings_the_skill():
    assert SKILL.relative_to(ROOT).as_posix() in expected("ferry_sdk")
