"""The pages' drawings show what there is; the architecture page names every module of the root."""

import re
from pathlib import Path

from ferry_sdk import Stage
from tests.support.tables import each

ROOT = Path(__file__).parents[1]
MODULES = {
    path.stem
    for path in (ROOT / "ferry_sdk").iterdir()
    if path.suffix == ".py" or (path / "__init__.py").exists()
} - {"__init__"}
PICTURES = ROOT / "docs" / "pictures"
PAGE = (ROOT / "docs" / "architecture.md").read_text("utf-8")


def test_the_table_and_the_drawings_show_each_module_and_each_stage_once():
    table = PAGE.partition("| Module |")[2].partition("\n\n")[0]
    named = [name.rstrip("/") for name in re.findall(r"^\| `([^`]+)`", table, re.MULTILINE)]
    assert sorted(named) == sorted(MODULES)
    for picture, kind, names in (("layers", "module", MODULES), ("booking", "stage", Stage)):
        drawing = (PICTURES / f"{picture}.svg").read_text("utf-8")
        assert sorted(re.findall(rf'class="{kind}">([^<]+)<', drawing)) == sorted(names)


@each("picture", sorted(PICTURES.iterdir()))
def test_a_drawing_has_a_name_and_two_themes_and_loads_nothing(picture):
    text = picture.read_text("utf-8")
    named = re.search(r'^<svg [^>]*role="img" aria-label(ledby)?="([^"]+)"', text)
    assert named
    if named[1]:
        assert all(re.search(rf' id="{one}">[^<]+<', text) for one in named[2].split())
    assert "prefers-color-scheme: dark" in text
    assert not re.search(r"<script|href|url\(|@import|@font-face", text)
