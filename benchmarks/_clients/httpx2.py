"""httpx2 with as little around it as a program can have."""

from __future__ import annotations

from functools import partial

import httpx2

from . import httpx

async_fee = partial(httpx.async_fee, library=httpx2)
"""A small call, async, its answer validated."""
