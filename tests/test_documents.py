"""What the documents, the examples and the demo show runs as it stands."""

import re
from code import InteractiveConsole
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

import pytest
import time_machine

import ferry_sdk
from tests.support import blocks
from tests.support.blocks import BLOCKS, MODULES, NOT_INSTALLED, PAGES, ROOT, SAYS, TO_SAVE, python
from tests.support.run_shown import DAY
from tests.support.tiers import LONG, mostly_long

SCRIPTS = sorted(path for path in (ROOT / "examples").glob("*.py") if path.name[:5] != "test_")
SHORT = "README.md"
"""The page whose blocks are run without --all too."""
IN_ALL_DOCUMENTS = re.compile(r"^ *(```py|>>> )", re.MULTILINE)
FILES = (*PAGES, *MODULES)
"""The files that have blocks."""


def case_of(block):
    """Return the parameter of a block; most are long tests."""
    is_quick = block.path.name == SHORT and "def test_" not in block.source
    return pytest.param(block, id=block.place, marks=() if is_quick else LONG)


EXAMPLES = [block for block in BLOCKS if block.path.suffix == ".py"]
"""The examples of docstrings."""
RUN_ALONE = [block for block in EXAMPLES if block.path.name != "asgi.py" or find_spec("mcp")]
"""Those whose extras are installed."""
CASES = [case_of(block) for block in BLOCKS if not block.title and block not in EXAMPLES]


SHOWN = [line for block in BLOCKS for line in block.source.splitlines() if SAYS in line]
"""The lines of output of all blocks."""


@pytest.mark.parametrize("block", CASES)
def test_block_prints_what_it_shows(block, tmp_path, record_property):
    assert block.now(blocks.run_block(block, tmp_path)) == block.source
    record_property(block.what, 1)


@pytest.mark.timeout(600)  # more than a hundred programs
def test_examples_of_docstrings_run_alone(tmp_path, record_property):
    printed = blocks.run_together(RUN_ALONE, tmp_path)
    for block, source in zip(RUN_ALONE, printed, strict=True):
        assert block.now(source) == block.source, block.place
        record_property(block.what, 1)


def test_blocks_of_a_title_are_the_same():
    sources = {block.title: block.source for block in TO_SAVE}
    assert [block.place for block in TO_SAVE if block.source != sources[block.title]] == []


def is_used(block):
    """Whether a block of the same page starts or imports the file of this block."""
    uses = (f'"{block.title}"', f"from {Path(block.title).stem} import")
    page = "\n".join(one.source for one in BLOCKS if one.path == block.path)
    return any(use in page for use in uses)


def test_blocks_to_save_are_used():
    needed = [block for block in TO_SAVE if block.title not in blocks.RECIPES]
    assert [block.place for block in needed if not is_used(block)] == []


def test_no_block_is_overlooked():
    fences = {path: IN_ALL_DOCUMENTS.findall(path.read_text("utf-8")) for path in FILES}
    read = Counter(block.path for block in BLOCKS)
    assert [path for path in FILES if len(fences[path]) != read[path]] == []


def test_few_lines_of_output_vary():
    assert len(SHOWN) > 60
    assert sorted({line.strip() for line in SHOWN if blocks.VARIES in line}) == [
        "# > BAL… read back: True",
        "# > FRS….pdf b'%PDF-'",
        "# > ['BAL…']",
        "# > ask the service about …",
        "# > ticket GNV…",
        "# > ticketed 106.91 ticket GNV…",
    ]


def test_every_example_is_on_a_page():
    text = "".join(page.read_text("utf-8") for page in PAGES)
    names = [path.name for path in (ROOT / "examples").glob("*.py")]
    assert [name for name in names if f"examples/{name})\n" not in text] == []


@pytest.mark.parametrize("page", ["README.md", "docs/start.md", "docs/mcp-server.md"])
def test_first_command_has_a_form_for_clones(page):
    text = (ROOT / page).read_text("utf-8")
    command, extra = re.findall(r'(pip install|uvx --from) "ferry-sdk\[(\w+)\]"', text)[0]
    assert re.search(rf'[Ii]n a clone.*{command} "\.\[{extra}\]"', text)


FIRST_PAGES = ("README.md", "docs/index.md", "docs/start.md")
FIRST_PROGRAMS = [block for block in BLOCKS if str(block.path.relative_to(ROOT)) in FIRST_PAGES]


def is_printed(shown, text):
    """Whether a text has a line of output; the console also prints values of expressions."""
    return any(blocks.fits(shown, line) for line in text.splitlines())


@pytest.mark.parametrize("block", FIRST_PROGRAMS, ids=lambda block: block.place)
def test_first_program_can_be_pasted(block, capsys):
    console = InteractiveConsole()
    with time_machine.travel(DAY):
        for line in [*block.source.splitlines(), ""]:
            console.push(line)

    printed = capsys.readouterr()
    shown = [line.partition(SAYS)[2].strip() for line in block.source.splitlines() if SAYS in line]
    assert printed.err == ""
    assert [line for line in shown if not is_printed(line, printed.out)] == []


@pytest.mark.parametrize("page", FIRST_PAGES)
def test_first_booking_shows_its_ticket(page):
    sources = [block.source for block in BLOCKS if block.path == ROOT / page]
    first = next(source for source in sources if "bookings.create" in source)
    assert any("ticket" in line for line in first.splitlines() if SAYS in line)
    assert "PRESALE" not in first


@pytest.mark.parametrize("door", ["examples/shop.md", "agents.md", "notebooks.md", "cli.md"])
def test_home_page_leads_each_reader_to_a_page(door):
    home = (ROOT / "docs" / "index.md").read_text("utf-8")
    assert re.search(rf"^\[\*\*[^*]+\*\*\n[^\n]+\.\]\({door}\)$", home, re.MULTILINE)


def test_pages_show_no_directives():
    directive = re.compile(r'^ *(-+8<-+|=== ")|=== "Sync"', re.MULTILINE)
    assert [page for page in PAGES if directive.search(page.read_text("utf-8"))] == []


def test_code_that_is_not_run_compiles():
    for page in PAGES:
        for title, source in NOT_INSTALLED.findall(page.read_text("utf-8")):
            compile(source, f"{page.name}: {title}", "exec")


def test_parts_of_examples_are_as_in_their_files():
    for page in PAGES:
        for title, source in NOT_INSTALLED.findall(page.read_text("utf-8")):
            example = ROOT / "examples" / title
            if example.exists():
                assert source in example.read_text("utf-8"), f"{page.name}: {title}"


def test_every_error_is_on_the_page_of_errors():
    text = (ROOT / "docs" / "errors.md").read_text("utf-8")
    errors = [name for name in ferry_sdk.__all__ if name.endswith("Error")]
    assert [name for name in errors if f"`{name}`" not in text] == []


def links_of(page):
    """Return the files that a page links to."""
    links = re.findall(r"\]\((?!https?:)([^)#\s]+)", page.read_text("utf-8"))
    return [page.parent / link for link in links]


def test_links_lead_to_files():
    links = [link for page in PAGES for link in links_of(page)]
    assert [link for link in links if not link.exists()] == []


@pytest.mark.parametrize("script", mostly_long(SCRIPTS, ids=lambda path: path.stem))
def test_example_prints_something(script, tmp_path, record_property):
    assert python(script, cwd=tmp_path).strip()
    record_property("examples executed", 1)


@LONG
def test_example_of_tests_passes(tmp_path, record_property):
    example = ROOT / "examples" / "test_your_own_code.py"
    # Here pytest takes it for an error that what it would rewrite is imported already.
    assert "4 passed" in python("-m", "pytest", "-q", example, cwd=tmp_path, new=True)
    record_property("examples executed", 1)


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """The folder in which the demo ran."""
    return tmp_path_factory.mktemp("demo")


@pytest.fixture(scope="module")
def printed(demo):
    """What the demo prints."""
    return python("-m", "ferry_sdk", "demo", cwd=demo)


def test_demo_prints_the_whole_journey(printed):
    words = ["leaves", "tariff", "Booked", "Next: Pay", "Confirmed", "Ticket", "Cancelling now"]
    assert [word for word in words if word not in printed] == []


def test_demo_saves_two_vouchers(demo, printed):
    vouchers = list((demo / "vouchers").glob("*.pdf"))
    assert len(vouchers) == 2
    assert all(voucher.read_bytes().startswith(b"%PDF-") for voucher in vouchers)
    assert all(str(Path("vouchers") / voucher.name) in printed for voucher in vouchers)


def test_command_line_prints_its_version(tmp_path):
    assert python("-m", "ferry_sdk", "--version", cwd=tmp_path).startswith("ferry_sdk ")
