"""`ferry doctor`: check the settings, the connection, the token, the clock and the versions."""

from __future__ import annotations

import os
import platform
import re
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timezone
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Final, Literal
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import typer
from rich.text import Text

from ferry_sdk._engine.http import parse_date
from ferry_sdk._engine.settings import CertificatePaths
from ferry_sdk._engine.token_file import file_of
from ferry_sdk._engine.validation import is_local_http, is_loopback
from ferry_sdk._transport.tls import context_of
from ferry_sdk.cli.terminal.errors import Exit, exit_code_of
from ferry_sdk.cli.terminal.options import Common, is_open_to_others
from ferry_sdk.cli.terminal.output import print_grid, print_json, show_progress
from ferry_sdk.client import Ferry
from ferry_sdk.errors import (
    APIError,
    AuthenticationError,
    ConfigurationError,
    FerryError,
    PermissionDeniedError,
)

EXTRAS: Final[dict[str, tuple[str, ...]]] = {
    "agents": ("mcp",),
    "benchmarks": ("aiohttp", "httpx2", "msgspec", "openai"),
    "cli": ("rich", "typer"),
    "fast": ("httptools",),
    "journal": ("sqlalchemy",),
    "notebook": ("matplotlib", "pandas"),
    "otel": ("opentelemetry",),
    "postgresql": ("sqlalchemy", "psycopg"),
    "rate": ("pyrate_limiter", "redis"),
    "sandbox": ("fpdf", "segno", "starlette", "uvicorn"),
    "scan": ("pyarrow",),
}
"""The importable modules that each extra installs."""

_PACKAGES: Final = ("ferry-sdk", "httpx", "httpcore", "pydantic", "typer", "rich")
_SECRETS: Final = {
    "FERRY_ORGANISATION_TOKEN": "not set; only tickets.mark_paid requires it",
    "FERRY_JOURNAL_KEY": "not set; the journal generates one",
}
_LOCAL: Final = "`ferry sandbox` starts a local service"
_DEADLINE: Final = 10.0
_CONNECT_TIMEOUT: Final = 5.0
_TOLERATED: Final = 5.0
"""Tolerated clock difference in seconds; tariffs and fees change by the minute."""
_WRITES: Final = "unknown until the first write; a read-only token is rejected then, without effect"
_STYLES: Final = {"ok": "green", "warn": "yellow", "fail": "red"}


@dataclass(frozen=True, slots=True)
class Finding:
    """One result of a check. `value` is what was observed, and never a secret.

    The first failure's exit code is that of the command.
    """

    part: str
    name: str
    state: Literal["ok", "warn", "fail"]
    value: str
    exit_code: Exit = Exit.DONE


def doctor(*, common: Common) -> None:
    """Check configuration, connection, token, clock and versions.

    It only reads, and prints no secrets.
    """
    with show_progress("Checking"):
        found = list(_findings(common))
    code = next((one.exit_code for one in found if one.exit_code), Exit.DONE)
    if common.as_json:
        members = [
            {"part": one.part, "name": one.name, "state": one.state, "value": one.value}
            for one in found
        ]
        print_json({"findings": members, "exit_code": int(code)})
    else:
        parts = [one.part for one in found]
        print_grid(
            (
                Text(one.part if parts.index(one.part) == index else "", "bold"),
                Text(one.state, _STYLES[one.state]),
                one.name,
                one.value,
            )
            for index, one in enumerate(found)
        )
    if code:
        raise typer.Exit(code)


def _findings(common: Common) -> Iterator[Finding]:
    yield from _check_settings(common)
    try:
        with common.open_client() as ferry:
            reached = list(_check_connection(common.base_url or os.environ["FERRY_BASE_URL"]))
            yield from reached
            if all(one.state != "fail" for one in reached):
                yield from _check_service(ferry.with_options(deadline=_DEADLINE, max_retries=0))
    except ConfigurationError as error:
        yield Finding("configuration", "client", "fail", str(error), Exit.NOT_SENT)
    yield from _check_versions()


def _check_settings(common: Common) -> Iterator[Finding]:
    """Yield a finding for each setting, with its source."""
    part = "configuration"
    url = common.base_url or os.environ.get("FERRY_BASE_URL")
    source = "--base-url" if common.base_url else "FERRY_BASE_URL"
    missing = f"missing: --base-url or FERRY_BASE_URL; {_LOCAL}, and prints both settings"
    value = f"{_redact_user(url)} ({source})" if url else missing
    yield Finding(part, "base url", "ok" if url else "fail", value)
    yield from _check_token(common.token_file)
    for name, fallback in _SECRETS.items():
        label = name.removeprefix("FERRY_").replace("_", " ").lower()
        yield Finding(part, label, "ok", f"set ({name})" if os.environ.get(name) else fallback)
    language = os.environ.get("FERRY_LANGUAGE")
    value = f"{language} (FERRY_LANGUAGE)" if language else "not set"
    yield Finding(part, "language", "ok", value)
    for kind, url in sorted(getproxies().items()):
        if kind != "no":
            yield Finding(part, f"{kind} proxy", "ok", _redact_user(url))
    for name in ("SSL_CERT_FILE", "SSL_CERT_DIR"):
        if path := os.environ.get(name):
            yield Finding(part, name, "ok" if Path(path).exists() else "fail", path)


def _check_token(token_file: Path | None) -> Iterator[Finding]:
    part = "configuration"
    file, is_set = file_of(token_file), bool(os.environ.get("FERRY_TOKEN"))
    if file is None:
        missing = "missing: FERRY_TOKEN, FERRY_TOKEN_FILE or --token-file"
        value = "set (FERRY_TOKEN)" if is_set else missing
        yield Finding(part, "token", "ok" if is_set else "fail", value)
        return
    source = "--token-file" if token_file else "FERRY_TOKEN_FILE"
    besides = "; FERRY_TOKEN is also set and ignored" if is_set else ""
    yield Finding(part, "token", "warn" if is_set else "ok", f"in {file} ({source}){besides}")
    if is_open_to_others(file):
        yield Finding(part, "token file", "warn", f"others can read it; run: chmod 600 {file}")


def _redact_user(url: str) -> str:
    """Remove a user name and password from an address."""
    return re.sub(r"//[^/@]*@", "//…@", url)


def _check_connection(url: str) -> Iterator[Finding]:
    """Yield findings on DNS, TCP and TLS with their durations; a proxy does these itself."""
    part = "connection"
    parts = urlsplit(url)
    host = parts.hostname or ""
    port = parts.port or (443 if parts.scheme == "https" else 80)
    is_proxied = parts.scheme in getproxies() or "all" in getproxies()
    if is_proxied and not proxy_bypass(host) and not is_local_http(url):
        yield Finding(part, "proxy", "ok", "in use; the connection itself was not checked")
        return
    step, begun = "name", time.monotonic()
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        addresses = ", ".join(sorted({str(one[4][0]) for one in found}))
        yield Finding(part, step, "ok", f"{host}: {addresses}, {_elapsed(begun)}")
        step, begun = "connection", time.monotonic()
        with socket.create_connection((host, port), _CONNECT_TIMEOUT) as plain_socket:
            yield Finding(part, step, "ok", f"port {port}, {_elapsed(begun)}")
            if parts.scheme == "https":
                step, begun = "TLS", time.monotonic()
                trusted = context_of(CertificatePaths.from_environment())
                with trusted.wrap_socket(plain_socket, server_hostname=host) as secure:
                    ends = (secure.getpeercert() or {}).get("notAfter")
                    until = f", certificate until {ends}" if ends else ""
                    yield Finding(part, step, "ok", f"{secure.version()}, {_elapsed(begun)}{until}")
    except (OSError, FerryError) as error:
        hint = f"; {_LOCAL}" if is_loopback(host) else ""
        yield Finding(part, step, "fail", f"{host}:{port}: {error}{hint}", Exit.NOT_SENT)


def _elapsed(begun: float) -> str:
    return f"{(time.monotonic() - begun) * 1000:.0f} ms"


def _check_service(ferry: Ferry) -> Iterator[Finding]:
    """Yield findings of one read: service, token permissions and clock."""
    before = time.time()
    try:
        answer = ferry.with_raw_response.catalogue.ports()
        size = len(answer.parse())
    except APIError as error:
        yield Finding("connection", "service", "ok", f"answers with HTTP {error.status_code}")
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
    yield _check_clock(answer.headers.get("date"), (before + time.time()) / 2)


def _check_clock(date: str | None, here: float) -> Finding:
    there = parse_date(date or "")
    if there is None:
        return Finding("clock", "skew", "warn", "the service sends no date")
    # The header has whole seconds, so the actual time is half a second later on average.
    ahead = there + 0.5 - here
    here_text = f"{datetime.fromtimestamp(here, timezone.utc):%H:%M:%S} UTC here"
    if abs(ahead) <= _TOLERATED:
        return Finding("clock", "skew", "ok", f"none; {here_text}")
    direction = "ahead of" if ahead > 0 else "behind"
    value = f"the service's clock is {abs(ahead):.0f} s {direction} this machine's; {here_text}"
    return Finding("clock", "skew", "warn", value)


def _check_versions() -> Iterator[Finding]:
    """Yield the versions of important packages, and the installed extras."""
    system = f"{platform.python_version()} on {platform.system()} {platform.machine()}"
    yield Finding("versions", "python", "ok", system)
    found: list[str] = []
    for name in _PACKAGES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            found.append(f"{name} (version unknown)")
    yield Finding("versions", "packages", "ok", ", ".join(found))
    installed = [name for name, modules in EXTRAS.items() if all(map(find_spec, modules))]
    yield Finding("versions", "extras", "ok", ", ".join(installed))
