"""The content codings of HTTP: the one that requests ask for, and those that replies may have.

For another coding, such as brotli: give it a row in `WINDOWS`, let
`ferry_sdk._transport.exchange.Decompressor` decode it, and then add it to `ACCEPTED`.
"""

from __future__ import annotations

from typing import Final

GZIP: Final = 31
ZLIB: Final = 15
RAW_DEFLATE: Final = -15
"""Deflate without the header of zlib, which some servers leave out."""

WINDOWS: Final = {"gzip": GZIP, "x-gzip": GZIP, "deflate": ZLIB}
"""The zlib window bits of each coding that is decoded; a body in any other one is taken as it is.

Some servers send ``deflate`` although only `ACCEPTED` is asked for.
"""
ACCEPTED: Final = "gzip"
"""The header ``Accept-Encoding`` of every request."""
