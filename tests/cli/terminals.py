"""Run a command in a pseudo-terminal."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pexpect

from tests.cli.commands import COMMAND, environment
from tests.support.processes import launch_command

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ferry_sdk.sandbox import Sandbox

ESCAPES = re.compile(r"\x1b(\[[0-9;?]*[A-Za-z]|[()][A-Z0-9])")


class Terminal:
    """A person at a terminal."""

    def __init__(self, child: pexpect.spawn) -> None:
        self.child = child
        self.raw = ""

    def expect(self, words: str) -> None:
        self.child.expect(re.escape(words))
        self.raw += self.child.before + self.child.after

    def answer(self, *lines: str) -> None:
        for line in lines:
            self.expect(": ")
            self.child.sendline(line)

    def finish(self, code: int) -> str:
        """Return the whole output; assert the exit code."""
        self.child.expect(pexpect.EOF)
        self.raw += self.child.before
        self.child.wait()
        shown = ESCAPES.sub("", self.raw).replace("\r\n", "\n")
        assert (self.child.exitstatus, self.child.signalstatus) == (code, None), shown
        assert "Traceback" not in shown
        return shown


@contextmanager
def terminal(
    sandbox: Sandbox | None,
    folder: Path,
    *arguments: str,
    program: str = "",
    size: tuple[int, int] = (30, 100),
    **more: str,
) -> Iterator[Terminal]:
    """Start the command, or another program, in a terminal."""
    env = environment(sandbox, **more)
    whole = [COMMAND[0], *([program] if program else COMMAND[1:]), *arguments]
    command, *words = launch_command(whole, env)
    child = pexpect.spawn(
        command,
        words,
        cwd=str(folder),
        env=env,
        encoding="utf-8",
        codec_errors="replace",
        timeout=20,
        dimensions=size,
    )
    child.delaybeforesend = None
    child.ptyproc.delayafterclose = 0.0
    try:
        yield Terminal(child)
    finally:
        child.close(force=True)
