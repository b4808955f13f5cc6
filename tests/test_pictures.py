"""The pictures of the documentation show what the package shows today."""

import json
import re
from pathlib import Path

import pytest

pytest.importorskip("mcp", reason="the extra agents is not installed")
pytest.importorskip("pexpect", reason="pexpect is for Unix")

from scripts.picture_outputs import OUTPUTS, fingerprint, output_of, screen

DOCS = Path(__file__).parents[1] / "docs"
PICTURES = DOCS / "pictures"
HASHES = json.loads((PICTURES / "outputs.json").read_text("utf-8"))
DRAWN = sorted(path for path in PICTURES.iterdir() if re.search(r"-(light|dark)\.", path.name))
IMAGE = re.compile(r"!\[(.+)\]\((?:\.\./)?pictures/([a-z]+)-(light|dark)\.(\w+)#only-(\w+)\)")
SHOWN = [found for page in DOCS.rglob("*.md") for found in IMAGE.findall(page.read_text("utf-8"))]
"""The alternative text, the name, the theme, the kind and again the theme of each picture."""


@pytest.mark.slow
@pytest.mark.parametrize("name", OUTPUTS)
def test_picture_shows_the_output(name):
    assert fingerprint(output_of(name)) == HASHES[name], "old: run scripts/pictures"


def test_every_output_has_two_pictures():
    names = [path.stem for path in DRAWN]
    assert names == sorted(f"{name}-{theme}" for name in OUTPUTS for theme in ("light", "dark"))


def test_every_picture_is_on_a_page():
    assert {f"{name}-{theme}.{kind}" for _, name, theme, kind, _ in SHOWN} == {
        path.name for path in DRAWN
    }


def test_pictures_are_for_their_theme():
    assert [name for _, name, theme, _, only in SHOWN if theme != only] == []


def test_pictures_of_two_themes_have_one_text():
    texts = {(name, text) for text, name, *_ in SHOWN}
    assert len(texts) == len(OUTPUTS)


@pytest.mark.parametrize("path", DRAWN, ids=lambda path: path.name)
def test_picture_is_small(path):
    assert path.stat().st_size <= 60_000


@pytest.mark.parametrize("path", sorted(PICTURES.glob("*.svg")), ids=lambda path: path.name)
def test_picture_loads_nothing(path):
    text = path.read_text("utf-8").replace('xmlns="http://www.w3.org/2000/svg"', "")
    assert "://" not in text


@pytest.mark.parametrize(
    ("printed", "shown"),
    [
        pytest.param("one\r\ntwo\r\n", "one\ntwo", id="lines"),
        pytest.param("\x1b[?25l⠋ Reading\r\x1b[2Kdone", "done", id="erased line"),
        pytest.param("⠋ Reading\r\n\x1b[1A\x1b[2Kdone", "done", id="line above"),
        pytest.param("\x1b[1mbold\x1b[0m", "\x1b[1mbold\x1b[0m", id="style"),
    ],
)
def test_terminal_shows_no_progress(printed, shown):
    assert screen(printed) == shown
