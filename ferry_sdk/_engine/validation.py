"""Validation of arguments. Each function returns the value or raises an error that names it."""

from __future__ import annotations

import re
import stat
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from inspect import iscoroutinefunction
from pathlib import Path
from typing import cast
from urllib.parse import urlsplit
from urllib.request import getproxies

from ferry_sdk._engine.headers import RESERVED
from ferry_sdk._engine.http import Timeout
from ferry_sdk._runtime.hosts import is_loopback, is_loopback_address
from ferry_sdk.errors import InvalidInputError
from ferry_sdk.types import RateLimiter, Recorder

_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HEADER_VALUE = re.compile(r"[!-~](?:[ -~]*[!-~])?")
_LABEL = re.compile(r"[!-~]{1,64}")
_LONGEST = 2_147_483
"""Seconds, about 24 days: the longest timeout of a socket."""


def header_value(value: object, argument: str) -> str:
    """Return a text that is valid as the value of a header."""
    if not isinstance(value, str) or not _HEADER_VALUE.fullmatch(value):
        raise InvalidInputError("expected printable ASCII, and not an empty text", field=argument)
    return value


def label_text(value: object, argument: str) -> str:
    """Return the label of a client or view."""
    if not isinstance(value, str) or not _LABEL.fullmatch(value):
        problem = "expected 1 to 64 printable ASCII characters without white space"
        raise InvalidInputError(problem, field=argument)
    return value


def token_text(value: object, argument: str) -> str:
    """Return an access token, as it stands after ``Bearer`` in the header."""
    if isinstance(value, str):
        if value.lower().startswith("bearer "):
            raise InvalidInputError('expected the token alone, without "Bearer"', field=argument)
        if value and value.split() != [value]:
            problem = "expected printable ASCII without white space"
            raise InvalidInputError(problem, field=argument)
    return header_value(value, argument)


def encodable_text(text: str, argument: str) -> str:
    """Return a text that can be encoded, as one with a lone surrogate cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InvalidInputError("not a text that can be encoded", field=argument) from None
    return text


def extra_headers(headers: object, argument: str) -> dict[str, str]:
    """Return the user's headers with names in lower case; none may replace the library's own."""
    if not isinstance(headers, Mapping):
        raise InvalidInputError("expected a mapping of headers", field=argument)

    checked: dict[str, str] = {}
    for name, value in cast("Mapping[object, object]", headers).items():
        where = f"{argument}[{name!r}]"
        if not isinstance(name, str) or not _HEADER_NAME.fullmatch(name):
            raise InvalidInputError("not a valid header name", field=where)
        if name.lower() in RESERVED:
            problem = "the library or the HTTP client sets this header itself"
            raise InvalidInputError(problem, field=where)
        checked[name.lower()] = header_value(value, where)
    return checked


def folder(value: object, argument: str) -> Path:
    """Return the path of a folder, which need not be there yet."""
    if isinstance(value, str | Path) and str(value):
        # OSError: a name that is too long. ValueError: a NUL. RuntimeError: a user without a home.
        with suppress(OSError, ValueError, RuntimeError):
            path = Path(value).expanduser()
            try:
                is_folder = stat.S_ISDIR(path.stat().st_mode)
            except (FileNotFoundError, NotADirectoryError, PermissionError):
                return path  # the first file that is written makes it, or fails
            if is_folder:
                return path
    raise InvalidInputError("expected a folder", field=argument)


def _offers(value: object, *methods: str) -> bool:
    """Return whether a value is an object, not a class, with these methods."""
    if isinstance(value, type):
        return False
    return all(callable(getattr(value, method, None)) for method in methods)


def recorder(journal: object, argument: str) -> Recorder:
    """Return a journal: an object with sync `begin` and `end`, not a class or a URL."""
    is_async = any(iscoroutinefunction(getattr(journal, name, None)) for name in ("begin", "end"))
    if is_async or not _offers(journal, "begin", "end"):
        problem = 'expected a ferry_sdk.journal.Journal, such as Journal("sqlite:///ferry.db")'
        raise InvalidInputError(problem, field=argument)
    return cast("Recorder", journal)


def limiter(value: object, argument: str) -> RateLimiter:
    """Return a rate limiter: an object with the method `acquire`, which may be async."""
    if not _offers(value, "acquire"):
        problem = 'expected an object with a method acquire, such as ferry_sdk.Rate("50/second")'
        raise InvalidInputError(problem, field=argument)
    return cast("RateLimiter", value)


def timeouts(timeout: object, argument: str) -> Timeout:
    """Return a `Timeout`; a number, or None, sets all of its parts."""
    if not isinstance(timeout, Timeout):
        limit = None if timeout is None else seconds(timeout, argument)
        return Timeout(connect=limit, read=limit, write=limit, pool=limit)

    for name, limit in asdict(timeout).items():
        if limit is not None:
            seconds(limit, f"{argument}.{name}")
    return timeout


def seconds(span: object, argument: str) -> float:
    """Return a positive number of seconds."""
    if isinstance(span, int | float) and not isinstance(span, bool) and 0 < span <= _LONGEST:
        return span
    problem = f"expected a number of seconds, more than 0 and at most {_LONGEST}"
    raise InvalidInputError(problem, field=argument)


def retries(count: object, argument: str) -> int:
    """Return the number of retries."""
    if not isinstance(count, int) or isinstance(count, bool) or count < 0:
        raise InvalidInputError("expected a whole number, 0 or more", field=argument)
    return count


def flag(value: object, argument: str) -> bool:
    """Return a bool; other values that count as true or false are not accepted."""
    if not isinstance(value, bool):
        raise InvalidInputError("expected True or False", field=argument)
    return value


def http_client(client: object, *, is_async: bool) -> None:
    """Raise unless the object is an HTTP client of the required kind."""
    close = "aclose" if is_async else "close"
    if not _offers(client, "build_request", "send", close):
        expected = "httpx.AsyncClient" if is_async else "httpx.Client"
        raise InvalidInputError(f"expected an {expected}", field="http_client")


def address(url: object, *, allow_http: bool) -> str:
    """Return the service's address without a trailing slash; plain http only for loopback."""
    if not isinstance(url, str):
        raise InvalidInputError("expected a text", field="base_url")
    if not url.isprintable() or " " in url:
        raise InvalidInputError("a URL has no spaces", field="base_url")

    try:
        parts = urlsplit(url)
        host = parts.hostname
        parts.port  # noqa: B018 -- reading it checks it
    except ValueError:
        raise InvalidInputError("not a URL", field="base_url") from None

    if "://" not in url:
        example = "https://ferry.example"
        if _names_this_machine(url):
            example = "http://localhost:8080"
        scheme = example.partition("://")[0]
        problem = f"has no scheme; write {scheme}:// before the host, such as {example}"
        raise InvalidInputError(problem, field="base_url")
    if parts.scheme not in {"http", "https"} or not host:
        raise InvalidInputError("expected an http or https URL", field="base_url")
    if parts.username is not None or not {"?", "#"}.isdisjoint(url):
        raise InvalidInputError("must have no user, no query and no fragment", field="base_url")
    if parts.scheme == "http" and not allow_http and not is_loopback(host):
        problem = "plain http would expose the token to the network; use https, or allow_http=True"
        others = "FERRY_ALLOW_HTTP=1, ferry --allow-http"
        raise InvalidInputError(f"{problem} ({others})", field="base_url")
    return url.rstrip("/")


def _names_this_machine(url: str) -> bool:
    """Return whether an address without a scheme is that of a service on this machine."""
    with suppress(ValueError):
        return is_loopback(urlsplit(f"//{url.lstrip('/')}").hostname or "")
    return False


def is_local(url: str) -> bool:
    """Return whether requests for an address certainly stay on this machine.

    A name below ``localhost`` may lead to another machine. If the environment sets a proxy for
    https, every name may: the proxy looks for the host on its own machine. No proxy is used for
    plain http to this machine.
    """
    parts = urlsplit(url)
    host = parts.hostname or ""
    if host != "localhost" and not is_loopback_address(host):
        return False
    return parts.scheme == "http" or not _may_pass_proxy(host)


def _may_pass_proxy(host: str) -> bool:
    """Return whether https to a host may pass through a proxy of the environment."""
    proxies = getproxies()
    if proxies.keys().isdisjoint({"https", "all"}):
        return False
    # Libraries read patterns in NO_PROXY differently, so only the host itself counts.
    direct = {name.strip().lower() for name in proxies.get("no", "").split(",")}
    return direct.isdisjoint({host, "*"})


def is_local_http(url: str) -> bool:
    """Return whether an address is plain http on this machine, by its name or its address."""
    parts = urlsplit(url)
    return parts.scheme == "http" and is_loopback(parts.hostname or "")
