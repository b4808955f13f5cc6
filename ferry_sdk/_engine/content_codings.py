"""The content codings of HTTP: the one that requests ask for, and those that replies may have.

For another coding, such as brotli: let `decompressor_of` return an object with the methods of
`Decompressor` that decodes it, and then add it to `ACCEPTED`.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Any, Final

from ferry_sdk.errors import UnexpectedResponseError

ACCEPTED: Final = "gzip"
"""The header ``Accept-Encoding`` of every request."""

_GZIP: Final = 31
_ZLIB: Final = 15
_RAW_DEFLATE: Final = -15
"""Deflate without the header of zlib, which some servers leave out."""
_WINDOWS: Final = {"gzip": _GZIP, "x-gzip": _GZIP, "deflate": _ZLIB}
"""The zlib window bits of each coding that is decoded; a body in any other one is taken as it is.

Some servers send ``deflate`` although only `ACCEPTED` is asked for.
"""
_PIECE: Final = 64 * 1024
"""The most bytes that are decompressed at a time."""
_METHOD: Final = 0x0F
_DEFLATE: Final = 8
"""What the bits `_METHOD` of the first byte are in a header of zlib."""
_MEMBER: Final = b"\x1f"
"""The beginning of a member of gzip."""
_MOST_MEMBERS: Final = 1000
"""Members of gzip in one body: each takes time, also an empty one."""


def decompressor_of(encoding: str) -> Decompressor | None:
    """Return what decompresses a content encoding; None if it is none that was requested.

    Raises:
        UnexpectedResponseError: The body is encoded more than once.
    """
    if "," in encoding:
        raise UnexpectedResponseError("the reply has more than one content encoding")
    window = _WINDOWS.get(encoding.strip().lower())
    return None if window is None else Decompressor(window)


class Decompressor:
    """Decompresses a body; one of gzip may have several members.

    What follows the end is skipped, as other clients do: some servers pad the body.

    Args:
        window: The window bits of zlib.

    Attributes:
        is_cut: Whether the body so far stops before its end.
    """

    def __init__(self, window: int) -> None:
        self._window = window
        self._member: Any = None
        self._members = 0
        self._has_padding = False
        self.is_cut = False

    def pieces(self, raw: bytes) -> Iterator[bytes]:
        """Yield the bytes that can be decompressed so far, in pieces of a bounded size.

        Raises:
            UnexpectedResponseError: The body is not valid in its encoding.
        """
        piece = b""
        try:
            # A full piece may have left bytes inside zlib, unless the member has ended with it.
            while raw or (self.is_cut and len(piece) == _PIECE):
                if not self.is_cut and not self._start_member(raw):
                    yield b""  # with each piece, the caller checks how much has arrived
                    return

                piece = self._member.decompress(raw, _PIECE)
                self.is_cut = not self._member.eof
                raw = self._member.unconsumed_tail or self._member.unused_data
                yield piece
        except zlib.error as error:
            raise UnexpectedResponseError(f"the reply cannot be decompressed: {error}") from None

    def _start_member(self, raw: bytes) -> bool:
        """Begin the next member; return False if there is none."""
        if self._member is None:
            # Some servers leave out the header of zlib, and other clients accept that.
            if self._window == _ZLIB and raw[0] & _METHOD != _DEFLATE:
                self._window = _RAW_DEFLATE
        elif self._has_padding or self._window != _GZIP or not raw.startswith(_MEMBER):
            self._has_padding = True
            return False

        self._members += 1
        if self._members > _MOST_MEMBERS:
            raise UnexpectedResponseError("the reply has too many members of gzip")
        self._member = zlib.decompressobj(self._window)
        return True
