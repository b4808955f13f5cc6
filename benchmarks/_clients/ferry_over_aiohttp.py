"""The library over aiohttp, its fastest way in async code."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import aiohttp as _  # noqa: F401 -- without it the client below cannot be made

from ferry_sdk import DefaultAioHttpClient

from . import ferry

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from benchmarks._clients import Call


@asynccontextmanager
async def async_fee(base_url: str) -> AsyncGenerator[Call]:
    """A small call, async."""
    async with DefaultAioHttpClient() as client, ferry.async_fee(base_url, client) as call:
        yield call


@asynccontextmanager
async def async_create(base_url: str) -> AsyncGenerator[Call]:
    """A write, async."""
    async with DefaultAioHttpClient() as client, ferry.async_create(base_url, client) as call:
        yield call
