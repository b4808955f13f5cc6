"""The limits of a reply: its bytes, its JSON values, and where it is parsed."""

from __future__ import annotations

from typing import Final

LARGEST_REPLY: Final = 64 * 1024 * 1024
"""Bytes of one reply after decompression."""

MOST_JSON_VALUES: Final = 4_000_000
"""JSON values in one reply: each becomes an object, so a small body can fill the memory."""

LONG_REPLY: Final = 2 * 1024 * 1024
"""Bytes from which parsing a reply takes too long for the event loop's thread."""
