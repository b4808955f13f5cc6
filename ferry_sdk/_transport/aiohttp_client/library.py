"""The parts of aiohttp that the client uses, loaded with the first client."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from ferry_sdk._runtime.threads import uninterrupted

if TYPE_CHECKING:
    from aiohttp import ClientRequest, ClientTimeout, TCPConnector
    from aiohttp.http import StreamWriter
    from yarl import URL


class Library(NamedTuple):
    """Classes of aiohttp and of what it brings."""

    ClientRequest: type[ClientRequest]
    ClientTimeout: type[ClientTimeout]
    StreamWriter: type[StreamWriter]
    TCPConnector: type[TCPConnector]
    URL: type[URL]


@cache
@uninterrupted
def library() -> Library:
    """Load aiohttp."""
    from aiohttp import ClientRequest, ClientTimeout, TCPConnector  # noqa: PLC0415 -- an extra installs it
    from aiohttp.http import StreamWriter  # noqa: PLC0415 -- the same
    from yarl import URL  # noqa: PLC0415 -- the same

    return Library(ClientRequest, ClientTimeout, StreamWriter, TCPConnector, URL)
