"""The sessions of `/mcp`: opened by initialize, ended by the client or by age."""

from __future__ import annotations

import secrets
import threading
from datetime import timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

    from ferry_sdk.sandbox.clock import Clock


class McpSessions:
    """The sessions by their id; they age by the service's clock."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._opened: dict[str, datetime] = {}

    def open(self) -> str:
        """Open a session and return its id."""
        session = secrets.token_hex(16)
        with self._lock:
            self._opened[session] = self._clock.now()
        return session

    def alive(self, session: str, seconds: float) -> bool:
        """Whether the session was opened, has not ended, and is younger than `seconds`."""
        with self._lock:
            opened = self._opened.get(session)
        return opened is not None and self._clock.now() - opened < timedelta(seconds=seconds)

    def end(self, session: str) -> bool:
        """End a session; whether there was one."""
        with self._lock:
            return self._opened.pop(session, None) is not None

    def clear(self) -> None:
        """End every session."""
        with self._lock:
            self._opened.clear()
