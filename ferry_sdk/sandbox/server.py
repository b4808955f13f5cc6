"""The local service as a context manager, as an async one, and in the foreground."""

from __future__ import annotations

import signal
import sys
import time
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread
from typing_extensions import Self

from ferry_sdk.sandbox.local_service import LocalService

if TYPE_CHECKING:
    from datetime import datetime
    from types import TracebackType

_SLEEP_SECONDS = 3600.0


class Sandbox(LocalService):
    """The local service as a context manager: it runs inside the `with` block.

    Example:
        ```python
        from ferry_sdk import Ferry
        from ferry_sdk.sandbox import Sandbox

        with Sandbox() as sandbox, Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
            sandbox.faults.add("server_error", "catalogue.ports")
            print(len(ferry.catalogue.ports()), "ports")
            # > 183 ports
            print(sandbox.counters.requests["catalogue.ports"], "requests")
            # > 2 requests
        ```
    """

    def start(self) -> None:
        """Start the service and return when it accepts requests.

        Raises:
            RuntimeError: It is already running.
            OSError: The port is taken.
        """
        self._open()

    def stop(self) -> None:
        """Cut every connection, stop the service and free its port, if it is running."""
        self._close()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()


class AsyncSandbox(LocalService):
    """The local service as an async context manager; it never blocks the event loop.

    Example:
        ```python
        import anyio
        from ferry_sdk import AsyncFerry
        from ferry_sdk.sandbox import AsyncSandbox


        async def main() -> None:
            async with (
                AsyncSandbox() as sandbox,
                AsyncFerry(sandbox.token, base_url=sandbox.base_url) as ferry,
            ):
                await ferry.catalogue.ports()
                print(sandbox.counters.requests["catalogue.ports"], "request")
                # > 1 request


        anyio.run(main)
        ```
    """

    async def start(self) -> None:
        """Start the service and return when it accepts requests.

        Raises:
            RuntimeError: It is already running.
            OSError: The port is taken.
        """
        await anyio.to_thread.run_sync(self._open)

    async def stop(self) -> None:
        """Cut every connection, stop the service and free its port, if it is running."""
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(self._close)

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.stop()


def serve(
    port: int = 8080,
    *,
    host: str = "127.0.0.1",
    seed: int | None = None,
    token: str | None = None,
    read_only_token: str | None = None,
    organisation_token: str | None = None,
    now: datetime | None = None,
    frozen: bool = False,
) -> None:
    """Run the local service in the foreground until Ctrl-C or SIGTERM.

    It prints its address and its tokens as `NAME=value` lines. Call it from the main thread.

    Args:
        port: The port to listen on; 0 finds a free one.
        host: The address to listen on.
        seed: Determines the timetable, the prices and all ids; by default the ids of bookings
            and tickets are random.
        token: The read-write token; by default all three tokens are random.
        read_only_token: The token that can only read.
        organisation_token: The token that can do everything, including recording payments.
        now: The initial time of the clock, with a time zone; by default the real time.
        frozen: Whether the clock starts frozen.
    """
    sandbox = Sandbox(
        seed=seed,
        host=host,
        port=port,
        token=token,
        read_only_token=read_only_token,
        organisation_token=organisation_token,
        now=now,
        frozen=frozen,
    )
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with sandbox:
            sys.stdout.write(_greeting(sandbox))
            sys.stdout.flush()
            while True:
                time.sleep(_SLEEP_SECONDS)
    except KeyboardInterrupt:
        sys.stdout.write("# stopped\n")
    finally:
        signal.signal(signal.SIGTERM, before)


def _greeting(sandbox: Sandbox) -> str:
    return (
        f"FERRY_BASE_URL={sandbox.base_url}\n"
        f"FERRY_TOKEN={sandbox.token}\n"
        f"FERRY_ORGANISATION_TOKEN={sandbox.organisation_token}\n"
        f"# a token that may only read: {sandbox.read_only_token}\n"
        f"# MCP: {sandbox.base_url}/mcp · control: {sandbox.base_url}/_sandbox/… · Ctrl-C stops\n"
    )
