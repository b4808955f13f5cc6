"""The local service in the foreground."""

from __future__ import annotations

import os
import signal
import sys
import time
from datetime import datetime

from typing_extensions import TypedDict, Unpack

from ferry_sdk.sandbox.faults.mcp_options import McpOptions
from ferry_sdk.sandbox.profile import Profile
from ferry_sdk.sandbox.server import Sandbox


class Options(TypedDict, total=False):
    """The arguments of `Sandbox`, except its port."""

    host: str
    seed: int | None
    token: str | None
    read_only_token: str | None
    organisation_token: str | None
    control_token: str | None
    mcp: McpOptions | None
    profile: Profile | str | os.PathLike[str] | None
    now: datetime | None
    frozen: bool
    state: str | os.PathLike[str] | None
    inventory: bool
    log: bool


def serve(port: int = 8080, **options: Unpack[Options]) -> None:
    """Run the local service in the foreground until Ctrl-C or SIGTERM.

    It prints its address and its tokens as `NAME=value` lines. Call it from the main thread.

    Args:
        port: The port to listen on; 0 finds a free one.
        **options: The other arguments of `Sandbox`, such as `host`, `seed` and `token`.

    Raises:
        InvalidOrderError: The profile has an unknown id or value; a `ValueError`.
        ValueError: The time or the control token is invalid.
        OSError: The port is taken, or a file cannot be used.
    """
    sandbox = Sandbox(port=port, **options)
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with sandbox:
            sys.stdout.write(
                f"FERRY_BASE_URL={sandbox.base_url}\n"
                f"FERRY_TOKEN={sandbox.token}\n"
                f"FERRY_ORGANISATION_TOKEN={sandbox.organisation_token}\n"
                f"# a token that may only read: {sandbox.read_only_token}\n"
                f"# MCP: {sandbox.base_url}/mcp"
                f" · control: {sandbox.base_url}/_sandbox/ · Ctrl-C stops\n"
            )
            sys.stdout.flush()
            while True:
                time.sleep(3600)
    except KeyboardInterrupt:
        sys.stdout.write("# stopped\n")
    finally:
        signal.signal(signal.SIGTERM, before)
