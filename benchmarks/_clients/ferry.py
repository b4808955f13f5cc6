"""The library, by REST."""

from __future__ import annotations

from contextlib import asynccontextmanager, contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from benchmarks._payload import BOOKING_ID, QUESTION, TOKEN, bookings
from ferry_sdk import AsyncFerry, Ferry

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Generator

    import httpx

    from benchmarks._clients import Call


@contextmanager
def search(base_url: str, client: httpx.Client | None = None) -> Generator[Call]:
    """Give a search, over the caller's HTTP client if there is one."""
    with Ferry(TOKEN, base_url=base_url, http_client=client) as ferry:
        yield partial(ferry.availability.search, **QUESTION)


@contextmanager
def fee(base_url: str) -> Generator[Call]:
    """Give a small call."""
    with Ferry(TOKEN, base_url=base_url) as ferry:
        yield partial(ferry.bookings.cancel_fee, BOOKING_ID)


@contextmanager
def create(base_url: str) -> Generator[Call]:
    """Give a write, of other travellers each time."""
    with Ferry(TOKEN, base_url=base_url) as ferry:
        arguments = bookings()
        yield lambda: ferry.bookings.create(**next(arguments))


@asynccontextmanager
async def async_fee(base_url: str, client: Any = None) -> AsyncGenerator[Call]:  # noqa: ANN401 -- of any library
    """Give a small async call, over the caller's HTTP client if there is one."""
    async with AsyncFerry(TOKEN, base_url=base_url, http_client=client) as ferry:
        yield partial(ferry.bookings.cancel_fee, BOOKING_ID)


@asynccontextmanager
async def async_create(base_url: str, client: Any = None) -> AsyncGenerator[Call]:  # noqa: ANN401 -- of any library
    """Give an async write, over the caller's HTTP client if there is one."""
    async with AsyncFerry(TOKEN, base_url=base_url, http_client=client) as ferry:
        arguments = bookings()
        yield lambda: ferry.bookings.create(**next(arguments))
