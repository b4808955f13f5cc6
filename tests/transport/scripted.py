"""A service of real sockets that does, connection after connection, what a script says."""

import json
import socket
import struct
import threading
from contextlib import ExitStack, suppress

from tests.support import samples

_LONG = 20.0
"""Seconds after which nothing of a test can be right any more."""
_ANSWERS = {
    "GET /api/port": {"ports": []},
    "POST /api/booking": samples.BOOKING_CREATED,
    "POST /api/booking/confirm": samples.BOOKING_CONFIRMATION,
    "GET /api/booking/b-1": {**samples.BOOKING, "stage": "ticketed"},
}


class Service:
    """Listens on a free port of this machine; the last script is every later connection's.

    Attributes:
        asked: Method and path of every request that was read whole, in order.
        tunnels: What a client asked a proxy to be connected with.
        heard: Bytes of requests that arrived, whole or not.
        stopped: Set when the service is closed: what hangs may end.
    """

    def __init__(self, *scripts, listening=True, backlog=16):
        self.asked = []
        self.tunnels = []
        self.heard = 0
        self.stopped = threading.Event()
        self._backlog = backlog
        self._scripts = list(scripts)
        self._threads = []
        self._connections = []
        self._open = ExitStack()
        self.listener = self._open.enter_context(socket.socket())
        self.listener.bind(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.secure_url = f"https://localhost:{self.port}"
        if listening:
            self.listen()

    def listen(self):
        self.listener.listen(self._backlog)
        self.accept()

    def accept(self):
        self._start(self._accepting)

    def refuse(self):
        with suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)

    @property
    def accepted(self):
        return len(self._connections)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stopped.set()
        self.refuse()
        for connection in self._connections:
            connection.close()
        for thread in self._threads:
            thread.join(_LONG)
        self._open.close()

    def _start(self, target, *arguments):
        thread = threading.Thread(target=target, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accepting(self):
        with suppress(OSError):
            while not self.stopped.is_set():
                connection = Connection(self, self.listener.accept()[0])
                self._connections.append(connection)
                script = self._scripts.pop(0) if len(self._scripts) > 1 else self._scripts[0]
                self._start(self._follow, script, connection)

    @staticmethod
    def _follow(script, connection):
        with suppress(OSError):
            script(connection)
        connection.close()


class Connection:
    """A connection that the service has accepted; scripts use it."""

    def __init__(self, service, accepted):
        accepted.settimeout(_LONG)
        self.service = service
        self.socket = accepted
        self._unread = b""

    def receive(self, most=65536):
        received = self.socket.recv(most)
        self.service.heard += len(received)
        return received

    def request(self):
        """Read a request, and return its method and path; None if the client closes."""
        while b"\r\n\r\n" not in self._unread:
            if not self._receive_more():
                return None
        head, _, self._unread = self._unread.partition(b"\r\n\r\n")

        length = 0
        for header in head.lower().split(b"\r\n"):
            name, _, value = header.partition(b":")
            if name == b"content-length":
                length = int(value)
        while len(self._unread) < length:
            if not self._receive_more():
                return None
        self._unread = self._unread[length:]

        method, target = head.split(b" ", 2)[:2]
        _, is_absolute, path = target.decode().rpartition("://")
        if is_absolute:  # a request to a proxy
            path = "/" + path.partition("/")[2]
        line = f"{method.decode()} {path}"
        if method == b"CONNECT":
            self.service.tunnels.append(line)
        else:
            self.service.asked.append(line)
        return line

    def send(self, status, body=b"", *, length=None):
        size = len(body) if length is None else length
        head = b"HTTP/1.1 %b\r\ncontent-length: %d\r\n" % (status.encode(), size)
        # In one piece, as a second one waits until the first is acknowledged.
        self.socket.sendall(head + b"content-type: application/json\r\n\r\n" + body)

    def secure(self, context):
        self.socket = context.wrap_socket(self.socket, server_side=True)

    def reset(self):
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()

    def close(self):
        with suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()

    def _receive_more(self):
        received = self.receive()
        self._unread += received
        return bool(received)


def answer_to(line):
    return json.dumps(_ANSWERS[line]).encode()


def serve(connection):
    while line := connection.request():
        connection.send("200 OK", answer_to(line))


def serve_once(connection):
    connection.send("200 OK", answer_to(connection.request() or ""))


def hang(connection):
    connection.service.stopped.wait(_LONG)


def half_a_head(connection):
    connection.socket.sendall(b"HTTP/1.1 200 OK\r\ncontent-le")


def half_a_body(connection):
    connection.send("200 OK", b'{"po', length=100)


def in_turn(*scripts):
    """Return a script that follows others, one after the other."""

    def follow(connection):
        for script in scripts:
            script(connection)

    return follow


def over_tls(context, script=serve):
    return in_turn(lambda connection: connection.secure(context), script)


def read_bytes(count):
    return in_turn(*[lambda connection: connection.receive(1)] * count)


cut = Connection.close
reset = Connection.reset
read_request = Connection.request
