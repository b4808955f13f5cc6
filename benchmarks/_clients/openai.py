"""openai-python with its default settings, which takes the type of an answer."""

from __future__ import annotations

from contextlib import asynccontextmanager, contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import openai

from benchmarks._payload import BOOKING_ID, QUESTION, TOKEN

from ._models import search_answer_type

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Generator

    from benchmarks._clients import Call


class Fee(openai.BaseModel):
    """What cancelling would cost."""

    penalty_amount: float
    refund_amount: float
    currency: str
    ticket_status: str


_FOUND: Final[Any] = search_answer_type(openai.BaseModel, money=float, epoch=int)
_FEE: Final[Any] = {"path": "/booking/cancel-fee", "cast_to": Fee, "body": {"id": BOOKING_ID}}


@contextmanager
def search(base_url: str) -> Generator[Call]:
    """Give a search whose answer is models."""
    with openai.OpenAI(api_key=TOKEN, base_url=f"{base_url}/api") as client:
        yield partial(client.post, "/availability", cast_to=_FOUND, body=QUESTION)


@contextmanager
def fee(base_url: str) -> Generator[Call]:
    """Give a small call."""
    with openai.OpenAI(api_key=TOKEN, base_url=f"{base_url}/api") as client:
        yield partial(client.post, **_FEE)


@asynccontextmanager
async def async_fee(base_url: str, client: Any = None) -> AsyncGenerator[Call]:  # noqa: ANN401 -- of httpx2
    """Give a small async call, over another HTTP client if there is one."""
    async with openai.AsyncOpenAI(
        api_key=TOKEN, base_url=f"{base_url}/api", http_client=client
    ) as openai_client:
        yield partial(openai_client.post, **_FEE)
