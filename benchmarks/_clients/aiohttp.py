"""aiohttp and pydantic with the least code that a program needs."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import aiohttp

from benchmarks._payload import BOOKING_ID, HEADERS, bookings

from ._models import Created, Fee

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from benchmarks._clients import Call


@asynccontextmanager
async def async_fee(base_url: str) -> AsyncGenerator[Call]:
    """Give a small async call whose answer is validated."""
    url = f"{base_url}/api/booking/cancel-fee"
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

        async def call() -> Fee:
            async with session.post(url, json={"id": BOOKING_ID}, headers=HEADERS) as reply:
                return Fee.model_validate_json(await reply.read())

        yield call


@asynccontextmanager
async def async_create(base_url: str) -> AsyncGenerator[Call]:
    """Give an async write whose answer is validated."""
    url = f"{base_url}/api/booking"
    arguments = bookings()
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

        async def call() -> Created:
            async with session.post(url, json=next(arguments), headers=HEADERS) as reply:
                return Created.model_validate_json(await reply.read())

        yield call
