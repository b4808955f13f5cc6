"""Fixtures: the tests of the transport use the client over aiohttp in place of httpx."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from ferry_sdk import DefaultAioHttpClient
from tests.transport.calls import Caller
from tests.transport.conftest import *  # noqa: F403 -- fixtures

if TYPE_CHECKING:
    import ssl
    from collections.abc import Iterator

    from anyio.from_thread import BlockingPortal


class Counted(DefaultAioHttpClient):
    """Calls hooks with each request, as httpx does."""

    def __init__(self, *, event_hooks: Any, limits: Any = None, **options: Any) -> None:
        super().__init__(**options | ({} if limits is None else limits))
        self._hooks = event_hooks["request"]

    async def send(self, request: Any, **options: Any) -> Any:
        for hook in self._hooks:
            await hook(request)
        return await super().send(request, **options)


class AioCaller(Caller):
    """Makes clients on top of aiohttp's connections."""

    def __init__(self, portal: BlockingPortal, trusted: Any) -> None:
        super().__init__("httpx", portal, trusted)
        self.library = SimpleNamespace(AsyncClient=Counted, Limits=dict)

    def hurry(self, request: Any, limits: dict[str, float]) -> None:
        request.limits = request.limits._replace(**limits)


@pytest.fixture
def caller(asyncio_portal: BlockingPortal, trusted: ssl.SSLContext) -> Iterator[AioCaller]:
    made = AioCaller(asyncio_portal, trusted)
    yield made
    made.close()
