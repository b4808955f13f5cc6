"""A process that has imported what the tests' programs import, and forks a child for each of them.

It imports nothing else, and ends with the process that started it: `tests/support/processes.py`."""

from __future__ import annotations

import atexit
import fcntl
import gc
import io
import marshal
import os
import runpy
import select
import signal
import socket
import sys
import termios
import time
import warnings
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from fork_client import NUMBER

IMPORTS = (
    "anyio._backends._asyncio",
    "encodings.idna",
    "ferry_sdk._transport.default_client",
    "ferry_sdk._transport.pools",
    "ferry_sdk.agents.mcp_server.process",
    "ferry_sdk.cli.app",
    "ferry_sdk.cli.commands.calendar",
    "ferry_sdk.cli.commands.ports",
    "ferry_sdk.cli.commands.book",
    "ferry_sdk.cli.commands.cancel",
    "ferry_sdk.cli.commands.change",
    "ferry_sdk.cli.commands.conform",
    "ferry_sdk.cli.commands.journal",
    "ferry_sdk.cli.commands.reconcile",
    "ferry_sdk.cli.commands.voucher",
    "ferry_sdk.cli.demo",
    "ferry_sdk.cli.terminal.command_journal",
    "ferry_sdk.journal",
    "ferry_sdk.planning.calendar",
    "ferry_sdk.planning.groups",
    "ferry_sdk.planning.streams",
    "ferry_sdk._engine.retry",
    "ferry_sdk.sandbox.server",
    "fpdf",
    "rich._emoji_codes",
    "rich.progress",
    "rich.status",
    "sqlalchemy.dialects.sqlite",
    "tenacity",
    "time_machine",
    "typer._adapters",
    "typer._click.decorators",
    "typer.rich_utils",
    "uvicorn.lifespan.off",
)
MOST_FILES = 16
OUT_OF_THE_WAY = 200
"""Above every file that the server or a test has open."""
STARTER = 0
"""The file that ends when the process does that started the server."""


class Request(NamedTuple):
    """A program to run: the arguments of the interpreter, and what it finds around it."""

    arguments: list[str]
    folder: str
    environment: dict[str, str]
    files: dict[int, int]


class Server:
    """The parent of all programs, and the connections to those who asked for them."""

    def __init__(self, listener):
        self._listener = listener
        self._ended, self._wake = socket.socketpair()
        for one in (listener, self._ended, self._wake):
            one.setblocking(False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self._wake.fileno(), warn_on_full_buffer=False)
        self._running = {}

    def next_request(self):
        """Fork a child for each request, in which this returns; in the server, it never does."""
        while True:
            own = [STARTER, self._ended, self._listener]
            ready, _, _ = select.select([*own, *self._running.values()], [], [])
            for pid, connection in self._running.items():
                if connection in ready or STARTER in ready:
                    os.kill(pid, signal.SIGKILL)
            if STARTER in ready:
                os._exit(0)
            if self._ended in ready:
                self._tell_codes()
            if self._listener in ready and (request := self._forked()):
                return request

    def _tell_codes(self):
        self._ended.recv(1024)
        while self._running:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                return
            with self._running.pop(pid) as connection:
                tell(connection, os.waitstatus_to_exitcode(status))

    def _forked(self):
        """The request that has come, in the child that is there for it."""
        connection, _ = self._listener.accept()
        connection.setblocking(True)
        request = received(connection)
        if pid := os.fork():
            tell(connection, pid)
            self._running[pid] = connection
            for file in request.files.values():
                os.close(file)
            return None
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        others = self._running.values()
        for one in (self._listener, self._ended, self._wake, connection, *others):
            one.close()
        return request


def received(connection):
    head, files, _, _ = socket.recv_fds(connection, NUMBER.size, MOST_FILES)
    with connection.makefile("rb") as rest:
        said = rest.read(*NUMBER.unpack(head))
    arguments, folder, environment, numbers = marshal.loads(said)  # noqa: S302 -- our own client's
    return Request(arguments, folder, environment, dict(zip(numbers, files, strict=True)))


def tell(connection, number):
    with suppress(BrokenPipeError):  # nobody is there to hear it
        connection.sendall(NUMBER.pack(number))


def become(request):
    """Have the files, the folder, the environment and the session of a process of its own."""
    os.setsid()
    high = {}
    for number, file in request.files.items():
        high[number] = fcntl.fcntl(file, fcntl.F_DUPFD_CLOEXEC, OUT_OF_THE_WAY)
        os.close(file)
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        os.close(stream.fileno())
    for number, file in high.items():
        os.dup2(file, number, inheritable=True)
        os.close(file)
    if 0 in high and os.isatty(0):
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    os.chdir(request.folder)
    check_interpreter(request.environment)
    os.environ.clear()
    os.environ.update(request.environment)
    time.tzset()


def check_interpreter(environment):
    """What an interpreter reads at its start has to be what this one has read."""
    for name in {*environment, *os.environ}:
        if name.startswith("PYTHON") and (name, environment.get(name)) != ("PYTHONUTF8", None):
            assert environment.get(name) == os.environ.get(name), name


def reopen(numbers, *, unbuffered):
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        old = getattr(sys, name)
        stream = None
        if number in numbers:
            mode, size = ("rb", -1) if number == 0 else ("wb", 0 if unbuffered else -1)
            stream = io.TextIOWrapper(
                open(number, mode, size, closefd=False),  # noqa: SIM115 -- a file of the process
                encoding=old.encoding,
                errors=old.errors,
                newline=None if number == 0 else "\n",
                line_buffering=number == 2 or os.isatty(number),
                write_through=number > 0 and unbuffered,
            )
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)


def run(arguments):
    """Run a module, a text or a file, as the interpreter with these arguments does."""
    kind, *rest = arguments
    if kind == "-m":
        sys.argv, sys.path[0] = rest, str(Path.cwd())
        runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
    elif kind == "-c":
        sys.argv, sys.path[0] = ["-c", *rest[1:]], ""
        exec(compile(rest[0], "<string>", "exec"), {"__name__": "__main__"})  # noqa: S102 -- a test's
    else:
        sys.argv, sys.path[0] = arguments, str(Path(kind).resolve().parent)
        runpy.run_path(kind, run_name="__main__")


class End:
    """The end of a program, without the teardown of the interpreter."""

    code: int | None = None

    def note(self, arguments):
        """Run the program, and note how it ends if that is its last word."""
        try:
            run(arguments)
            self.code = 0
        except SystemExit as end:
            if end.code is None or isinstance(end.code, int):
                self.code = (end.code or 0) & 0xFF
            raise

    def leave(self):
        """The last of what is done at exit; what fails here fails again where it always does."""
        if self.code is None:
            return
        gc.collect()
        try:
            for stream in (sys.stdout, sys.stderr):
                if stream is not None:
                    stream.flush()
        except (OSError, ValueError):
            return
        os._exit(self.code)


def main():
    """Import what programs need, and run each program in a fork."""
    end = End()
    atexit.register(end.leave)  # before any import does, because it does not come back
    listener = socket.socket(fileno=int(sys.argv[1]))
    ready, _, _ = select.select([STARTER, listener], [], [])
    if STARTER in ready:
        return  # a run of tests that start no program needs no import
    for name in IMPORTS:
        with suppress(ModuleNotFoundError):  # not every environment has every extra
            import_module(name)
    # No program waits between attempts, as no call of a test does.
    sys.modules["ferry_sdk._engine.retry"]._retry_delay = lambda _: 0.0
    # None hashes the name of a file of routes for long: `tests/cli/conftest.py` names them, too.
    sys.modules["ferry_sdk.planning.route_files"]._ROUNDS = 1
    gc.collect()
    gc.freeze()
    request = Server(listener).next_request()
    become(request)
    arguments = request.arguments
    unbuffered = sys.stdout.write_through  # as the environment says
    while arguments[0] in ("-u", "-W"):
        if arguments.pop(0) == "-W":
            warnings.simplefilter(arguments.pop(0))
        else:
            unbuffered = True
    reopen({*request.files}, unbuffered=unbuffered)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    end.note(arguments)


if __name__ == "__main__":
    main()
