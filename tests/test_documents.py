"""What the documents, the examples and the demo show runs as it stands."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCKS = [
    pytest.param(block, id=f"{page.stem}-{number}")
    for page in PAGES
    for number, block in enumerate(
        re.findall(r"^```python\n(.*?)^```", page.read_text("utf-8"), re.MULTILINE | re.DOTALL), 1
    )
]
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


@pytest.mark.parametrize("block", BLOCKS)
def test_a_block_of_the_documents_runs(block: str, tmp_path: Path) -> None:
    is_test = "def test_" in block
    file = tmp_path / ("test_block.py" if is_test else "block.py")
    file.write_text(block, encoding="utf-8")
    python(*(["-m", "pytest", "-q"] if is_test else []), str(file), cwd=tmp_path)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_an_example_runs_and_says_something(script: Path, tmp_path: Path) -> None:
    assert python(str(script), cwd=tmp_path).strip()


def test_the_example_of_tests_passes(tmp_path: Path) -> None:
    example = ROOT / "examples" / "test_your_own_code.py"
    assert "3 passed" in python("-m", "pytest", "-q", str(example), cwd=tmp_path)


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
