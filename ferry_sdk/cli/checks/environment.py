"""Check the machine, the installation and the settings."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Final, Literal
from urllib.request import getproxies

from ferry_sdk._engine.auth import file_of
from ferry_sdk.cli.terminal.connection import is_open_to_others
from ferry_sdk.cli.terminal.errors import Exit

EXTRAS: Final[dict[str, tuple[str, ...]]] = {
    "agents": ("mcp",),
    "aiohttp": ("aiohttp",),
    "benchmarks": ("httpx2", "msgspec", "openai"),
    "cli": ("rich", "typer"),
    "journal": ("sqlalchemy",),
    "notebook": ("matplotlib", "pandas"),
    "otel": ("opentelemetry",),
    "postgresql": ("sqlalchemy", "psycopg"),
    "sandbox": ("fpdf", "segno", "starlette", "uvicorn"),
}
"""The importable modules that each extra installs."""

_PACKAGES: Final = ("ferry-sdk", "httpx", "httpcore", "pydantic", "typer", "rich")
_SECRETS: Final = {
    "FERRY_ORGANISATION_TOKEN": "not set; only tickets.mark_paid requires it",
    "FERRY_JOURNAL_KEY": "not set; the journal generates one",
}
_PART: Final = "configuration"


def configuration(base_url: str | None, token_file: Path | None) -> Iterator[Finding]:
    """Yield a finding for each setting, with its source."""
    yield _address(base_url)
    yield from _token(token_file)
    for name, fallback in _SECRETS.items():
        is_set = bool(os.environ.get(name))
        label = name.removeprefix("FERRY_").replace("_", " ").lower()
        yield Finding(_PART, label, "ok", f"set ({name})" if is_set else fallback)
    yield Finding(_PART, "language", "ok", _from_environment("FERRY_LANGUAGE") or "not set")
    proxies = {kind: url for kind, url in getproxies().items() if kind != "no"}
    for kind, url in sorted(proxies.items()):
        yield Finding(_PART, f"{kind} proxy", "ok", redact_user(url))
    for name in ("SSL_CERT_FILE", "SSL_CERT_DIR"):
        if path := os.environ.get(name):
            exists = Path(path).exists()
            yield Finding(_PART, name, "ok" if exists else "fail", path)


def versions() -> Iterator[Finding]:
    """Yield the versions of important packages, and the installed extras."""
    system = f"{platform.python_version()} on {platform.system()} {platform.machine()}"
    yield Finding("versions", "python", "ok", system)
    found = [f"{name} {_version(name)}" for name in _PACKAGES]
    yield Finding("versions", "packages", "ok", ", ".join(found))
    installed = [name for name, modules in EXTRAS.items() if all(map(find_spec, modules))]
    yield Finding("versions", "extras", "ok", ", ".join(installed))


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "(version unknown)"


def redact_user(url: str) -> str:
    """Remove a user name and password from an address."""
    return re.sub(r"//[^/@]*@", "//…@", url)


def _address(base_url: str | None) -> Finding:
    if base_url:
        return Finding(_PART, "base url", "ok", f"{redact_user(base_url)} (--base-url)")
    value = _from_environment("FERRY_BASE_URL")
    missing = "missing: --base-url or FERRY_BASE_URL"
    return Finding(_PART, "base url", "ok" if value else "fail", redact_user(value) or missing)


def _token(token_file: Path | None) -> Iterator[Finding]:
    file, is_set = file_of(token_file), bool(os.environ.get("FERRY_TOKEN"))
    if file is None:
        missing = "missing: FERRY_TOKEN, FERRY_TOKEN_FILE or --token-file"
        value = "set (FERRY_TOKEN)" if is_set else missing
        yield Finding(_PART, "token", "ok" if is_set else "fail", value)
        return
    where = "--token-file" if token_file else "FERRY_TOKEN_FILE"
    besides = "; FERRY_TOKEN is also set and ignored" if is_set else ""
    yield Finding(_PART, "token", "warn" if is_set else "ok", f"in {file} ({where}){besides}")
    if is_open_to_others(file):
        yield Finding(_PART, "token file", "warn", f"others can read it; run: chmod 600 {file}")


def _from_environment(name: str) -> str:
    value = os.environ.get(name)
    return f"{value} ({name})" if value else ""


State = Literal["ok", "warn", "fail"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One result of a check.

    Attributes:
        part: The area: configuration, connection, token, clock or versions.
        name: The item within the area.
        state: The result: ok, warn or fail.
        value: The observed value; never a secret.
        exit_code: The exit code of the command if this is the first failure.
    """

    part: str
    name: str
    state: State
    value: str
    exit_code: Exit = Exit.DONE

    def members(self) -> dict[str, object]:
        """Return the finding as the members of a JSON object."""
        return {"part": self.part, "name": self.name, "state": self.state, "said": self.value}
