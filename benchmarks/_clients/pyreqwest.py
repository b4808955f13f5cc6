"""pyreqwest, whose HTTP is written in Rust, with the least code that a program needs."""

from __future__ import annotations

from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Any, Final

from pyreqwest.client import ClientBuilder, SyncClientBuilder

from benchmarks._payload import BOOKING_ID, HEADERS, MANY, bookings

from ._models import Created, Fee

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Generator

    from benchmarks._clients import Call

# Its methods have no complete types.
_SYNC: Final[Any] = SyncClientBuilder
_ASYNC: Final[Any] = ClientBuilder


@contextmanager
def fee(base_url: str) -> Generator[Call]:
    """Give a small call whose answer is validated."""
    url = f"{base_url}/api/booking/cancel-fee"
    with _SYNC().default_headers(HEADERS).build() as http:

        def call() -> Fee:
            reply = http.post(url).body_json({"id": BOOKING_ID}).build().send()
            return Fee.model_validate_json(bytes(reply.bytes()))

        yield call


@contextmanager
def create(base_url: str) -> Generator[Call]:
    """Give a write whose answer is validated."""
    url = f"{base_url}/api/booking"
    arguments = bookings()
    with _SYNC().default_headers(HEADERS).build() as http:

        def call() -> Created:
            reply = http.post(url).body_json(next(arguments)).build().send()
            return Created.model_validate_json(bytes(reply.bytes()))

        yield call


@asynccontextmanager
async def async_fee(base_url: str) -> AsyncGenerator[Call]:
    """Give a small async call whose answer is validated."""
    url = f"{base_url}/api/booking/cancel-fee"
    builder = _ASYNC().default_headers(HEADERS).max_connections(MANY)
    async with builder.build() as http:

        async def call() -> Fee:
            reply = await http.post(url).body_json({"id": BOOKING_ID}).build().send()
            return Fee.model_validate_json(bytes(await reply.bytes()))

        yield call
