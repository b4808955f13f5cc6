"""The pages' drawings show what there is; the architecture page names every module of the root."""

import re
from pathlib import Path

import pytest

from ferry_sdk import Stage

ROOT = Path(__file__).parents[1]
MODULES = {
    path.stem
    for path in (ROOT / "ferry_sdk").iterdir()
    if path.suffix == ".py" or (path / "__init__.py").exists()
} - {"__init__", "__pyinstaller"}  # the second is for PyInstaller alone
PICTURES = ROOT / "docs" / "pictures"
PAGE = (ROOT / "docs" / "architecture.md").read_text("utf-8")


def test_table_names_each_module():
    table = PAGE.partition("| Module |")[2].partition("\n\n")[0]
    names = [name.rstrip("/") for name in re.findall(r"^\| `([^`]+)`", table, re.MULTILINE)]
    assert sorted(names) == sorted(MODULES)


@pytest.mark.parametrize(
    ("picture", "kind", "names"),
    [("layers", "module", MODULES), ("booking", "stage", Stage)],
    ids=["layers", "booking"],
)
def test_drawing_shows_each_part_once(picture, kind, names):
    drawing = (PICTURES / f"{picture}.svg").read_text("utf-8")
    assert sorted(re.findall(rf'class="{kind}">([^<]+)<', drawing)) == sorted(names)


def test_drawing_shows_the_checked_layers():
    settings = (ROOT / "pyproject.toml").read_text("utf-8")
    contract = settings.partition('id = "layers"')[2].partition("exhaustive =")[0]
    layers = re.findall(r'^    "(.+)",$', contract, re.MULTILINE)

    drawing = (PICTURES / "layers.svg").read_text("utf-8")
    modules = re.findall(r'<text x="([\d.]+)" y="(\d+)" class="module">([^<]+)<', drawing)
    rows: dict[int, list[str]] = {}
    for x, y, name in modules:
        if float(x) < 310:  # the other packages stand to the right of the layers
            rows.setdefault(int(y), []).append(name)
    assert [" | ".join(rows[y]) for y in sorted(rows)] == layers


DRAWINGS = ["booking", "layers"]
"""The drawings by hand; `scripts/pictures` makes the other pictures from output."""
every_drawing = pytest.mark.parametrize(
    "drawing", [PICTURES / f"{name}.svg" for name in DRAWINGS], ids=DRAWINGS
)


@every_drawing
def test_drawing_has_a_name(drawing):
    text = drawing.read_text("utf-8")
    label = re.search(r'^<svg [^>]*role="img" aria-label(ledby)?="([^"]+)"', text)
    assert label
    if label[1]:
        assert all(re.search(rf' id="{part}">[^<]+<', text) for part in label[2].split())


@every_drawing
def test_drawing_has_a_dark_theme(drawing):
    assert "prefers-color-scheme: dark" in drawing.read_text("utf-8")


@every_drawing
def test_drawing_loads_nothing(drawing):
    text = drawing.read_text("utf-8")
    assert not re.search(r"<script|href|url\(|@import|@font-face", text)
