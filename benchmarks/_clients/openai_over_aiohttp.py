"""openai-python over its own client of aiohttp."""

from __future__ import annotations

from typing import TYPE_CHECKING

import aiohttp as _  # noqa: F401 -- without it the client below is a name that raises
from openai import DefaultAioHttpClient

from . import openai

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from benchmarks._clients import Call


def async_fee(base_url: str) -> AbstractAsyncContextManager[Call]:
    """Give a small async call."""
    return openai.async_fee(base_url, DefaultAioHttpClient())
