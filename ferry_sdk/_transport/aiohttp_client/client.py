"""An HTTP client of aiohttp's connections, for an `AsyncFerry` that makes many calls at a time."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncGenerator, Mapping
from contextlib import suppress
from importlib.util import find_spec
from types import TracebackType
from typing import Any, Final, NamedTuple, NoReturn
from weakref import finalize

from typing_extensions import Self

from ferry_sdk._engine.settings import DEFAULT_CERTIFICATES, CertificatePaths
from ferry_sdk._engine.validation import flag, seconds
from ferry_sdk._transport.aiohttp_client.errors import failure_of
from ferry_sdk._transport.aiohttp_client.exchange import exchange
from ferry_sdk._transport.aiohttp_client.pool import Options, Pool
from ferry_sdk._transport.aiohttp_client.proxy import proxy_address
from ferry_sdk._transport.aiohttp_client.request import AioRequest, Limits, request_of
from ferry_sdk._transport.aiohttp_client.response import AioResponse
from ferry_sdk._transport.tls import context_of
from ferry_sdk.errors import ConfigurationError, InvalidInputError


class _LoopResources(NamedTuple):
    """What belongs to one event loop: its connections, and what closes them at its end."""

    pool: Pool
    keeper: AsyncGenerator[None, None]


_Resources = dict[asyncio.AbstractEventLoop, _LoopResources]
_NO_LIMITS: Final = (None, None, None, None)


class DefaultAioHttpClient:
    """An ``http_client`` for `AsyncFerry`: less work for each call, on asyncio.

    ``pip install 'ferry-sdk[aiohttp]'`` brings what it needs. One client serves any number of
    `AsyncFerry`, on one event loop after another; each event loop has connections of its own. It
    is closed by whoever made it, or by the end of the event loop.

    Args:
        verify: Whether a service has to show who it is, or what it is trusted by.
        proxy: The address of an HTTP proxy, which may hold a user and a password; else the
            environment's.
        trust_env: Ask the environment: ``HTTPS_PROXY`` and its kin, ``SSL_CERT_FILE``,
            ``SSL_CERT_DIR``.
        max_connections: How many may be in use at a time; further calls wait.
        keepalive_expiry: Seconds after which a connection is not used again; None: any.

    Raises:
        ConfigurationError: aiohttp is not installed, or an argument cannot work; the message
            names it.
        InvalidInputError: An argument cannot work; `field` names it.

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
        if type(max_connections) is not int or max_connections < 1:
            raise InvalidInputError("1 or more are expected", field="max_connections")
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
        raise TypeError("connections are not pickled")

    @property
    def is_closed(self) -> bool:
        """Whether it was closed."""
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
        """Make a request and send nothing.

        Args:
            method: Its method.
            url: Where it goes.
            content: Its body.
            headers: Its headers, besides those that say where it goes and how long it is.
            timeout: Seconds to connect, to read, to write, and to wait for a connection.
            extensions: What ``trace`` is told of its steps, as httpx tells it.

        Raises:
            ConfigurationError: The address, or a header, cannot be sent.
        """
        trace = (extensions or {}).get("trace", _ignore_event)
        return request_of(method, url, content, headers or {}, Limits(*timeout), trace)

    async def send(
        self,
        request: AioRequest,
        *,
        stream: bool = True,  # noqa: ARG002 -- asked of every HTTP client; a body is never read here
        auth: None = None,  # noqa: ARG002 -- asked of every HTTP client
        follow_redirects: bool = False,  # noqa: ARG002 -- asked of every one, and never True
    ) -> AioResponse:
        """Send a request and give its reply, the body not yet read.

        Raises:
            ConnectionFailedError: It did not come about, or ended.
            RequestTimeoutError: A part of it took too long.
            ConfigurationError: It cannot be sent from here.
        """
        try:
            return await exchange(await self._pool(), request)
        except asyncio.CancelledError:
            await asyncio.sleep(0)  # the connection it leaves is closed in the loop's next round
            raise
        except Exception as error:
            failure = failure_of(error, "unknown" if request.is_sent else "not_sent")
            if failure is None:
                raise
        raise failure

    async def aclose(self) -> None:
        """Close the connections of this event loop, and end those of others."""
        self._is_closed = True
        loop = _running_loop()
        if loop in self._resources:
            await self._resources[loop].keeper.aclose()
        _end_pools(self._resources)

    async def __aenter__(self) -> Self:
        await self._pool()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()

    async def _pool(self) -> Pool:
        """The connections of this event loop."""
        loop = _running_loop()
        resources = self._resources.get(loop) if loop else None
        if resources is not None:
            return resources.pool
        if loop is None:
            raise ConfigurationError("DefaultAioHttpClient runs on asyncio and nowhere else")
        if self._is_closed:
            raise ConfigurationError("the client is closed")
        for other in [*self._resources]:
            if other.is_closed():
                self._resources.pop(other, None)
        pool = Pool(self._options)
        resources = self._resources[loop] = _LoopResources(
            pool, _close_at_loop_end(loop, pool, self._resources)
        )
        await resources.keeper.__anext__()
        return pool


def _ssl_context(verify: object, *, trust_env: bool) -> ssl.SSLContext:
    if isinstance(verify, ssl.SSLContext):
        return verify
    if not isinstance(verify, bool):
        raise InvalidInputError("a bool or an SSLContext is expected", field="verify")
    paths = CertificatePaths.from_environment() if trust_env else DEFAULT_CERTIFICATES
    return context_of(paths, verify=verify)


def _end_pools(resources_by_loop: _Resources) -> None:
    """End the connections of all event loops, each in its own."""
    for loop, resources in [*resources_by_loop.items()]:
        with suppress(RuntimeError):  # it has ended
            loop.call_soon_threadsafe(resources.pool.end)


async def _close_at_loop_end(
    loop: asyncio.AbstractEventLoop, pool: Pool, resources_by_loop: _Resources
) -> AsyncGenerator[None, None]:
    """Close a pool when its event loop ends, which shuts its generators down first."""
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
    """Hear of a step that nobody asks about."""
