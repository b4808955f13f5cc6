"""Clients of httpx and httpx2 are taken as they are, by a user who checks strictly."""

from __future__ import annotations

import httpx
import httpx2

from ferry_sdk import AsyncFerry, Ferry


class Ours(httpx.Client):
    pass


class AsyncOurs(httpx2.AsyncClient):
    pass


def sync_clients(either: httpx.Client | httpx2.Client) -> list[Ferry]:
    return [
        Ferry("tkn", http_client=httpx.Client(timeout=5)),
        Ferry("tkn", http_client=httpx2.Client(http2=True)),
        Ferry("tkn", http_client=Ours()),
        Ferry("tkn", http_client=either),
        Ferry("tkn", http_client=None),
    ]


def async_clients(either: httpx.AsyncClient | httpx2.AsyncClient) -> list[AsyncFerry]:
    return [
        AsyncFerry("tkn", http_client=httpx.AsyncClient(timeout=5)),
        AsyncFerry("tkn", http_client=httpx2.AsyncClient()),
        AsyncFerry("tkn", http_client=AsyncOurs()),
        AsyncFerry("tkn", http_client=either),
    ]
