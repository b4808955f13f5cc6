"""One test body for both clients: an `AsyncFerry` with the face of a `Ferry`."""

from __future__ import annotations

import inspect
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from typing_extensions import Self

from ferry_sdk import AsyncFerry, Ferry

if TYPE_CHECKING:
    from anyio.from_thread import BlockingPortal

_GROUPS = (
    "availability",
    "bookings",
    "tickets",
    "catalogue",
    "mcp",
    "places",
    "routes",
    "trips",
    "vehicles",
    "with_raw_response",
)


class Waiting:
    """Anything of the async client's; what it awaits is waited for through a portal."""

    def __init__(self, target: Any, portal: BlockingPortal) -> None:
        self._target = target
        self._portal = portal

    def __getattr__(self, name: str) -> Any:
        member = getattr(self._target, name)
        if name in _GROUPS:
            return Waiting(member, self._portal)
        if name == "with_options":
            return lambda **options: Waiting(member(**options), self._portal)
        if inspect.iscoroutinefunction(member):
            return lambda *args, **kwargs: self._portal.call(_awaited, member, args, kwargs)
        return member

    def close(self) -> None:
        self._portal.call(self._target.aclose)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


async def _awaited(function: Any, args: Any, kwargs: Any) -> Any:
    return await function(*args, **kwargs)


class Clients:
    """Makes clients of one kind, all with the face of a `Ferry`, and closes them."""

    def __init__(self, portal: BlockingPortal | None) -> None:
        self._portal = portal
        self._made: list[Ferry] = []

    @property
    def is_async(self) -> bool:
        return self._portal is not None

    @property
    def portal(self) -> BlockingPortal:
        """Runs what is async, where these are async clients."""
        assert self._portal is not None
        return self._portal

    def __call__(self, token: Any = None, **settings: Any) -> Ferry:
        if self._portal is None:
            client = Ferry(token, **settings)
        else:
            client = cast("Ferry", Waiting(AsyncFerry(token, **settings), self._portal))
        self._made.append(client)
        return client

    def run(self, call: Any, ferry: Ferry, *args: Any, **kwargs: Any) -> Any:
        """Call a function of the library that takes a client."""
        if self._portal is None:
            return call(ferry, *args, **kwargs)
        target = cast("Waiting", ferry)._target
        return self._portal.call(partial(call, target, *args, **kwargs))

    def close(self) -> None:
        for client in self._made:
            client.close()
