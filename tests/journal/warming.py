"""Imported by the process that forks others: makes the first calls, which load what calls need."""

import asyncio
from contextlib import suppress

from ferry_sdk import AsyncFerry, Ferry, FerryError
from ferry_sdk.journal import Journal

NOWHERE = "http://127.0.0.1:1"


def call():
    with Ferry("t", base_url=NOWHERE, max_retries=0) as ferry:
        for confirm in (ferry.bookings.confirm, ferry.mcp.confirm_booking):
            with suppress(FerryError):
                confirm("b-1")


async def call_async():
    async with AsyncFerry("t", base_url=NOWHERE, max_retries=0) as ferry:
        with suppress(FerryError):
            await ferry.bookings.confirm("b-1")


call()
asyncio.run(call_async())
for url in ("sqlite://", "postgresql://nobody@/none?host=/nowhere"):
    with suppress(FerryError), Journal(url) as journal:
        journal.unresolved()
