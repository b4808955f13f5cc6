"""A Redis server of the tests' own: found, started on a free port of this machine, ended."""

import shutil
import socket
import subprocess
import tempfile
import time

import redis

_PATIENCE = 40.0
_WATCHED = '"$@" & read -r _; kill -KILL $!; wait $!'
"""Runs the server until told to end it, or until whoever should tell is dead."""


def binary():
    """The program, if there is one; Valkey is the same for a limiter."""
    return shutil.which("redis-server") or shutil.which("valkey-server")


class RedisServer:
    """A server that lives as long as the `with` block, and keeps nothing on disk."""

    def __init__(self, program):
        self._program = program
        self._home = tempfile.mkdtemp(prefix="ferry-")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self._port = free.getsockname()[1]
        self.url = f"redis://127.0.0.1:{self._port}"

    def restart(self):
        self._stop()
        self._start()

    def __enter__(self):
        self._start()
        return self

    def __exit__(self, *_):
        self._stop()
        shutil.rmtree(self._home, ignore_errors=True)

    def _start(self):
        options = ["--bind", "127.0.0.1", "--port", f"{self._port}", "--dir", self._home]
        self._server = subprocess.Popen(
            ["/bin/sh", "-c", _WATCHED, "sh", self._program, *options, "--save", ""],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            # A Ctrl-C of the terminal is for the tests, which then end the server.
            start_new_session=True,
        )
        until = time.monotonic() + _PATIENCE
        with redis.Redis.from_url(self.url) as client:
            while True:
                try:
                    client.ping()
                except redis.ConnectionError:
                    assert time.monotonic() < until
                    assert self._server.poll() is None
                    time.sleep(0.02)
                else:
                    return

    def _stop(self):
        self._server.communicate(b"\n", timeout=_PATIENCE)
