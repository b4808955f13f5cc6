"""The library, by MCP."""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

from benchmarks._payload import QUESTION, TOKEN
from ferry_sdk import Ferry

if TYPE_CHECKING:
    from collections.abc import Generator

    from benchmarks._clients import Call


@contextmanager
def search(base_url: str) -> Generator[Call]:
    """Give a search."""
    with Ferry(TOKEN, base_url=base_url) as ferry:
        yield partial(ferry.mcp.search_availability, **QUESTION)
