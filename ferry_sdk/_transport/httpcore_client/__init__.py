"""The library's own HTTP clients: connections of httpcore's that are kept, and nothing around them.

httpcore is what httpx is built on. Its pool takes the longer for a request the more connections it
has; here each connection stands alone, and the one given back last is taken first.
"""

from __future__ import annotations

from ferry_sdk._transport.httpcore_client.client import AsyncConnections, Connections

__all__ = ["AsyncConnections", "Connections"]
