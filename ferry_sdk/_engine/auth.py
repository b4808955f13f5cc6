"""Access tokens: a text, a function or a file, refreshed once after a 401."""

from __future__ import annotations

from http import HTTPStatus

from ferry_sdk._engine.context import Context
from ferry_sdk._engine.effects import CallUser, Exclusive, Flow
from ferry_sdk._engine.settings import Authority
from ferry_sdk._engine.validation import token_text
from ferry_sdk.errors import APIError, ConfigurationError, FerryError, InvalidInputError


def can_refresh(context: Context, authority: Authority, failure: FerryError) -> bool:
    """Return whether the service rejected a token that came from a function."""
    if not context.state.sent_tokens:
        return False  # nothing was sent: it is an error of the function itself
    is_refused = isinstance(failure, APIError) and failure.status_code == HTTPStatus.UNAUTHORIZED
    return is_refused and callable(context.settings.secret(authority).source)


def refresh(context: Context, authority: Authority, old: str | None) -> Flow[None]:
    """Replace the old token, unless another call has replaced it already.

    Raises:
        ConfigurationError: The new token is not valid in a header.
    """
    secret = context.settings.secret(authority)
    until = context.deadline

    def call_source() -> Flow[None]:
        if secret.current != old or isinstance(secret.source, str):
            return

        token = yield from CallUser(secret.source, until, authority)
        try:
            secret.current = token_text(token, authority)
        except InvalidInputError as error:
            raise ConfigurationError(str(error)) from None

    yield from Exclusive(secret, call_source, until)
