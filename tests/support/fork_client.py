"""What is said to the fork server. It imports little: the launcher starts with it each time."""

import marshal
import socket
import struct

NUMBER = struct.Struct("i")


def ask(address, arguments, folder, environment, files):
    """Ask the fork server to run a program; return the connection on which it reports."""
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(address)
    said = marshal.dumps((arguments, folder, environment, [*files]))
    socket.send_fds(connection, [NUMBER.pack(len(said))], [*files.values()])
    connection.sendall(said)
    return connection


def number_of(connection):
    """The process id, and then the exit code."""
    heard = connection.recv(NUMBER.size, socket.MSG_WAITALL)
    if not heard:
        raise ConnectionError("the fork server has ended")
    return NUMBER.unpack(heard)[0]
