"""Every kind of HTTP client that a `Ferry` may have, as one list of parameters.

A promise of the transport holds over all of them. A test asks for the fixture `ferry_over`, which
`tests/conftest.py` makes once for each name of `HTTP_CLIENTS`, and calls it with a URL and with
settings. It gets a client with the face of a `Ferry`, also where that is an `AsyncFerry`:

    def test_ports_are_read(ferry_over, ferry_sandbox):
        assert ferry_over(ferry_sandbox.base_url, ferry_sandbox.token).catalogue.ports()

`ferry_over.name` is the name of the kind, `ferry_over.is_async` tells which face the client has,
and `ferry_over.http_client()` makes one more HTTP client of the caller's library. The fixture
closes all that it made. `--http-client` leaves these tests alone.

For a part of the list, a test parametrizes the fixture indirectly:

    @pytest.mark.parametrize("ferry_over", ["proxied", "patched"], indirect=True)
"""

from dataclasses import dataclass
from functools import wraps

import pytest

from ferry_sdk._transport.http11 import replies

from .both import Clients
from .exchanges import TOKEN
from .injected import LIBRARIES
from .wire import TLS


@dataclass(frozen=True)
class Kind:
    """One kind of HTTP client.

    Attributes:
        loop: What makes its calls: ``sync``, ``asyncio`` or ``trio``.
        reader: The name of the parser in the library's own client; None: it does not matter.
        is_proxied: Whether the environment names a proxy, so that the library takes httpx. The
            calls to this machine do not go through it.
        is_patched: Whether somebody has patched httpx, so that the library takes httpx.
        library: The library of the caller's client; None: the caller gives none.
    """

    loop: str
    reader: str | None = None
    is_proxied: bool = False
    is_patched: bool = False
    library: str | None = None


HTTP_CLIENTS = {
    "llhttp": Kind("sync", reader="LlhttpReader"),
    "llhttp-asyncio": Kind("asyncio", reader="LlhttpReader"),
    "llhttp-trio": Kind("trio", reader="LlhttpReader"),
    "h11": Kind("sync", reader="H11Reader"),
    "h11-asyncio": Kind("asyncio", reader="H11Reader"),
    "h11-trio": Kind("trio", reader="H11Reader"),
    "proxied": Kind("sync", is_proxied=True),
    "proxied-asyncio": Kind("asyncio", is_proxied=True),
    "patched": Kind("sync", is_patched=True),
    "patched-asyncio": Kind("asyncio", is_patched=True),
    "httpx": Kind("sync", library="httpx"),
    "httpx-asyncio": Kind("asyncio", library="httpx"),
    "httpx-trio": Kind("trio", library="httpx"),
    "httpx2": Kind("sync", library="httpx2"),
    "httpx2-asyncio": Kind("asyncio", library="httpx2"),
}
"""The kinds by the names that tests show."""

_PROXIES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")


class FerryOver:
    """Makes clients over one kind of HTTP client.

    Args:
        name: A name of `HTTP_CLIENTS`.
        portal: The event loop of its calls; None for threads.
        monkeypatch: Prepares the process for the kind, until the test ends.
    """

    def __init__(self, name, portal, monkeypatch):
        self.name = name
        self.kind = HTTP_CLIENTS[name]
        self.is_async = portal is not None
        self.clients = Clients(portal)
        for variable in _PROXIES:
            monkeypatch.delenv(variable, raising=False)
            monkeypatch.delenv(variable.upper(), raising=False)
        if self.kind.reader:
            monkeypatch.setattr(replies, "new_reader", getattr(replies, self.kind.reader))
        if self.kind.is_proxied:
            monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
        if self.kind.is_patched:
            _patch_httpx(monkeypatch, is_async=self.is_async)

    def __call__(self, base_url, token=TOKEN, **settings):
        """Return a client of the service there."""
        if self.kind.library:
            settings = {"http_client": self.http_client()} | settings
        return self.clients(token, base_url=base_url, **settings)

    def http_client(self, **options):
        """Return a new HTTP client of the caller's library."""
        return self.clients.http_client(LIBRARIES[self.kind.library], **{"verify": TLS} | options)

    def close(self):
        self.clients.close()


def ferry_over(request):
    """Yield what makes clients over the kind that a fixture's parameter names."""
    loop = HTTP_CLIENTS[request.param].loop
    portal = None if loop == "sync" else request.getfixturevalue(f"{loop}_portal")
    with pytest.MonkeyPatch.context() as monkeypatch:
        made = FerryOver(request.param, portal, monkeypatch)
        yield made
        made.close()


def _patch_httpx(monkeypatch, *, is_async):
    """Wrap the method that sends, as tracers do."""
    import httpx  # that of --http-client, which is not there at the start

    owner = httpx.AsyncClient if is_async else httpx.Client
    send = owner.send

    @wraps(send)
    def traced(*args, **options):
        return send(*args, **options)

    monkeypatch.setattr(owner, "send", traced)
