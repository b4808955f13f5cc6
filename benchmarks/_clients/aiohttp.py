"""aiohttp and pydantic with as little around them as a program can have."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import aiohttp

from benchmarks._payload import BOOKING_ID, HEADERS, bookings
from ferry_sdk import BookingCreated, CancellationFee

from ._models import Booking

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from benchmarks._clients import Call


@asynccontextmanager
async def async_fee(base_url: str) -> AsyncGenerator[Call]:
    """A small call, async, its answer validated."""
    url = f"{base_url}/api/booking/cancel-fee"
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

        async def call() -> CancellationFee:
            async with session.post(url, json={"id": BOOKING_ID}, headers=HEADERS) as reply:
                return CancellationFee.model_validate_json(await reply.read())

        yield call


@asynccontextmanager
async def async_create(base_url: str) -> AsyncGenerator[Call]:
    """A write, async, its input and its answer validated."""
    url = f"{base_url}/api/booking"
    arguments = bookings()
    headers = HEADERS | {"Content-Type": "application/json"}
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

        async def call() -> BookingCreated:
            body = Booking.model_validate(next(arguments)).model_dump_json(exclude_unset=True)
            async with session.post(url, data=body.encode(), headers=headers) as reply:
                return BookingCreated.model_validate_json(await reply.read())

        yield call
