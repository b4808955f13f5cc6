"""Check the service: connection, token permissions and clock."""

from __future__ import annotations

import socket
import ssl
import time
from collections.abc import Iterator
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import Final
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from ferry_sdk._engine.settings import CertificatePaths
from ferry_sdk._engine.validation import is_local_http
from ferry_sdk._transport.tls import context_of
from ferry_sdk.cli.checks.environment import Finding
from ferry_sdk.cli.terminal.errors import Exit, exit_code_of
from ferry_sdk.client import Ferry
from ferry_sdk.errors import (
    APIError,
    AuthenticationError,
    ConfigurationError,
    FerryError,
    PermissionDeniedError,
)

_SECONDS: Final = 5.0
_TOLERATED: Final = 5.0
"""Tolerated clock difference in seconds; tariffs and fees change by the minute."""
_WRITES: Final = "unknown until the first write; a read-only token is rejected then, without effect"


def connection(url: str) -> Iterator[Finding]:
    """Yield findings on DNS, TCP and TLS with their durations; a proxy does these itself."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    port = parts.port or (443 if parts.scheme == "https" else 80)
    is_proxied = parts.scheme in getproxies() or "all" in getproxies()
    if is_proxied and not proxy_bypass(host) and not is_local_http(url):
        yield Finding("connection", "proxy", "ok", "in use; the connection itself was not checked")
        return
    step, begun = "name", time.monotonic()
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        addresses = ", ".join(sorted({str(one[4][0]) for one in found}))
        yield Finding("connection", "name", "ok", f"{host}: {addresses}, {_elapsed(begun)}")
        step, begun = "connection", time.monotonic()
        with socket.create_connection((host, port), _SECONDS) as plain_socket:
            yield Finding("connection", "connection", "ok", f"port {port}, {_elapsed(begun)}")
            if parts.scheme == "https":
                step, begun = "TLS", time.monotonic()
                trusted = context_of(CertificatePaths.from_environment())
                with trusted.wrap_socket(plain_socket, server_hostname=host) as secure:
                    yield Finding("connection", "TLS", "ok", _tls_summary(secure, begun))
    except (OSError, FerryError) as error:
        yield Finding("connection", step, "fail", str(error), Exit.NOT_SENT)


def service(ferry: Ferry) -> Iterator[Finding]:
    """Yield findings of one read: service, token permissions and clock."""
    before = time.time()
    try:
        answer = ferry.with_raw_response.catalogue.ports()
        size = len(answer.parse())
    except APIError as error:
        state = f"answers with HTTP {error.status_code}"
        yield Finding("connection", "service", "ok", state)
        is_about_token = isinstance(error, AuthenticationError | PermissionDeniedError)
        name = ("token", "reads") if is_about_token else ("connection", "catalogue")
        yield Finding(*name, "fail", str(error), Exit.REJECTED)
        return
    except ConfigurationError:
        raise
    except FerryError as error:
        yield Finding("connection", "service", "fail", str(error), exit_code_of(error))
        return
    took = f"{answer.elapsed * 1000:.0f} ms"
    yield Finding("connection", "service", "ok", f"{size} ports in {took}")
    yield Finding("token", "reads", "ok", "can read the catalogue")
    yield Finding("token", "writes", "ok", _WRITES)
    yield _clock(answer.headers.get("date"), (before + time.time()) / 2)


def _clock(date: str | None, here: float) -> Finding:
    try:
        there = parsedate_to_datetime(date or "")
    except ValueError:
        return Finding("clock", "skew", "warn", "the service sends no date")
    # The header has whole seconds, so the actual time is half a second later on average.
    ahead = there.timestamp() + 0.5 - here
    here_text = f"{datetime.fromtimestamp(here, timezone.utc):%H:%M:%S} UTC here"
    if abs(ahead) <= _TOLERATED:
        return Finding("clock", "skew", "ok", f"none; {here_text}")
    direction = "ahead of" if ahead > 0 else "behind"
    value = f"the service's clock is {abs(ahead):.0f} s {direction} this machine's; {here_text}"
    return Finding("clock", "skew", "warn", value)


def _elapsed(begun: float) -> str:
    return f"{(time.monotonic() - begun) * 1000:.0f} ms"


def _tls_summary(secure: ssl.SSLSocket, begun: float) -> str:
    ends = (secure.getpeercert() or {}).get("notAfter")
    until = f", certificate until {ends}" if ends else ""
    return f"{secure.version()}, {_elapsed(begun)}{until}"
