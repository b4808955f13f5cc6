"""The idle connections of a client."""

from __future__ import annotations

import time
from collections import deque
from contextlib import suppress
from typing import Final, Generic, TypeVar

import httpcore

ConnectionT = TypeVar("ConnectionT", httpcore.HTTPConnection, httpcore.AsyncHTTPConnection)

KEPT_FOR: Final = 5.0
"""Seconds after which an idle connection is not reused."""


class IdleConnections(Generic[ConnectionT]):
    """Idle connections by origin; safe between threads.

    Attributes:
        is_closed: Whether connections are no longer kept.
    """

    def __init__(self) -> None:
        self.is_closed = False
        self._idle: dict[str, deque[tuple[float, ConnectionT]]] = {}

    def take(self, origin: str) -> tuple[ConnectionT | None, list[ConnectionT]]:
        """Return the usable connection given back last, and the expired ones to close."""
        expired: list[ConnectionT] = []
        idle = self._idle.setdefault(origin, deque())
        while idle:
            try:
                _, connection = idle.pop()
            except IndexError:  # another thread was faster
                break
            if connection.is_available() and not connection.has_expired():
                return connection, expired
            expired.append(connection)
        return None, expired

    def give_back(self, origin: str, connection: ConnectionT) -> list[ConnectionT]:
        """Keep a connection; return those to close."""
        if not connection.is_available() or _has_unread_data(connection):
            return [connection]
        self._idle[origin].append((time.monotonic(), connection))
        return self.end() if self.is_closed else self._pop_expired()

    def end(self) -> list[ConnectionT]:
        """Stop keeping connections; return those to close."""
        self.is_closed = True
        ended: list[ConnectionT] = []
        for idle in tuple(self._idle.values()):
            with suppress(IndexError):  # empty
                while True:
                    ended.append(idle.pop()[1])
        return ended

    def _pop_expired(self) -> list[ConnectionT]:
        oldest_wanted = time.monotonic() - KEPT_FOR
        expired: list[ConnectionT] = []
        for idle in tuple(self._idle.values()):
            try:
                while idle and idle[0][0] < oldest_wanted:
                    since, connection = idle.popleft()
                    if since < oldest_wanted:
                        expired.append(connection)
                    else:  # another thread was faster
                        idle.appendleft((since, connection))
            except IndexError:
                continue
        return expired


def _has_unread_data(connection: object) -> bool:
    """Return whether bytes came after the reply: the next call would take them for its own reply.

    httpcore does not look, and documents no way to. If its private attributes are gone, the answer
    is yes: a connection that cannot be checked is closed, and never used again.
    """
    inner = getattr(connection, "_connection", None)
    if hasattr(inner, "_h2_state"):
        return False  # HTTP/2 numbers its streams, so a stray frame is nobody's reply
    protocol = getattr(inner, "_h11_state", None)
    return protocol is None or bool(protocol.trailing_data[0])
