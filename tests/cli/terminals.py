"""Run a command in a pseudo-terminal."""

import re
import sys
import warnings
from contextlib import contextmanager

import pytest

from tests.cli.conftest import COMMAND, environment
from tests.support.processes import launch_command

pexpect = pytest.importorskip("pexpect")
if sys.platform == "win32":
    pytest.skip("there are no pseudo-terminals", allow_module_level=True)


class Terminal:
    """A person at a terminal."""

    def __init__(self, child):
        self.child = child
        self.raw = ""

    def expect(self, words):
        self.child.expect(re.escape(words))
        self.raw += self.child.before + self.child.after

    def answer(self, line):
        self.expect(": ")
        self.child.sendline(line)

    def finish(self, code):
        """Return the whole output; assert the exit code."""
        self.child.expect(pexpect.EOF)
        self.raw += self.child.before
        self.child.wait()
        escapes = r"\x1b(\[[0-9;?]*[A-Za-z]|[()][A-Z0-9])"
        shown = re.sub(escapes, "", self.raw).replace("\r\n", "\n")
        assert (self.child.exitstatus, self.child.signalstatus) == (code, None), shown
        assert "Traceback" not in shown
        return shown


@contextmanager
def terminal(sandbox, folder, *arguments, program="", size=(30, 100), **more):
    """Start the command, or another program, in a terminal."""
    env = environment(sandbox, **more)
    interpreter, *ferry = COMMAND
    started = [program] if program else ferry
    command, *words = launch_command([interpreter, *started, *arguments], env)
    with warnings.catch_warnings():
        # pexpect forks beside the thread of the local service, and the child only executes.
        warnings.filterwarnings("ignore", ".*multi-threaded, use of fork", DeprecationWarning)
        child = pexpect.spawn(
            command,
            words,
            cwd=str(folder),
            env=env,
            timeout=60,
            dimensions=size,
            encoding="utf-8",
            codec_errors="replace",
        )
    child.delaybeforesend = None
    child.ptyproc.delayafterclose = 0.0
    try:
        yield Terminal(child)
    finally:
        child.close(force=True)
