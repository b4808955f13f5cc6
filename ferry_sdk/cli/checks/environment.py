"""Findings of `ferry doctor` about the machine, the installation and the settings."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
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
"""What each extra brings, by the names it is imported by."""

_PACKAGES: Final = ("ferry-sdk", "httpx", "httpcore", "pydantic", "typer", "rich")
_SECRETS: Final = {
    "FERRY_ORGANISATION_TOKEN": "not set; only tickets.mark_paid needs it",
    "FERRY_JOURNAL_KEY": "not set; the journal makes one of its own",
}
_PART: Final = "configuration"


def configuration(base_url: str | None, token_file: Path | None) -> Iterator[Finding]:
    """Each setting, and where it comes from."""
    yield _address(base_url)
    yield from _token(token_file)
    for name, otherwise in _SECRETS.items():
        is_set = bool(os.environ.get(name))
        shown = name.removeprefix("FERRY_").replace("_", " ").lower()
        yield Finding(_PART, shown, "ok", f"set ({name})" if is_set else otherwise)
    yield Finding(_PART, "language", "ok", _from("FERRY_LANGUAGE") or "not set")
    proxies = {kind: url for kind, url in getproxies().items() if kind != "no"}
    for kind, url in sorted(proxies.items()):
        yield Finding(_PART, f"{kind} proxy", "ok", without_user(url))
    for name in ("SSL_CERT_FILE", "SSL_CERT_DIR"):
        if place := os.environ.get(name):
            is_there = Path(place).exists()
            yield Finding(_PART, name, "ok" if is_there else "fail", place)


def versions() -> Iterator[Finding]:
    """Versions of what matters, and which extras are there."""
    system = f"{platform.python_version()} on {platform.system()} {platform.machine()}"
    yield Finding("versions", "python", "ok", system)
    found = [f"{name} {_version(name)}" for name in _PACKAGES]
    yield Finding("versions", "packages", "ok", ", ".join(found))
    there = [name for name, modules in EXTRAS.items() if all(map(find_spec, modules))]
    yield Finding("versions", "extras", "ok", ", ".join(there))


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "without a version"


def without_user(url: str) -> str:
    """An address without the user and the password that may stand in it."""
    return re.sub(r"//[^/@]*@", "//…@", url)


def _address(base_url: str | None) -> Finding:
    if base_url:
        return Finding(_PART, "base url", "ok", f"{without_user(base_url)} (--base-url)")
    said = _from("FERRY_BASE_URL")
    missing = "missing: --base-url or FERRY_BASE_URL"
    return Finding(_PART, "base url", "ok" if said else "fail", without_user(said) or missing)


def _token(token_file: Path | None) -> Iterator[Finding]:
    file, is_set = file_of(token_file), bool(os.environ.get("FERRY_TOKEN"))
    if file is None:
        missing = "missing: FERRY_TOKEN, FERRY_TOKEN_FILE or --token-file"
        said = "set (FERRY_TOKEN)" if is_set else missing
        yield Finding(_PART, "token", "ok" if is_set else "fail", said)
        return
    where = "--token-file" if token_file else "FERRY_TOKEN_FILE"
    besides = "; FERRY_TOKEN is set too and not used" if is_set else ""
    yield Finding(_PART, "token", "warn" if is_set else "ok", f"in {file} ({where}){besides}")
    if is_open_to_others(file):
        yield Finding(_PART, "token file", "warn", f"others can read it: chmod 600 {file}")


def _from(name: str) -> str:
    value = os.environ.get(name)
    return f"{value} ({name})" if value else ""


State = Literal["ok", "warn", "fail"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the doctor's.

    Attributes:
        part: What was looked at: configuration, connection, token, clock or versions.
        name: Which of it.
        state: Whether it is well.
        said: What was found; never a secret.
        exit_code: What the command ends with if nothing worse is found.
    """

    part: str
    name: str
    state: State
    said: str
    exit_code: Exit = Exit.DONE

    def members(self) -> dict[str, object]:
        """The finding as a JSON document shows it."""
        return {name: value for name, value in asdict(self).items() if name != "exit_code"}
