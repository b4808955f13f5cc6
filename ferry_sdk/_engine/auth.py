"""Tokens: given as text, by a function or in a file, refreshed once after a 401."""

from __future__ import annotations

import os
import select
from collections.abc import Callable
from http import HTTPStatus
from pathlib import Path
from typing import Final

from ferry_sdk._engine.context import Context
from ferry_sdk._engine.effects import CallUser, Exclusive, Flow
from ferry_sdk._engine.settings import Authority, Secret
from ferry_sdk._engine.validation import header_value
from ferry_sdk.errors import APIError, ConfigurationError, FerryError, InvalidInputError


def authorisation(context: Context, authority: Authority) -> Flow[str]:
    """The value of the Authorization header; a function is asked where it has not been yet.

    Raises:
        ConfigurationError: There is no such token, or it cannot stand in a header.
    """
    secret = context.settings.secret(authority)
    if secret.current is None:
        yield from _replace(context, authority, None)
    token = secret.current or ""
    context.sent_tokens.append(token)
    return f"Bearer {token}"


def can_refresh(context: Context, authority: Authority, failure: FerryError) -> bool:
    """Whether the service refused a token that a function gave."""
    is_refused = isinstance(failure, APIError) and failure.status_code == HTTPStatus.UNAUTHORIZED
    return is_refused and callable(context.settings.secret(authority).source)


def refresh(context: Context, authority: Authority) -> Flow[None]:
    """Ask for a new token in place of the one presented, unless another call has done so."""
    yield from _replace(context, authority, context.sent_tokens[-1])


def _replace(context: Context, authority: Authority, old: str | None) -> Flow[None]:
    secret = context.settings.secret(authority)
    key = ("token", authority)
    yield from Exclusive(
        key, lambda: _call_source(secret, authority, old, context.deadline), context.deadline
    )


def _call_source(
    secret: Secret, authority: Authority, old: str | None, until: float | None
) -> Flow[None]:
    if secret.current != old or isinstance(secret.source, str):
        return
    token = yield from CallUser(secret.source, until, authority)
    try:
        secret.current = header_value(token, authority)
    except InvalidInputError as error:
        raise ConfigurationError(str(error)) from None


_LONGEST: Final = 64 * 1024
"""Bytes: no token is longer, and a device has no end."""
_READ_TIMEOUT: Final = 30.0
"""Seconds between two pieces of what comes through a pipe."""


def file_of(given: Path | None) -> Path | None:
    """Which file holds the token: the one that was said, else that of ``FERRY_TOKEN_FILE``."""
    named = os.environ.get("FERRY_TOKEN_FILE")
    return given or (Path(named) if named else None)


def token_in(file: Path) -> Callable[[], str]:
    """Gives the token that is in the file, read again each time.

    Raises:
        ConfigurationError: The file cannot be read, or holds no token, or more.
    """
    token = _read(file)
    # A pipe, as of `--token-file <(…)`, gives it once.
    return (lambda: _read(file)) if file.is_file() else (lambda: token)


def _read(file: Path) -> str:
    try:
        content = _content(file)
        token = content.decode("utf-8-sig").strip()
    except (OSError, ValueError):
        raise ConfigurationError(f"token file {file}: it cannot be read") from None
    if not token:
        raise ConfigurationError(f"token file {file}: it is empty")
    if len(content) > _LONGEST or len(token.split()) > 1:
        raise ConfigurationError(f"token file {file}: more than a token stands in it")
    return token


def _content(file: Path) -> bytes:
    """What is in the file, as far as a token may be long; of a pipe, what comes in time.

    Raises:
        OSError: It cannot be read, or nothing came.
    """
    # A pipe that nobody writes to is empty: to open it would block without this flag.
    descriptor = os.open(file, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    content = b""
    with os.fdopen(descriptor, "rb", buffering=0) as opened:
        while len(content) <= _LONGEST:
            piece = opened.read(_LONGEST)
            if piece is None:  # whoever writes to the pipe has not done so yet
                if not select.select([descriptor], [], [], _READ_TIMEOUT)[0]:
                    raise TimeoutError
            elif piece:
                content += piece
            else:
                break
    return content
