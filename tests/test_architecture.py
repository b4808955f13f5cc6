"""The architecture page names every module of the package's root, and its drawing shows each."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
MODULES = {
    path.stem
    for path in (ROOT / "ferry_sdk").iterdir()
    if path.suffix == ".py" or (path / "__init__.py").exists()
} - {"__init__"}
PAGE = (ROOT / "docs" / "architecture.md").read_text("utf-8")


def test_the_table_of_layers_names_each_module_once():
    table = PAGE.partition("| Module |")[2].partition("\n\n")[0]
    named = [name.rstrip("/") for name in re.findall(r"^\| `([^`]+)`", table, re.MULTILINE)]
    assert sorted(named) == sorted(MODULES)


def test_the_drawing_shows_each_module_once():
    drawing = (ROOT / "docs" / "pictures" / "layers.svg").read_text("utf-8")
    assert sorted(re.findall(r'class="module">([^<]+)<', drawing)) == sorted(MODULES)
