"""The Python of the documents and of the docstrings, block by block.

`python -m tests.support.blocks` formats every block and writes what it says into it."""

from __future__ import annotations

import json
import os
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import dedent, indent

from tests.support.processes import run

ROOT = Path(__file__).parents[2]
SKILL = ROOT / "ferry_sdk" / ".agents" / "skills" / "ferry-sdk" / "SKILL.md"
"""What coding agents read; the wheel has it."""
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), SKILL)
MODULES = tuple(sorted((ROOT / "ferry_sdk").rglob("*.py")))
NOTEBOOKS = tuple(sorted((ROOT / "examples" / "notebooks").glob("*.ipynb")))
FENCE = re.compile(
    r'^( *)```(python|py)(?: title="(\S+)")?\n(.*?)^\1```$', re.MULTILINE | re.DOTALL
)
SAYS = "# >"
VARIES = "…"
"""In what is said: something that no test can know."""
RUFF = ("--config", Path(__file__).with_suffix(".toml"), "--no-cache")


@dataclass(frozen=True)
class Block:
    """A block of Python, and where it stands."""

    path: Path
    line: int
    indent: str
    kind: str
    title: str
    source: str

    @property
    def place(self):
        return f"{self.path.relative_to(ROOT)}:{self.line}"

    @property
    def what(self):
        """The name that it is counted by."""
        if self.path.suffix == ".py":
            return "docstring examples executed"
        return "blocks executed" if self.kind == "python" else "cells executed"

    @property
    def file(self):
        name = re.sub(r"\W", "_", self.place)
        return self.title or (f"test_{name}.py" if "def test_" in self.source else f"{name}.py")

    def now(self, told):
        """What `run_shown.py` made of the block, with a sign for what no test can know."""
        signs = [line for line in self.source.splitlines() if SAYS in line and VARIES in line]
        return "".join(
            next((sign for sign in signs if fits(sign, line)), line) + "\n"
            for line in told.splitlines()
        )


def fits(sign, line):
    """Whether a line of output is one that the sign stands for."""
    return re.fullmatch(".+".join(map(re.escape, sign.split(VARIES))), line) is not None


def blocks_of(path):
    """Return the blocks of a file."""
    text = path.read_text("utf-8")
    return [
        Block(
            path=path,
            line=text[: found.start(4)].count("\n") + 1,
            indent=found[1],
            kind=found[2],
            title=found[3] or "",
            source=dedent(found[4]),
        )
        for found in FENCE.finditer(text)
    ]


def all_blocks():
    """Return the blocks of all pages and modules."""
    return [*chain.from_iterable(map(blocks_of, (*PAGES, *MODULES)))]


BLOCKS = all_blocks()
TO_SAVE = [block for block in BLOCKS if block.title]
"""Blocks that a reader is told to save: other blocks import or start them."""
NOT_INSTALLED = re.compile(r'^```\{\.python title="(\S+)"\}\n(.*?)^```$', re.MULTILINE | re.DOTALL)
"""Blocks of packages that the tests do not install; one may be a file of `examples/` instead."""
RECIPES = {block.title: block for block in TO_SAVE if block.title.startswith("book_with_")}
"""Blocks that need an agent framework; tests/agents/recipes runs them."""


def python(*arguments, cwd, **options):
    """Run Python without settings of ours; return what it prints."""
    environment = {key: value for key, value in os.environ.items() if key[:6] != "FERRY_"}
    done = run(
        [sys.executable, *map(str, arguments)],
        cwd=cwd,
        env={**environment, "PYTHONUTF8": "1", "TZ": "UTC"},
        **options,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def beside(block):
    """Return the blocks that a reader of the page has saved beside this one."""
    return [one for one in TO_SAVE if one.path == block.path]


def run_block(block, folder):
    """Run a block in a folder; return its source with what it prints."""
    save([*beside(block), block], folder)
    file = folder / block.file
    if file.name.startswith("test_"):
        python("-m", "pytest", "-q", file, cwd=folder, new=True)
    else:
        assert python(Path(__file__).with_name("run_shown.py"), file, cwd=folder) == ""
    return file.read_text("utf-8")


def run_together(some, folder):
    """Run blocks in one process, each alone in a folder; return what `run_block` returns of each.

    The source of a block that fails is its traceback.
    """
    files = []
    for number, block in enumerate(some):
        alone = folder / str(number)
        alone.mkdir()
        save([block], alone)
        files.append(alone / block.file)
    runner = Path(__file__).with_name("run_shown.py")
    assert python(runner, *files, cwd=folder, timeout=500) == ""
    return [file.read_text("utf-8") for file in files]


def save(blocks, folder):
    """Write blocks into a folder as files."""
    for block in blocks:
        (folder / block.file).write_text(block.source, encoding="utf-8")


def in_a_function(source):
    """What awaits at the top, for a checker that knows no cells; its lines are one further."""
    return "async def cell() -> None:\n" + indent(source, "    ")


def notebook_source(path):
    """Return the code of all cells of a notebook."""
    cells = json.loads(path.read_text("utf-8"))["cells"]
    return "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")


def renew(block):
    """Return a block that is formatted and shows what it prints."""
    with TemporaryDirectory() as folder:
        save([*beside(block), block], Path(folder))
        file = Path(folder, block.file)
        python("-m", "ruff", "check", "--fix-only", *RUFF, file, cwd=file.parent)
        mended = replace(block, source=file.read_text("utf-8"))
        if block.title:
            return mended
        return replace(mended, source=mended.now(run_block(mended, file.parent)))


def main():
    """Renew the blocks in their files."""
    python("-m", "ruff", "format", *PAGES, *MODULES, cwd=ROOT)
    blocks = all_blocks()
    with ThreadPoolExecutor(4) as pool:
        new = list(pool.map(renew, blocks))
    for old, now in reversed(list(zip(blocks, new, strict=True))):
        if now.source != old.source:
            lines = old.path.read_text("utf-8").splitlines(keepends=True)
            end = old.line - 1 + old.source.count("\n")
            lines[old.line - 1 : end] = indent(now.source, old.indent).splitlines(keepends=True)
            old.path.write_text("".join(lines), encoding="utf-8")
            sys.stdout.write(f"{now.place}\n")


if __name__ == "__main__":
    main()
