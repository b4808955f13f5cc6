"""The limits that users ask for, each in one place."""

from __future__ import annotations

from typing import Final

READ_BACK_WINDOW: Final = 30.0
"""Seconds in which the effect of a write is read back, if there is no deadline."""

LONGEST_RESERVE: Final = 5.0
"""Seconds kept before a deadline for reading back, or a quarter of the remaining time."""

LONGEST_WAIT: Final = 60.0
"""Seconds: the longest ``Retry-After`` that is waited for without a deadline."""

LARGEST_REPLY: Final = 64 * 1024 * 1024
"""Bytes of one reply after decompression."""

MOST_JSON_VALUES: Final = 4_000_000
"""JSON values in one reply: each becomes an object, so a small body can fill the memory."""

LONG_REPLY: Final = 2 * 1024 * 1024
"""Bytes from which parsing a reply takes too long for the event loop's thread."""

MOST_CONNECTIONS: Final = 200
"""Connections of one client at the same time, in one process or event loop."""

KEPT_FOR: Final = 4.0
"""Seconds after which an idle connection is not reused; many servers close it after five."""

IDLE_BEFORE_WRITE: Final = 0.5
"""Seconds for which a connection may be idle before a write that no read proves leaves on it."""

FRESH_FOR: Final = 24 * 3600.0
"""Seconds for which a catalogue is used without being read again."""
