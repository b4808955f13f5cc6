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
    """Decompresses a body of one or more members; a body in an unknown encoding stays as it is.

    Args:
        encoding: The Content-Encoding; empty without one.

    Raises:
        UnexpectedResponseError: There is more than one encoding.
    """

    def __init__(self, encoding: str = "") -> None:
        if "," in encoding:
            raise UnexpectedResponseError("the reply has more than one content encoding")
        self._window = _WINDOWS.get(encoding.strip().lower())
        self._member = zlib.decompressobj(self._window) if self._window else None

    def pieces(self, raw: bytes) -> Iterator[bytes]:
        """Yield the bytes that can be decompressed so far, in pieces of a bounded size.

        Raises:
            UnexpectedResponseError: The body is not valid in its encoding.
        """
        if self._window is None or self._member is None:
            yield raw
            return
        try:
            while raw:
                if self._member.eof:
                    self._member = zlib.decompressobj(self._window)
                yield self._member.decompress(raw, _PIECE)
                raw = self._member.unconsumed_tail or self._member.unused_data
        except zlib.error as error:
            raise UnexpectedResponseError(f"the reply cannot be decompressed: {error}") from None
