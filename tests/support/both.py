"""One test body for both clients: an `AsyncFerry` with the face of a `Ferry`."""

import inspect
from functools import partial

from ferry_sdk import AsyncFerry, Ferry

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

    def __init__(self, target, portal):
        self._target = target
        self._portal = portal

    def __getattr__(self, name):
        member = getattr(self._target, name)
        if name in _GROUPS:
            return Waiting(member, self._portal)
        if name == "with_options":
            return lambda **options: Waiting(member(**options), self._portal)
        if inspect.iscoroutinefunction(member):
            return lambda *args, **kwargs: self._portal.call(_awaited, member, args, kwargs)
        return member

    def close(self):
        self._portal.call(self._target.aclose)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


async def _awaited(function, args, kwargs):
    return await function(*args, **kwargs)


class Clients:
    """Makes clients of one kind; an async one runs in an event loop of another thread."""

    def __init__(self, portal):
        self._portal = portal
        self._made = []

    @property
    def is_async(self):
        return self._portal is not None

    @property
    def portal(self):
        assert self._portal is not None
        return self._portal

    def __call__(self, token=None, **settings):
        if self._portal is None:
            client = Ferry(token, **settings)
        else:
            client = Waiting(AsyncFerry(token, **settings), self._portal)
        self._made.append(client)
        return client

    def http_client(self, library=None, **options):
        """Make an HTTP client of the kind that these clients take, and close it with them."""
        import httpx  # that of --http-client, which is not there at the start

        kind = "Client" if self._portal is None else "AsyncClient"
        made = getattr(library or httpx, kind)(**options)
        self._made.append(made if self._portal is None else Waiting(made, self._portal))
        return made

    def run(self, call, ferry, *args, **kwargs):
        if self._portal is None:
            return call(ferry, *args, **kwargs)
        return self._portal.call(partial(call, ferry._target, *args, **kwargs))

    def close(self):
        for client in self._made:
            client.close()
