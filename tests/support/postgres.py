"""A PostgreSQL server of the tests' own: found, started on a socket in a new folder, ended."""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from contextlib import contextmanager
from itertools import count
from pathlib import Path

_PATIENCE = 40.0
_WATCHED = """
"$@" &
read -r how
kill -s "${how:-QUIT}" $!
wait $!
[ -n "$how" ] || rm -rf -- "$PWD"
"""
"""Runs the server until told how to end it, or until whoever should tell is dead."""


def binaries():
    """The folder that holds `initdb` and `postgres`, if there is one."""
    for folder in _folders():
        if all(os.access(folder / name, os.X_OK) for name in ("initdb", "postgres")):
            return folder
    return None


def _folders():
    if asked := shutil.which("pg_config"):
        said = subprocess.run([asked, "--bindir"], capture_output=True, text=True, check=False)
        yield Path(said.stdout.strip())
    yield from sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    yield Path("/usr/local/bin")
    if found := shutil.which("postgres"):
        yield Path(found).resolve().parent


class Postgres:
    """A server that lives as long as the `with` block; it trusts whoever reaches its socket."""

    def __init__(self, folder):
        self._binaries = folder
        # Not TMPDIR: a socket's path is short, and another user has to reach it.
        self._home = Path(tempfile.mkdtemp(prefix="ferry-", dir="/tmp"))
        self._server = None
        self._names = (f"journal{number}" for number in count())
        self._account = _account()

    @property
    def home(self):
        """The folder of its socket."""
        return self._home

    def new_url(self):
        import psycopg

        name = next(self._names)
        with psycopg.connect(self._conninfo()) as connection:
            connection.execute(f"CREATE SCHEMA {name}".encode())
        return f"postgresql://ferry@/postgres?host={self._home}&options=-csearch_path%3D{name}"

    def restart(self):
        """End every connection, as an upgrade would."""
        self._stop("INT")
        self._start()

    def crash(self):
        """End every process at once, with what they have not written, and start again."""
        self._stop("QUIT")
        self._start()

    def execute(self, statement):
        """Run a statement as the owner of the server; return its rows."""
        import psycopg

        with psycopg.connect(self._conninfo(), autocommit=True) as connection:
            cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []

    def processes(self):
        """The processes that serve connections, and the one that accepts new ones."""
        serving = "backend_type = 'client backend' AND pid <> pg_backend_pid()"
        rows = self.execute(f"SELECT pid FROM pg_stat_activity WHERE {serving}")  # noqa: S608 -- a constant
        first_line = (self._home / "data" / "postmaster.pid").read_text().splitlines()[0]
        return [pid for (pid,) in rows], int(first_line)

    @contextmanager
    def frozen(self, *, accepts):
        """Stop the processes that serve connections, and unless it accepts new ones, all."""
        serving, accepting = self.processes()
        stopped = serving if accepts else [*serving, accepting]
        try:
            for pid in stopped:
                os.kill(pid, signal.SIGSTOP)
            yield
        finally:
            for pid in stopped:
                os.kill(pid, signal.SIGCONT)

    def __enter__(self):
        if self._account is not None:
            os.chown(self._home, self._account.pw_uid, self._account.pw_gid)
        try:
            options = ("--username=ferry", "--auth=trust", "--encoding=UTF8", "--no-sync")
            made = self._run(*self._program("initdb"), *options)
            made.communicate(timeout=_PATIENCE)
            assert made.returncode == 0, self._log()
            self._start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self._stop("QUIT")
        shutil.rmtree(self._home, ignore_errors=True)

    def _start(self):
        import psycopg

        server = (*self._program("postgres"), "-k", str(self._home), "-c", "listen_addresses=")
        self._server = self._run("sh", "-c", _WATCHED, "sh", *server)
        until = time.monotonic() + _PATIENCE
        while True:
            try:
                psycopg.connect(self._conninfo()).close()
            except psycopg.OperationalError:
                assert time.monotonic() < until, self._log()
                time.sleep(0.02)
            else:
                return

    def _stop(self, how):
        if self._server is not None:
            self._server.communicate(f"{how}\n".encode(), timeout=_PATIENCE)
            self._server = None

    def _program(self, name):
        return (str(self._binaries / name), "-D", str(self._home / "data"))

    def _run(self, *command):
        account = self._account
        with (self._home / "log").open("ab") as log:
            return subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                cwd=self._home,
                env={"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC"},
                # A Ctrl-C of the terminal is for the tests, which then end the server.
                start_new_session=True,
                user=None if account is None else account.pw_uid,
                group=None if account is None else account.pw_gid,
                extra_groups=None if account is None else [],
            )

    def _conninfo(self):
        return f"host={self._home} user=ferry dbname=postgres"

    def _log(self):
        return (self._home / "log").read_text(errors="replace")


def _account():
    """Who runs the server; None where it may be whoever runs the tests, which is not root."""
    if os.geteuid() != 0:
        return None
    try:
        return pwd.getpwnam("postgres")
    except KeyError:
        return pwd.getpwnam("nobody")
