"""A port that stays taken whether or not anybody listens at it."""

from __future__ import annotations

import socket

HOST = "127.0.0.1"


class Door:
    """The listening socket of a port that is found free; nobody listens before `open`.

    Attributes:
        port: The port.
    """

    def __init__(self) -> None:
        self._holder = _bound(0)
        self.port: int = self._holder.getsockname()[1]
        self._listener: socket.socket | None = None
        self._caller: socket.socket | None = None

    def open(self) -> socket.socket:
        """Listen."""
        self.shut()
        self._listener = _bound(self.port)
        self._listener.listen(64)
        return self._listener

    def shut(self) -> None:
        """Do not listen: attempts to connect are refused."""
        if self._listener is not None:
            self._listener.shutdown(socket.SHUT_RDWR)  # close alone does not wake who accepts
            self._listener.close()
        if self._caller is not None:
            self._caller.close()
        self._listener = self._caller = None

    def jam(self) -> None:
        """Listen with a queue that is full: attempts to connect get no answer at all."""
        self.shut()
        self._listener = _bound(self.port)
        self._listener.listen(0)
        self._caller = socket.socket()
        self._caller.setblocking(False)  # another caller may have been faster
        self._caller.connect_ex((HOST, self.port))

    def close(self) -> None:
        """Give up the port."""
        self.shut()
        self._holder.close()


def _bound(port: int) -> socket.socket:
    bound = socket.socket()
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    bound.bind((HOST, port))
    return bound
