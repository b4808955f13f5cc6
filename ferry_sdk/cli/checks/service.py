"""The doctor's look at the service: the way to it, what the token may do, its clock."""

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
from ferry_sdk.cli.terminal.errors import Exit, exit_of
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
"""Seconds that two clocks may differ: a tariff or a fee is decided by minutes."""
_WRITES: Final = (
    "cannot be known without writing: a read-only token is refused then, and nothing is done"
)


def connection(url: str) -> Iterator[Finding]:
    """Name, connection and TLS, each with the time it took; a proxy does these by itself."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    port = parts.port or (443 if parts.scheme == "https" else 80)
    is_proxied = parts.scheme in getproxies() or "all" in getproxies()
    if is_proxied and not proxy_bypass(host) and not is_local_http(url):
        yield Finding("connection", "proxy", "ok", "the way leads through it; not looked at alone")
        return
    step, begun = "name", time.monotonic()
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        addresses = ", ".join(sorted({str(one[4][0]) for one in found}))
        yield Finding("connection", "name", "ok", f"{host} is {addresses}, {_since(begun)}")
        step, begun = "connection", time.monotonic()
        with socket.create_connection((host, port), _SECONDS) as plain:
            yield Finding("connection", "connection", "ok", f"port {port}, {_since(begun)}")
            if parts.scheme == "https":
                step, begun = "TLS", time.monotonic()
                trusted = context_of(CertificatePaths.from_environment())
                with trusted.wrap_socket(plain, server_hostname=host) as secure:
                    yield Finding("connection", "TLS", "ok", _secured(secure, begun))
    except (OSError, FerryError) as error:
        yield Finding("connection", step, "fail", str(error), Exit.NOT_SENT)


def service(ferry: Ferry) -> Iterator[Finding]:
    """One read: whether the service answers, what the token may do, and what time it is there."""
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
        yield Finding("connection", "service", "fail", str(error), exit_of(error))
        return
    took = f"{answer.elapsed * 1000:.0f} ms"
    yield Finding("connection", "service", "ok", f"{size} ports in {took}")
    yield Finding("token", "reads", "ok", "it reads the catalogue")
    yield Finding("token", "writes", "ok", _WRITES)
    yield _clock(answer.headers.get("date"), (before + time.time()) / 2)


def _clock(date: str | None, here: float) -> Finding:
    try:
        there = parsedate_to_datetime(date or "")
    except ValueError:
        return Finding("clock", "skew", "warn", "the service does not say what time it is")
    # The header leaves out parts of a second: half of one is likeliest.
    ahead = there.timestamp() + 0.5 - here
    shown = f"{datetime.fromtimestamp(here, timezone.utc):%H:%M:%S} UTC here"
    if abs(ahead) <= _TOLERATED:
        return Finding("clock", "skew", "ok", f"none to speak of; {shown}")
    way = "ahead of" if ahead > 0 else "behind"
    said = f"the service's clock is {abs(ahead):.0f} s {way} this machine's; {shown}"
    return Finding("clock", "skew", "warn", said)


def _since(begun: float) -> str:
    return f"{(time.monotonic() - begun) * 1000:.0f} ms"


def _secured(secure: ssl.SSLSocket, begun: float) -> str:
    ends = (secure.getpeercert() or {}).get("notAfter")
    until = f", certificate until {ends}" if ends else ""
    return f"{secure.version()}, {_since(begun)}{until}"
