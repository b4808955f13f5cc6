"""What this process has open, as the system sees it."""

import os
import socket
from contextlib import suppress
from urllib.parse import urlsplit


def descriptors():
    found = {}
    with os.scandir("/proc/self/fd") as links:
        for link in links:
            with suppress(FileNotFoundError):  # the folder's own, or closed meanwhile
                found[link.name] = os.readlink(link.path)  # noqa: PTH115 -- there are hundreds
    return found


def connections_to(url):
    port = urlsplit(url).port
    found = set()
    for number, name in descriptors().items():
        if name.startswith("socket:"):
            with suppress(OSError):  # it is not connected, or was closed meanwhile
                looked_at = socket.socket(socket.AF_INET, socket.SOCK_STREAM, fileno=int(number))
                try:
                    peer = looked_at.getpeername()
                finally:
                    looked_at.detach()
                if peer[1:2] == (port,):
                    found.add(name)
    return found
