"""The local service as a context manager, or in the foreground."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Sequence
from datetime import datetime
from shlex import quote
from typing import Self

import anyio
import anyio.to_thread
from typing_extensions import TypedDict, Unpack

from ferry_sdk.sandbox.faults.mcp_options import McpOptions
from ferry_sdk.sandbox.local_service import LocalService
from ferry_sdk.sandbox.profile import Profile


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

        Without a `with` block:

        ```python
        from ferry_sdk import Ferry
        from ferry_sdk.sandbox import Sandbox

        sandbox = Sandbox()
        sandbox.start()
        with Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
            print(len(ferry.catalogue.ports()), "ports")
            # > 183 ports
            sandbox.reset()  # as new
        sandbox.stop()
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

    def __exit__(self, *_: object) -> None:
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

        Without an `async with` block:

        ```python
        import anyio
        from ferry_sdk import AsyncFerry
        from ferry_sdk.sandbox import AsyncSandbox


        async def main() -> None:
            sandbox = AsyncSandbox()
            await sandbox.start()
            async with AsyncFerry(sandbox.token, base_url=sandbox.base_url) as ferry:
                print(len(await ferry.catalogue.ports()), "ports")
                # > 183 ports
            sandbox.reset()  # as new
            await sandbox.stop()


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

    async def __aexit__(self, *_: object) -> None:
        await self.stop()


class Options(TypedDict, total=False):
    """The arguments of `Sandbox`, except its port."""

    host: str
    seed: int | None
    token: str | None
    read_only_token: str | None
    organisation_token: str | None
    control_token: str | None
    accounts: Sequence[str]
    mcp: McpOptions | None
    profile: Profile | str | os.PathLike[str] | None
    now: datetime | None
    frozen: bool
    state: str | os.PathLike[str] | None
    inventory: bool
    log: bool


def serve(port: int = 8080, **options: Unpack[Options]) -> None:
    """Run the local service in the foreground until Ctrl-C or SIGTERM.

    It prints its address and its tokens as lines for a shell, ``export NAME=value``. Call it from
    the main thread.

    Args:
        port: The port to listen on; 0 finds a free one.
        **options: The other arguments of `Sandbox`, such as `host`, `seed` and `token`.

    Raises:
        InvalidOrderError: The profile or the name of an account is invalid; a `ValueError`.
        ValueError: The time or the control token is invalid.
        OSError: The port is taken, or a file cannot be used.

    Example:
        ```console
        python -c "from ferry_sdk.sandbox import serve; serve(port=8080, seed=7)"
        ```
    """
    sandbox = Sandbox(port=port, **options)

    # SIGTERM raises KeyboardInterrupt, as Ctrl-C does.
    handler_before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with sandbox:
            sys.stdout.write(
                f"export FERRY_BASE_URL={sandbox.base_url}\n"
                f"export FERRY_TOKEN={quote(sandbox.token)}\n"
                f"export FERRY_ORGANISATION_TOKEN={quote(sandbox.organisation_token)}\n"
                f"# a token that may only read: {sandbox.read_only_token}\n"
                f"# MCP: {sandbox.base_url}/mcp"
                f" · control: {sandbox.base_url}/_sandbox/ · Ctrl-C stops\n"
            )
            if len(sandbox.accounts) > 1:
                for account in sandbox.accounts.values():
                    sys.stdout.write(
                        f"# account {account.name}: {account.token}"
                        f" · may only read: {account.read_only_token}"
                        f" · organisation: {account.organisation_token}\n"
                    )
            sys.stdout.flush()

            while True:
                time.sleep(3600)

    except KeyboardInterrupt:
        sys.stdout.write("# stopped\n")
    finally:
        signal.signal(signal.SIGTERM, handler_before)
