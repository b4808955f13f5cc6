"""An HTTP client of aiohttp's connections; aiohttp is loaded when the first of them is made."""

from __future__ import annotations

from ferry_sdk._transport.aiohttp_client.client import DefaultAioHttpClient

__all__ = ["DefaultAioHttpClient"]
