"""Run programs one after the other, and write what each says into it: `run_shown.py FILE…`.

Below each statement come its words, after `# >`. The day is the same, as prices are the day's.
Each program runs in the folder of its file, with names of its own. If one of several programs
fails, its file gets the traceback, and the others still run."""

import ast
import os
import sys
import traceback
from asyncio import run
from datetime import UTC, datetime
from inspect import iscoroutine
from pathlib import Path

import time_machine

DAY = datetime(2026, 5, 4, 9, tzinfo=UTC)
SIGN = "# >"


class Told:
    """Standard output and standard error: what is said is kept by the program's line."""

    encoding = "utf-8"

    def __init__(self, file):
        self.file = file
        self.by_line = {}

    def write(self, words):
        frame = sys._getframe(1)
        while frame.f_code.co_filename != self.file:
            if frame.f_back is None:
                raise RuntimeError(f"no line of the program says {words!r}")
            frame = frame.f_back
        self.by_line[frame.f_lineno] = self.by_line.get(frame.f_lineno, "") + words
        return len(words)

    def flush(self):
        """Nothing is held back."""


def statement_at(line, tree):
    """Return the innermost statement that has this line."""
    around = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or line)
    ]
    return max(around, key=lambda node: (node.lineno, node.col_offset))


def with_words(source, by_line):
    """Return the source with what each line printed below its statement."""
    tree = ast.parse(source)
    below = {}
    for line, words in sorted(by_line.items()):
        statement = statement_at(line, tree)
        signs = [f"{SIGN} {one}".rstrip() for one in words.splitlines()]
        indented = [" " * statement.col_offset + one for one in signs]
        below.setdefault(statement.end_lineno or line, []).extend(indented)
    lines = source.splitlines()
    return "".join(
        f"{one}\n"
        for number, line in enumerate(lines, 1)
        for one in ([] if line.lstrip().startswith(SIGN) else [line]) + below.get(number, [])
    )


def main(path):
    """Run a program, and write into it what it prints."""
    source = path.read_text("utf-8")
    code = compile(source, str(path), "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    told = Told(str(path))
    sys.path[0] = str(path.parent)
    os.chdir(path.parent)
    real = sys.stdout, sys.stderr
    with time_machine.travel(DAY):
        sys.stdout = sys.stderr = told
        try:
            done = eval(code, {"__name__": "__main__"})  # noqa: S307 -- the documents' own programs
            if iscoroutine(done):  # a cell of a notebook, which awaits at the top
                run(done)
        finally:
            sys.stdout, sys.stderr = real
    path.write_text(with_words(source, told.by_line), encoding="utf-8")


def main_of_several(paths):
    """Run programs, and write into each what it prints, or why it failed."""
    for path in paths:
        try:
            main(path)
        except Exception:  # noqa: BLE001 -- whatever a program raises is shown
            path.write_text(traceback.format_exc(), encoding="utf-8")


if __name__ == "__main__":
    programs = [Path(each).resolve() for each in sys.argv[1:]]
    if len(programs) == 1:
        main(programs[0])
    else:
        main_of_several(programs)
