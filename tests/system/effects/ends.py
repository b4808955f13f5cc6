"""The two ends of a proxy, as plain sockets: a service, and one who calls it."""

from __future__ import annotations

import select
import socket
import threading
import time
from contextlib import suppress

from tests.support.cutting_harms import is_whole

HEAD = b"POST /things HTTP/1.1\r\nHost: here\r\nContent-Length: 10\r\n\r\n"
REQUEST = HEAD + b"0123456789"
ANSWER = b"HTTP/1.1 201 Created\r\nContent-Length: 20\r\n\r\n" + b"a" * 20


class Service:
    """Answers every whole request; notes every byte.

    Attributes:
        seen: What came in, by connection.
    """

    def __init__(self):
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.answer = ANSWER
        self.seen: list[bytearray] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def got(self, expected):
        """Whether this has come in, all in all, before long."""
        until = time.monotonic() + 10
        while b"".join(map(bytes, self.seen)) != expected and time.monotonic() < until:
            time.sleep(0.005)
        return b"".join(map(bytes, self.seen)) == expected

    def close(self):
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self):
        with suppress(OSError):
            while True:
                link, _ = self._listener.accept()
                self.seen.append(bytearray())
                threading.Thread(
                    target=self._serve, args=(link, self.seen[-1]), daemon=True
                ).start()

    def _serve(self, link, seen):
        answered = 0
        with link, suppress(OSError):
            while data := link.recv(4096):
                seen += data
                while is_whole(bytes(seen[answered:])):
                    answered += len(REQUEST)
                    link.sendall(self.answer)


class Caller:
    """A client that sends what it is told to and reads what it gets."""

    def __init__(self, proxy):
        port = int(proxy.base_url.rpartition(":")[2])
        self.link = socket.create_connection(("127.0.0.1", port), timeout=30)

    def say(self, data=REQUEST):
        self.link.sendall(data)

    def hear(self, size=1_000_000):
        """So many bytes, or fewer where the connection ends in order."""
        heard = b""
        while len(heard) < size:
            data = self.link.recv(size - len(heard))
            if not data:
                break
            heard += data
        return heard

    def read_until_reset(self):
        heard = b""
        while True:
            try:
                data = self.link.recv(4096)
            except ConnectionResetError:
                return heard
            assert data, "an orderly end, where a reset was expected"
            heard += data

    def hears_nothing_for(self, seconds):
        return not select.select([self.link], [], [], seconds)[0]

    def close(self):
        self.link.close()
