"""What the documents, the examples and the demo show runs as it stands."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

from ferry_sdk import SAFETY, Proof, Safety
from ferry_sdk.safety import Cause

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FENCE = re.compile(r'^```python(?: title="(\S+)")?\n(.*?)^```', re.MULTILINE | re.DOTALL)
BLOCKS = [
    (f"{page.stem}-{number}", title, block)
    for page in PAGES
    for number, (title, block) in enumerate(FENCE.findall(page.read_text("utf-8")), 1)
]
CELLS = [
    pytest.param(cell, id=f"{page.stem}-cell-{number}")
    for page in PAGES
    for number, cell in enumerate(
        re.findall(r"^```py\n(.*?)^```", page.read_text("utf-8"), re.MULTILINE | re.DOTALL), 1
    )
]
"""Blocks for a notebook, which awaits at the top."""
FILES = {title: block for _, title, block in BLOCKS if title}
"""Blocks that a reader is told to save: other blocks import or start them."""
SCRIPTS = [path for path in (ROOT / "examples").glob("*.py") if not path.name.startswith("test_")]


def python(*arguments: str, cwd: Path) -> str:
    """What the interpreter prints; it has to end well."""
    environment = {key: value for key, value in os.environ.items() if key[:6] != "FERRY_"}
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=cwd,
        env={**environment, "PYTHONUTF8": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize(
    "block", [pytest.param(block, id=name) for name, title, block in BLOCKS if not title]
)
def test_a_block_of_the_documents_runs(block: str, tmp_path: Path) -> None:
    for title, content in FILES.items():
        (tmp_path / title).write_text(content, encoding="utf-8")
    is_test = "def test_" in block
    file = tmp_path / ("test_block.py" if is_test else "block.py")
    file.write_text(block, encoding="utf-8")
    python(*(["-m", "pytest", "-q"] if is_test else []), str(file), cwd=tmp_path)


@pytest.mark.parametrize("cell", CELLS)
def test_a_cell_of_the_documents_runs(cell: str, tmp_path: Path) -> None:
    code = f"compile({cell!r}, 'cell', 'exec', ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)"
    program = f"import ast, asyncio\nasyncio.run(eval({code}))"
    python("-c", program, cwd=tmp_path)


def test_a_block_to_save_has_one_meaning_and_a_use() -> None:
    titles = [title for _, title, _ in BLOCKS if title]
    assert sorted(titles) == sorted(FILES)
    for title in FILES:
        uses = (f'"{title}"', f"from {Path(title).stem} import")
        assert any(use in block for _, _, block in BLOCKS for use in uses), title


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_link_between_the_documents_leads_somewhere(page: Path) -> None:
    for link in re.findall(r"\]\((?!https?:)([^)#\s]+)", page.read_text("utf-8")):
        assert (page.parent / link).exists(), link


def test_the_documented_safety_table_is_the_one_in_force() -> None:
    assert safety_table() in (ROOT / "docs" / "outcomes.md").read_text("utf-8")


def safety_table() -> str:
    """`SAFETY` in words: what goes by the same rules shares a line."""
    lines: dict[str, list[str]] = {}
    for row in SAFETY.values():
        causes = ", ".join(f"`{cause}`" for cause in get_args(Cause) if cause in row.resend)
        seen = "; else ".join(recognised(row, proof) for proof in row.shown_by)
        unseen = "changes nothing" if row.is_read else "never read back"
        lines.setdefault(f"{row.kind} | {causes} | {seen or unseen} |", []).append(row.operation)
    head = "| Operations | Kind | Sent again after | The effect is seen by |\n|---|---|---|---|\n"
    return head + "".join(
        f"| {', '.join(f'`{name}`' for name in names)} | {rules}\n"
        for rules, names in lines.items()
    )


def recognised(row: Safety, proof: Proof) -> str:
    """How the effect is recognised, in words."""
    is_of_one = str(row.effect).startswith("tickets.")
    signs = []
    if proof.stages:
        signs.append(f"`stage` {' or '.join(f'`{one.value}`' for one in sorted(proof.stages))}")
    if proof.tickets:
        which = "the ticket" if is_of_one else "every ticket"
        signs.append(f"{which} `{proof.tickets.value}`")
    if proof.payment:
        signs.append(f"`payment_status` `{proof.payment.value}`")
    needed = f" with {'the' if is_of_one else 'a'} ticket in it" if proof.names_ticket else ""
    return f"`{proof.read}`{needed}: {', or '.join(signs)}"


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_an_example_runs_and_says_something(script: Path, tmp_path: Path) -> None:
    assert python(str(script), cwd=tmp_path).strip()


def test_the_example_of_tests_passes(tmp_path: Path) -> None:
    example = ROOT / "examples" / "test_your_own_code.py"
    assert "4 passed" in python("-m", "pytest", "-q", str(example), cwd=tmp_path)


def test_the_demo_tells_of_the_whole_journey(tmp_path: Path) -> None:
    told = python("-m", "ferry_sdk", "demo", cwd=tmp_path)
    for word in ("leaves", "tariff", "Booked", "Next: Pay", "Confirmed", "Ticket", "To cancel now"):
        assert word in told
    vouchers = list((tmp_path / "vouchers").glob("*.pdf"))
    assert len(vouchers) == 2
    assert all(voucher.read_bytes().startswith(b"%PDF-") for voucher in vouchers)
    assert all(str(Path("vouchers") / voucher.name) in told for voucher in vouchers)


def test_the_command_line_names_its_version(tmp_path: Path) -> None:
    assert python("-m", "ferry_sdk", "--version", cwd=tmp_path).startswith("ferry_sdk ")
