"""Fixtures: hosts of either protocol version, over the local service."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest

from tests.stdio.host import MODES, Hosts
from tests.support.tiers import mostly_long

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from anyio.from_thread import BlockingPortal

    from ferry_sdk.sandbox import Sandbox


@pytest.fixture(params=mostly_long(MODES))
def hosts(
    request: pytest.FixtureRequest,
    asyncio_portal: BlockingPortal,
    ferry_sandbox: Sandbox,
    tmp_path: Path,
) -> Iterator[Hosts]:
    """Start hosts; the test runs with each protocol version."""
    with ExitStack() as stack:
        yield Hosts(asyncio_portal, ferry_sandbox, request.param, tmp_path, stack)
