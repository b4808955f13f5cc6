"""What the documents, the examples and the demo show runs as it stands."""

import re
from pathlib import Path

import pytest

from tests.support import blocks
from tests.support.blocks import BLOCKS, MODULES, NOT_INSTALLED, PAGES, ROOT, SAYS, TO_SAVE, python
from tests.support.tables import each
from tests.support.tiers import LONG, mostly_long

SCRIPTS = sorted(path for path in (ROOT / "examples").glob("*.py") if path.name[:5] != "test_")
SHORT = "README.md"
"""The page whose blocks are run without --all too."""
IN_ALL_DOCUMENTS = re.compile(r"^ *(```py|>>> )", re.MULTILINE)
CASES = [
    pytest.param(one, id=one.place, marks=() if is_quick else LONG)
    for one in BLOCKS
    for is_quick in [one.path.name == SHORT and "def test_" not in one.source]
    if not one.title
]


@pytest.mark.parametrize("block", CASES)
def test_a_block_runs_and_says_what_it_shows(block, tmp_path, record_property):
    assert block.now(blocks.run_block(block, tmp_path)) == block.source
    record_property(block.what, 1)


def test_every_example_is_on_a_page_no_block_is_overlooked_and_first_commands_have_all_forms():
    meanings = {block.title: block.source for block in TO_SAVE}
    for block in TO_SAVE:
        assert block.source == meanings[block.title], block.place
        if block.title not in blocks.RECIPES:
            uses = (f'"{block.title}"', f"from {Path(block.title).stem} import")
            page = [one.source for one in BLOCKS if one.path == block.path]
            assert any(use in source for use in uses for source in page), block.place
    for path in (*PAGES, *MODULES):
        found = IN_ALL_DOCUMENTS.findall(path.read_text("utf-8"))
        assert len(found) == len([block for block in BLOCKS if block.path == path]), path
    shown = [line for block in BLOCKS for line in block.source.splitlines() if SAYS in line]
    assert len(shown) > 60
    assert sorted({line.strip() for line in shown if blocks.VARIES in line}) == [
        *("# > BAL… read back: True", "# > FRS….pdf b'%PDF-'", "# > ['BAL…']"),
        *("# > ask the service about …", "# > ticket GNV…", "# > ticketed 106.91 ticket GNV…"),
    ]
    shown = "".join(page.read_text("utf-8") for page in PAGES)
    names = [path.name for path in (ROOT / "examples").glob("*.py")]
    assert [name for name in names if f"examples/{name})\n" not in shown] == []
    for page in ("README.md", "docs/start.md", "docs/mcp-server.md"):
        text = (ROOT / page).read_text("utf-8")
        command, extra = re.findall(r'(pip install|uvx --from) "ferry-sdk\[(\w+)\]"', text)[0]
        assert re.search(rf'[Ii]n a clone.*{command} "\.\[{extra}\]"', text), page
    for page in ("README.md", "docs/index.md", "docs/start.md"):
        sources = [block.source for block in BLOCKS if block.path == ROOT / page]
        first = next(source for source in sources if "bookings.create" in source)
        assert any("ticket" in line for line in first.splitlines() if SAYS in line), page
        assert "PRESALE" not in first


@each("page", PAGES)
def test_a_page_shows_no_directive_and_its_links_and_blocks_lead_somewhere(page):
    text = page.read_text("utf-8")
    assert not re.search(r'^ *(-+8<-+|=== ")', text, re.MULTILINE)
    assert '=== "Sync"' not in text
    for title, source in NOT_INSTALLED.findall(text):
        compile(source, f"{page.name}: {title}", "exec")
    for link in re.findall(r"\]\((?!https?:)([^)#\s]+)", text):
        assert (page.parent / link).exists(), link


@pytest.mark.parametrize("script", mostly_long(SCRIPTS, ids=lambda path: path.stem))
def test_an_example_runs_and_says_something(script, tmp_path, record_property):
    assert python(script, cwd=tmp_path).strip()
    record_property("examples executed", 1)


@LONG
def test_the_example_of_tests_passes(tmp_path, record_property):
    example = ROOT / "examples" / "test_your_own_code.py"
    # Here pytest takes it for an error that what it would rewrite is imported already.
    assert "4 passed" in python("-m", "pytest", "-q", example, cwd=tmp_path, new=True)
    record_property("examples executed", 1)


def test_the_demo_tells_of_the_whole_journey_and_the_command_line_names_its_version(tmp_path):
    told = python("-m", "ferry_sdk", "demo", cwd=tmp_path)
    words = ["leaves", "tariff", "Booked", "Next: Pay", "Confirmed", "Ticket", "Cancelling now"]
    assert [word for word in words if word not in told] == []
    vouchers = list((tmp_path / "vouchers").glob("*.pdf"))
    assert len(vouchers) == 2
    assert all(voucher.read_bytes().startswith(b"%PDF-") for voucher in vouchers)
    assert all(str(Path("vouchers") / voucher.name) in told for voucher in vouchers)
    assert python("-m", "ferry_sdk", "--version", cwd=tmp_path).startswith("ferry_sdk ")
