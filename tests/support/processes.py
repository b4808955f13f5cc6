"""Programs of the tests: each is forked from one process that has imported what they all import.

What an import does or costs is shown by a really new process only, with `new=True`."""

import os
import select
import socket
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

from tests.support.fork_client import ask, number_of

ADDRESS = "TESTS_FORK_SERVER"
HERE = Path(__file__).parent
UNWANTED = ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR")
"""What programs find in their environment only if the test says so; some read it at import."""


@contextmanager
def fork_server():
    """Run the server for this process and all that it starts."""
    kept = {name: value for name, value in os.environ.items() if name not in UNWANTED}
    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as listener:
        address = str(Path(folder, "forks"))
        listener.bind(address)
        listener.listen(64)
        with subprocess.Popen(
            [sys.executable, HERE / "fork_server.py", str(listener.fileno())],
            stdin=subprocess.PIPE,
            # A process that forks has no threads, numpy's own neither.
            env={**kept, "PYTHONUTF8": "1", "OPENBLAS_NUM_THREADS": "1"},
            pass_fds=[listener.fileno()],
            start_new_session=True,
        ):
            listener.close()  # with the server ends the last who would answer
            os.environ[ADDRESS] = address
            yield
            del os.environ[ADDRESS]


def _can_fork(environment):
    """Whether there is a server whose interpreter found at its start what this one would find."""
    given, found = (
        {name: value for name, value in one.items() if name[:6] == "PYTHON"}
        for one in (environment or os.environ, os.environ)
    )
    return ADDRESS in os.environ and given in (found, {**found, "PYTHONUTF8": "1"})


def launch_command(command, environment=None):
    """A command of the interpreter's for who starts commands: a shell, a terminal, a host."""
    if not _can_fork(environment):
        return command
    launcher = str(HERE / "fork_launcher.py")
    return [sys.executable, "-E", "-s", "-S", launcher, os.environ[ADDRESS], *command[1:]]


class _Forked(subprocess.Popen[str]):
    """A process that the server forked; `args[0]` is the interpreter."""

    def _execute_child(self, args, *rest):
        _, _, _, pass_fds, cwd, env, _, _, _, *pipes = rest[:15]
        child = dict(zip(range(3), (pipes[0], pipes[3], pipes[5]), strict=True))
        files = {number: number if file == -1 else file for number, file in child.items()}
        files |= {number: number for number in pass_fds}
        environment = dict(os.environ if env is None else env)
        words = [str(one) for one in args[1:]]
        self._server = ask(os.environ[ADDRESS], words, str(cwd or Path.cwd()), environment, files)
        self.pid = number_of(self._server)
        self._child_created = True
        self._close_pipe_fds(*pipes)

    def _internal_poll(self, *_, **__):
        return self._ended(0)

    def _wait(self, timeout):
        code = self._ended(timeout)
        if code is None:
            raise subprocess.TimeoutExpired(self.args, timeout or 0)
        return code

    def _ended(self, timeout):
        if self.returncode is None and select.select([self._server], [], [], timeout)[0]:
            self.returncode = number_of(self._server)
            self._server.close()
        return self.returncode


def start(command, *, env=None, new=False, **options):
    """Start a command of the interpreter's; the options are those of `subprocess.Popen`."""
    kind = _Forked if _can_fork(env) and not new else subprocess.Popen
    return kind(command, env=env, **options)


def run(command, *, given=None, timeout=50, **options):
    """Run a command of the interpreter's to its end; what it prints is text."""
    pipe = subprocess.PIPE
    stdin = subprocess.DEVNULL if given is None else pipe
    with start(
        command, stdin=stdin, stdout=pipe, stderr=pipe, text=True, encoding="utf-8", **options
    ) as process:
        try:
            out, err = process.communicate(given, timeout=timeout)
        except BaseException:
            process.kill()
            raise
    return subprocess.CompletedProcess(command, process.returncode, out, err)
