"""Access tokens: a text, a function or a file, refreshed once after a 401."""

from __future__ import annotations

import os
from collections.abc import Callable
from http import HTTPStatus
from pathlib import Path
from typing import Final

from ferry_sdk._engine.context import Context
from ferry_sdk._engine.effects import CallUser, Exclusive, Flow
from ferry_sdk._engine.files import read_file
from ferry_sdk._engine.settings import Authority
from ferry_sdk._engine.validation import header_value
from ferry_sdk.errors import APIError, ConfigurationError, FerryError, InvalidInputError


def authorisation(context: Context, authority: Authority) -> Flow[str]:
    """Return the value of the Authorization header, calling the token function for the first token.

    Raises:
        ConfigurationError: There is no such token, or it is not valid in a header.
    """
    secret = context.settings.secret(authority)
    if secret.current is None:
        yield from refresh(context, authority, None)
    token = secret.current or ""
    context.state.sent_tokens.append(token)
    return f"Bearer {token}"


def can_refresh(context: Context, authority: Authority, failure: FerryError) -> bool:
    """Return whether the service rejected a token that came from a function."""
    is_refused = isinstance(failure, APIError) and failure.status_code == HTTPStatus.UNAUTHORIZED
    return is_refused and callable(context.settings.secret(authority).source)


def refresh(context: Context, authority: Authority, old: str | None) -> Flow[None]:
    """Replace the old token, unless another call has replaced it already."""
    secret, until = context.settings.secret(authority), context.deadline

    def call_source() -> Flow[None]:
        if secret.current != old or isinstance(secret.source, str):
            return
        token = yield from CallUser(secret.source, until, authority)
        try:
            secret.current = header_value(token, authority)
        except InvalidInputError as error:
            raise ConfigurationError(str(error)) from None

    yield from Exclusive(("token", authority), call_source, until)


_LONGEST: Final = 64 * 1024
"""Bytes of a token file that are read at most; a device such as /dev/zero never ends."""


def file_of(given: Path | None) -> Path | None:
    """Return the token file: the given one, else the one in ``FERRY_TOKEN_FILE``."""
    named = os.environ.get("FERRY_TOKEN_FILE")
    return given or (Path(named) if named else None)


def token_in(file: Path) -> Callable[[], str]:
    """Return a function that reads the token from the file at each call.

    Raises:
        ConfigurationError: The file cannot be read, is empty, or holds more than a token.
    """
    token = _read(file)
    # A pipe, such as `--token-file <(…)`, can be read only once.
    return (lambda: _read(file)) if file.is_file() else (lambda: token)


def _read(file: Path) -> str:
    try:
        content = read_file(file, _LONGEST)
        token = content.decode("utf-8-sig").strip()
    except (OSError, ValueError):
        raise ConfigurationError(f"token file {file}: cannot be read") from None
    if not token:
        raise ConfigurationError(f"token file {file}: is empty")
    if len(content) > _LONGEST or len(token.split()) > 1:
        raise ConfigurationError(f"token file {file}: contains more than a token")
    return token
