"""Run the MCP server as a process: its token, its toolkit, its transport and its exit code."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Final

import anyio

from ferry_sdk._engine.token_file import FileToken, file_of, has_other_readers, read_secret
from ferry_sdk.agents.mcp_server.http import HttpAddress, serve_http
from ferry_sdk.agents.mcp_server.stderr_log import log_to_stderr
from ferry_sdk.agents.mcp_server.stdio import is_host_gone, serve_stdio
from ferry_sdk.agents.policy.approval import ApprovalWay
from ferry_sdk.agents.policy.audit_file import AuditFile
from ferry_sdk.agents.policy.trip_answers import Handles
from ferry_sdk.agents.secret import check_secret
from ferry_sdk.agents.toolkit import AsyncToolkit
from ferry_sdk.agents.tools.tools import ToolChoice
from ferry_sdk.client import AsyncFerry
from ferry_sdk.errors import ConfigurationError
from ferry_sdk.types import Recorder

_DEADLINE: Final = 60.0
"""Seconds for a whole call; hosts wait about as long."""

logger: logging.Logger = logging.getLogger("ferry_sdk")


def serve(
    *,
    tools: ToolChoice = "journey",
    writes: bool = False,
    spend_limit: Mapping[str, str] | None = None,
    penalty_limit: Mapping[str, str] | None = None,
    per_booking: Mapping[str, str] | None = None,
    until: datetime | None = None,
    token_file: Path | None = None,
    audit: Path | None = None,
    state: Path | None = None,
    journal: Recorder | None = None,
    travellers: Handles | None = None,
    approval: ApprovalWay = "auto",
    http: str | None = None,
    secret_file: Path | None = None,
) -> None:
    """Serve the tools over MCP: to the host on stdin and stdout until the input ends, or over HTTP.

    The token comes from the file in ``FERRY_TOKEN_FILE``, or from ``FERRY_TOKEN``; the service's
    address from ``FERRY_BASE_URL``. Call it in the main thread only.

    Args:
        tools: Which tools to offer, like `Toolkit`.
        writes: Whether to offer the tools that change something.
        spend_limit: The most that all bookings together may cost, by currency.
        penalty_limit: The most that cancelling one booking may cost, by currency.
        per_booking: The most that one booking may cost, by currency.
        until: When writes end, like `Toolkit`.
        token_file: The file that holds the token.
        audit: A private file to which the record of each call is appended as a line of JSON.
        state: A private file that keeps what was shown, spent and done for other processes.
        journal: Records every write; a booking can be changed only with a journal.
        travellers: The travellers by their handles, like `Toolkit`.
        approval: How a person is asked to approve a write: by a card, a form or a code; ``auto``:
            by the best way that the host has; ``none``: nobody is, and every write is refused.
        http: Where to serve over HTTP, such as ``8000`` or ``127.0.0.1:8000``; None: on stdin and
            stdout.
        secret_file: The file that holds the secret of HTTP requests. Without it, only this machine
            can connect.

    Raises:
        SystemExit: With code 2 if a setting is missing or invalid (stderr names it), with code 1 if
            the server failed.
    """
    log_to_stderr()
    try:
        token = take_token(token_file)
        audit_file = None if audit is None else AuditFile(audit)
        ferry = AsyncFerry(token, read_only=not writes, deadline=_DEADLINE, journal=journal)
        toolkit = AsyncToolkit(
            ferry,
            tools=tools,
            writes=writes,
            spend_limit=spend_limit,
            penalty_limit=penalty_limit,
            per_booking=per_booking,
            until=until,
            audit=audit_file,
            state=state,
            travellers=travellers,
        )
        address = None if http is None else HttpAddress.parse(http)
        secret = None if secret_file is None else _take_secret(secret_file)
        anyio.run(partial(_serve, ferry, toolkit, address, secret=secret, approval=approval))
    except ConfigurationError as error:
        sys.stderr.write(f"ferry_sdk: {error}\n")
        raise SystemExit(2) from None
    except Exception as error:  # noqa: BLE001 -- its text may hold secrets
        if not is_host_gone(error):
            logger.critical("the server failed (%s)", type(error).__name__)
            raise SystemExit(1) from None
        # Since Python 3.13, the unsent rest of the MCP SDK's stdout is reported with a traceback.
        sys.unraisablehook = lambda _: None


async def _serve(
    ferry: AsyncFerry,
    toolkit: AsyncToolkit,
    address: HttpAddress | None,
    *,
    secret: str | None,
    approval: ApprovalWay,
) -> None:
    async with ferry:
        if address is None:
            await serve_stdio(toolkit, approval)
        else:
            await serve_http(toolkit, address, secret=secret, approval=approval)


def take_token(file: Path | None) -> str | Callable[[], str]:
    """Return the token, or a function that reads it from the file again.

    Remove it from the environment, so that no child inherits it. Without `file`, use the file in
    ``FERRY_TOKEN_FILE``, else ``FERRY_TOKEN``; raise ConfigurationError if there is none.
    """
    token = os.environ.pop("FERRY_TOKEN", "").strip()
    os.environ.pop("FERRY_ORGANISATION_TOKEN", None)  # no tool uses it

    file = file_of(file)
    if file is not None:
        _warn_of_readers(file, "token")
        return FileToken(file)
    if not token:
        raise ConfigurationError("missing: FERRY_TOKEN_FILE, or FERRY_TOKEN")
    return token


def _take_secret(file: Path) -> str:
    """Return the secret of HTTP requests."""
    _warn_of_readers(file, "secret")
    return check_secret(read_secret(file, "secret"))


def _warn_of_readers(file: Path, name: str) -> None:
    if has_other_readers(file):
        logger.warning("other users can read the %s in %s; run: chmod 600 %s", name, file, file)
