"""httpx2 with the least code that a program needs."""

from __future__ import annotations

from functools import partial

import httpx2

from . import httpx

fee = partial(httpx.fee, library=httpx2)
"""A small call, its answer validated."""

create = partial(httpx.create, library=httpx2)
"""A write, its answer validated."""

async_fee = partial(httpx.async_fee, library=httpx2)
"""A small call, async, its answer validated."""
