"""`DefaultAioHttpClient`: an HTTP client over aiohttp's connections, for many concurrent calls."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncGenerator, Mapping
from contextlib import suppress
from importlib.util import find_spec
from typing import Any, Final, NoReturn
from weakref import finalize

from typing_extensions import Self

from ferry_sdk._engine.settings import DEFAULT_CERTIFICATES, CertificatePaths
from ferry_sdk._engine.validation import flag, seconds
from ferry_sdk._transport.aiohttp_client.connection import proxy_address
from ferry_sdk._transport.aiohttp_client.exchange import (
    AioRequest,
    AioResponse,
    Limits,
    exchange,
    failure_of,
    split_url,
)
from ferry_sdk._transport.aiohttp_client.library import library
from ferry_sdk._transport.aiohttp_client.pool import Options, Pool
from ferry_sdk._transport.tls import context_of
from ferry_sdk.errors import ConfigurationError, InvalidInputError

_Resources = dict[asyncio.AbstractEventLoop, tuple[Pool, AsyncGenerator[None, None]]]
"""The pool of each event loop, and the generator that closes it at the loop's end."""
_NO_LIMITS: Final = (None, None, None, None)
_WITH_BODY: Final = frozenset({"POST", "PUT", "PATCH"})


class DefaultAioHttpClient:
    """An ``http_client`` for `AsyncFerry` on asyncio, with less work for each call.

    Install ``ferry-sdk[aiohttp]``. One client serves any number of `AsyncFerry`; each event loop
    has its own connections. Close the client when you are done; the end of an event loop closes
    its connections too.

    Args:
        verify: Whether to verify the service's certificate, or an `SSLContext`.
        proxy: The URL of an HTTP proxy, with user and password if needed; else the
            environment's.
        trust_env: Use the environment: ``HTTPS_PROXY`` and the like, ``SSL_CERT_FILE``,
            ``SSL_CERT_DIR``.
        max_connections: Connections in use at the same time; further calls wait.
        keepalive_expiry: Seconds after which an idle connection is not reused; None: no limit.

    Raises:
        ConfigurationError: aiohttp is not installed, or an argument is invalid; the message
            names it.
        InvalidInputError: An argument is invalid; `field` names it.

    Example:
        ```python
        import asyncio

        from ferry_sdk import AsyncFerry, DefaultAioHttpClient
        from ferry_sdk.sandbox import AsyncSandbox


        async def main() -> None:
            async with (
                AsyncSandbox() as sandbox,
                DefaultAioHttpClient() as http,
                AsyncFerry(sandbox.token, base_url=sandbox.base_url, http_client=http) as ferry,
            ):
                print(len(await ferry.catalogue.ports()), "ports")
                # > 183 ports


        asyncio.run(main())
        ```
    """

    def __init__(
        self,
        *,
        verify: bool | ssl.SSLContext = True,
        proxy: str | None = None,
        trust_env: bool = True,
        max_connections: int = 200,
        keepalive_expiry: float | None = 5.0,
    ) -> None:
        if find_spec("aiohttp") is None:
            raise ConfigurationError("DefaultAioHttpClient needs: pip install 'ferry-sdk[aiohttp]'")
        library()
        if type(max_connections) is not int or max_connections < 1:
            raise InvalidInputError("expected 1 or more", field="max_connections")
        flag(trust_env, "trust_env")
        self._options = Options(
            tls=_ssl_context(verify, trust_env=trust_env),
            proxy=None if proxy is None else proxy_address(proxy),
            trust_env=trust_env,
            max_connections=max_connections,
            keepalive_expiry=(
                None if keepalive_expiry is None else seconds(keepalive_expiry, "keepalive_expiry")
            ),
        )
        self._resources: _Resources = {}
        self._is_closed = False
        finalize(self, _end_pools, self._resources).atexit = False

    def __repr__(self) -> str:
        return f"DefaultAioHttpClient(max_connections={self._options.max_connections})"

    def __reduce__(self) -> NoReturn:
        raise TypeError("connections cannot be pickled")

    @property
    def is_closed(self) -> bool:
        """Whether the client is closed."""
        return self._is_closed

    def build_request(
        self,
        method: str,
        url: str,
        *,
        content: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        timeout: tuple[float | None, float | None, float | None, float | None] = _NO_LIMITS,
        extensions: dict[str, Any] | None = None,
    ) -> AioRequest:
        """Build a request without sending it.

        Args:
            method: The method.
            url: The URL.
            content: The body.
            headers: The headers, except Host and Content-Length.
            timeout: Seconds to connect, to read, to write, and to wait for a connection.
            extensions: ``trace``: a function that receives the steps, as in httpx.

        Raises:
            ConfigurationError: The URL or a header is invalid.
        """
        lines = [f"{name}: {value}\r\n" for name, value in (headers or {}).items()]
        if content is not None or method in _WITH_BODY:
            lines.append(f"content-length: {len(content or b'')}\r\n")
        head = "".join(lines)
        if not head.isascii() or head.count("\r") != len(lines) or head.count("\n") != len(lines):
            raise ConfigurationError("a header must be printable ASCII in one line")
        return AioRequest(
            method.encode(),
            *split_url(url),
            f"{head}\r\n".encode(),
            content or b"",
            Limits(*timeout),
            (extensions or {}).get("trace", _ignore_event),
        )

    async def send(
        self,
        request: AioRequest,
        *,
        stream: bool = True,  # noqa: ARG002 -- part of the interface; a body is never read here
        auth: None = None,  # noqa: ARG002 -- part of the interface
        follow_redirects: bool = False,  # noqa: ARG002 -- part of the interface, never True
    ) -> AioResponse:
        """Send a request and return its reply with the body unread.

        Raises:
            ConnectionFailedError: The connection failed or was lost.
            RequestTimeoutError: A step took too long.
            ConfigurationError: The client is closed, or not on asyncio.
        """
        try:
            return await exchange(await self._pool(), request)
        except asyncio.CancelledError:
            # The abandoned connection is closed in the next iteration of the loop.
            await asyncio.sleep(0)
            raise
        except Exception as error:
            failure = failure_of(error, "unknown" if request.is_sent else "not_sent")
            if failure is None:
                raise
        raise failure

    async def aclose(self) -> None:
        """Close the connections of this event loop, and abort those of other loops."""
        self._is_closed = True
        loop = _running_loop()
        if loop in self._resources:
            _, keeper = self._resources[loop]
            await keeper.aclose()
        _end_pools(self._resources)

    async def __aenter__(self) -> Self:
        await self._pool()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def _pool(self) -> Pool:
        """Return the pool of this event loop."""
        loop = _running_loop()
        resources = self._resources.get(loop) if loop else None
        if resources is not None:
            return resources[0]
        if loop is None:
            raise ConfigurationError("DefaultAioHttpClient runs on asyncio only")
        if self._is_closed:
            raise ConfigurationError("the client is closed")
        for other in [*self._resources]:
            if other.is_closed():
                self._resources.pop(other, None)
        pool = Pool(self._options)
        keeper = _close_at_loop_end(loop, pool, self._resources)
        self._resources[loop] = pool, keeper
        await keeper.__anext__()
        return pool


def _ssl_context(verify: object, *, trust_env: bool) -> ssl.SSLContext:
    if isinstance(verify, ssl.SSLContext):
        return verify
    if not isinstance(verify, bool):
        raise InvalidInputError("expected a bool or an SSLContext", field="verify")
    paths = CertificatePaths.from_environment() if trust_env else DEFAULT_CERTIFICATES
    return context_of(paths, verify=verify)


def _end_pools(resources_by_loop: _Resources) -> None:
    """Abort the connections of all event loops, each in its own loop."""
    for loop, (pool, _) in [*resources_by_loop.items()]:
        with suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(pool.end)


async def _close_at_loop_end(
    loop: asyncio.AbstractEventLoop, pool: Pool, resources_by_loop: _Resources
) -> AsyncGenerator[None, None]:
    """Close a pool when its event loop ends: a loop shuts down its async generators first."""
    try:
        yield
    finally:
        resources_by_loop.pop(loop, None)
        await pool.close()


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


async def _ignore_event(event: str, info: Mapping[str, Any]) -> None:
    """Ignore a step of a request."""
