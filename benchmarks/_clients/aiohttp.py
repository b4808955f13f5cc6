"""aiohttp and pydantic with as little around them as a program can have."""

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
    """A small call, async, its answer validated."""
    url = f"{base_url}/api/booking/cancel-fee"
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

        async def call() -> Fee:
            async with session.post(url, json={"id": BOOKING_ID}, headers=HEADERS) as reply:
                return Fee.model_validate_json(await reply.read())

        yield call


@asynccontextmanager
async def async_create(base_url: str) -> AsyncGenerator[Call]:
    """A write, async, its answer validated."""
    url = f"{base_url}/api/booking"
    arguments = bookings()
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

        async def call() -> Created:
            async with session.post(url, json=next(arguments), headers=HEADERS) as reply:
                return Created.model_validate_json(await reply.read())

        yield call
