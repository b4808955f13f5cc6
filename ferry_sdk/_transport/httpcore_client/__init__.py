"""The library's own HTTP clients: single connections of httpcore in a small pool.

httpx is built on httpcore. The pool of httpcore becomes slower with each connection it has. Here
the cost is constant: `pool` limits the connections in use and keeps the idle ones, of which the one
used last is taken first.
"""

from __future__ import annotations

from ferry_sdk._transport.httpcore_client.client import AsyncConnections, Connections

__all__ = ["AsyncConnections", "Connections"]
