"""What is said to the fork server. It imports little: the launcher starts with it each time."""

from __future__ import annotations

import marshal
import socket
import struct

NUMBER = struct.Struct("i")


def ask(
    address: str,
    arguments: list[str],
    folder: str,
    environment: dict[str, str],
    files: dict[int, int],
) -> socket.socket:
    """Ask for a program with these files, by the numbers that it has them under."""
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(address)
    said = marshal.dumps((arguments, folder, environment, [*files]))
    socket.send_fds(connection, [NUMBER.pack(len(said))], [*files.values()])
    connection.sendall(said)
    return connection


def number_of(connection: socket.socket) -> int:
    """The process id, and then the exit code."""
    heard = connection.recv(NUMBER.size, socket.MSG_WAITALL)
    if not heard:
        raise ConnectionError("the fork server has ended")
    return NUMBER.unpack(heard)[0]
