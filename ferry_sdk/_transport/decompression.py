"""A packed body unpacked piece by piece, so that no piece becomes larger than is wanted."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Final, Protocol

from ferry_sdk.errors import UnexpectedResponseError

_PIECE: Final = 64 * 1024
_WINDOWS: Final = {"gzip": 31, "x-gzip": 31, "deflate": 15}
"""How zlib calls the packings that HTTP knows; only gzip is asked for."""


class Decompressor(Protocol):
    """Takes what comes in, and gives what is in it."""

    def pieces(self, raw: bytes) -> Iterator[bytes]:
        """What can be unpacked by now."""
        ...


class Identity:
    """A body that is not packed, or in no way that is known."""

    def pieces(self, raw: bytes) -> Iterator[bytes]:
        """The same."""
        yield raw


class ZlibDecompressor:
    """A body that zlib unpacks, of one member or several.

    Args:
        window: How zlib calls the packing.
    """

    def __init__(self, window: int) -> None:
        self._window = window
        self._decompressor = zlib.decompressobj(window)

    def pieces(self, raw: bytes) -> Iterator[bytes]:
        """What can be unpacked by now, in pieces of a bounded size.

        Raises:
            UnexpectedResponseError: It is not packed as it says.
        """
        try:
            while raw:
                if self._decompressor.eof:
                    self._decompressor = zlib.decompressobj(self._window)
                yield self._decompressor.decompress(raw, _PIECE)
                raw = self._decompressor.unconsumed_tail or self._decompressor.unused_data
        except zlib.error as error:
            raise UnexpectedResponseError(f"the reply cannot be unpacked: {error}") from None


def decompressor_of(encoding: str) -> Decompressor:
    """What unpacks a body of this Content-Encoding.

    Raises:
        UnexpectedResponseError: It is packed more than once.
    """
    if "," in encoding:
        raise UnexpectedResponseError("a reply that is packed more than once is not unpacked")
    window = _WINDOWS.get(encoding.strip().lower())
    return Identity() if window is None else ZlibDecompressor(window)
