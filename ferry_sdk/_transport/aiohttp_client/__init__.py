"""An HTTP client over aiohttp's connections; aiohttp is imported with the first client."""

from __future__ import annotations

from ferry_sdk._transport.aiohttp_client.client import DefaultAioHttpClient

__all__ = ["DefaultAioHttpClient"]
