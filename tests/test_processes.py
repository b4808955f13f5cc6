"""Forked processes are what new ones are: files, signals, a terminal, and how they end."""

import os
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from tests.support.processes import ADDRESS, launch_command, run, start
from tests.support.tables import each

if ADDRESS not in os.environ:
    pytest.skip("every process is a new one here", allow_module_level=True)

PIPE = subprocess.PIPE
OWN = {name: value for name, value in os.environ.items() if name[:6] == "PYTHON"}
"""What a forked process shares with the tests, because an interpreter reads it at its start."""


def python(text, *more):
    return [sys.executable, "-c", text, *more]


def by_the_launcher(command):
    return subprocess.Popen(launch_command(command), stdin=PIPE, stdout=PIPE, text=True)


either_way = each("started", [partial(start, stdin=PIPE, stdout=PIPE, text=True), by_the_launcher])


def test_they_are_forked_and_have_words_a_folder_and_an_environment_of_their_own(tmp_path):
    loaded = python("import sys; print('fpdf' in sys.modules)")
    assert run(loaded).stdout == "True\n"
    assert run(loaded, env={"PYTHONHASHSEED": "1"}).stdout == "False\n"
    text = (
        "import os, sys, time\n"
        "print(sys.argv, sys.stdin.read(), os.getcwd(), len(os.environ), time.timezone)"
    )
    ended = run(python(text, "a", "b"), given="é", cwd=tmp_path, env={**OWN, "TZ": "UTC-1"})
    assert ended.stdout == f"['-c', 'a', 'b'] é {tmp_path} {len(OWN) + 1} -3600\n"


@either_way
@pytest.mark.long
@each(
    "text",
    [
        "pass",
        "raise SystemExit(7)",
        "raise SystemExit('no')",
        "1 / 0",
        "import os; os.kill(os.getpid(), 9)",
        "import os; os.dup2(os.open('/dev/full', os.O_WRONLY), 1); print(1)",
    ],
)
def test_they_end_with_the_code_of_an_interpreter(started, text):
    with started(python(text)) as process:
        process.communicate(timeout=30)
    new = subprocess.run(python(text), check=False, capture_output=True)
    assert process.returncode == new.returncode


def test_what_is_done_at_exit_is_done():
    text = (
        "import atexit, threading, time; atexit.register(print, 'last')\n"
        "threading.Thread(target=lambda: (time.sleep(0.1), print('thread'))).start()"
    )
    assert run(python(text)).stdout == "thread\nlast\n"


@either_way
def test_nobody_outlives_who_was_killed(started):
    text = "import os, sys; print(os.getpid(), flush=True); sys.stdin.read()"
    with started(python(text)) as process:
        pid = int(process.stdout.readline())
        process.kill()
        assert process.wait(30) == -signal.SIGKILL
        assert process.stdout.read() == ""
    while Path(f"/proc/{pid}").exists():
        pass


def test_a_terminal_is_theirs():
    pexpect = pytest.importorskip("pexpect")
    text = "open('/dev/tty').close(); print(*__import__('os').get_terminal_size()); input('? ')"
    command, *words = launch_command(python(text))
    child = pexpect.spawn(command, words, dimensions=(30, 100), timeout=30)
    child.expect_exact("? ")
    assert child.before.strip() == b"100 30"
    child.send("\x03")
    child.expect(pexpect.EOF)
    assert b"KeyboardInterrupt" in child.before
    child.wait()
    assert child.signalstatus == signal.SIGINT
