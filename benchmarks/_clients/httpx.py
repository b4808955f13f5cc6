"""httpx with the least code that a program needs."""

from __future__ import annotations

import json
from contextlib import asynccontextmanager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, Final

import httpx

from benchmarks._payload import BOOKING_ID, HEADERS, MANY, QUESTION, bookings
from benchmarks._readers import read_dicts

from ._models import Created, Fee

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Generator

    from benchmarks._clients import Call

READ: Final = read_dicts


@contextmanager
def search(
    base_url: str,
    client: httpx.Client | None = None,
    decode: Callable[[bytes], Any] = json.loads,
) -> Generator[Call]:
    """Give a search whose answer is dictionaries, or what another decoder makes of its bytes."""
    opened_client = httpx.Client() if client is None else nullcontext(client)
    with opened_client as http:
        url = f"{base_url}/api/availability"
        yield lambda: decode(http.post(url, json=QUESTION, headers=HEADERS).content)


@contextmanager
def fee(base_url: str, library: Any = httpx) -> Generator[Call]:  # noqa: ANN401 -- or httpx2
    """Give a small call whose answer is validated, by httpx or httpx2."""
    with library.Client() as http:
        url = f"{base_url}/api/booking/cancel-fee"
        body = {"id": BOOKING_ID}
        yield lambda: Fee.model_validate_json(http.post(url, json=body, headers=HEADERS).content)


@contextmanager
def create(base_url: str, library: Any = httpx) -> Generator[Call]:  # noqa: ANN401 -- or httpx2
    """Give a write whose answer is validated, by httpx or httpx2."""
    with library.Client() as http:
        url = f"{base_url}/api/booking"
        arguments = bookings()

        def call() -> Created:
            reply = http.post(url, json=next(arguments), headers=HEADERS)
            return Created.model_validate_json(reply.content)

        yield call


@asynccontextmanager
async def async_fee(base_url: str, library: Any = httpx) -> AsyncGenerator[Call]:  # noqa: ANN401 -- or httpx2
    """Give a small async call whose answer is validated, by httpx or httpx2."""
    url = f"{base_url}/api/booking/cancel-fee"
    async with library.AsyncClient(limits=library.Limits(max_connections=MANY)) as http:

        async def call() -> Fee:
            reply = await http.post(url, json={"id": BOOKING_ID}, headers=HEADERS)
            return Fee.model_validate_json(reply.content)

        yield call
