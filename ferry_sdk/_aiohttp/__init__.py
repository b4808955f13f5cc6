"""An HTTP client of aiohttp's connections; aiohttp is loaded when the first of them is made."""

from __future__ import annotations

from .client import DefaultAioHttpClient

__all__ = ["DefaultAioHttpClient"]
