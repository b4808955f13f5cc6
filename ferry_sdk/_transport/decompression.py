"""Decompression of a body, in pieces of a bounded size."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Final

from ferry_sdk.errors import UnexpectedResponseError

_PIECE: Final = 64 * 1024
_WINDOWS: Final = {"gzip": 31, "x-gzip": 31, "deflate": 15}
"""The zlib window bits of the content encodings; only gzip is requested."""


class Decompressor:
    """A body piece by piece; this one has no compression, or an unknown one."""

    def pieces(self, raw: bytes) -> Iterator[bytes]:
        """Yield the bytes unchanged."""
        yield raw


class ZlibDecompressor(Decompressor):
    """A body that zlib decompresses, of one or more members.

    Args:
        window: The zlib window bits.
    """

    def __init__(self, window: int) -> None:
        self._window = window
        self._decompressor = zlib.decompressobj(window)

    def pieces(self, raw: bytes) -> Iterator[bytes]:
        """Yield the bytes that can be decompressed so far, in pieces of a bounded size.

        Raises:
            UnexpectedResponseError: The body is not valid in its encoding.
        """
        try:
            while raw:
                if self._decompressor.eof:
                    self._decompressor = zlib.decompressobj(self._window)
                yield self._decompressor.decompress(raw, _PIECE)
                raw = self._decompressor.unconsumed_tail or self._decompressor.unused_data
        except zlib.error as error:
            raise UnexpectedResponseError(f"the reply cannot be decompressed: {error}") from None


def decompressor_of(encoding: str) -> Decompressor:
    """Return the decompressor for a Content-Encoding.

    Raises:
        UnexpectedResponseError: There is more than one encoding.
    """
    if "," in encoding:
        raise UnexpectedResponseError("the reply has more than one content encoding")
    window = _WINDOWS.get(encoding.strip().lower())
    return Decompressor() if window is None else ZlibDecompressor(window)
