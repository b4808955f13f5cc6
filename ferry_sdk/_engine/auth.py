"""Whose token a request carries, and the one renewal of a token that was refused."""

from __future__ import annotations

from http import HTTPStatus

from ferry_sdk._engine.context import Context
from ferry_sdk._engine.effects import Ask, InTurn, Steps
from ferry_sdk._engine.settings import Authority, Secret
from ferry_sdk._engine.validation import header_value
from ferry_sdk.errors import APIError, ConfigurationError, FerryError, InvalidInputError


def authorisation(context: Context, authority: Authority) -> Steps[str]:
    """The value of the Authorization header; a function is asked where it has not been yet.

    Raises:
        ConfigurationError: There is no such token, or it cannot stand in a header.
    """
    secret = context.settings.secret(authority)
    if secret.shown is None:
        yield from _replaced(context, authority, None)
    token = secret.shown or ""
    context.presented.append(token)
    return f"Bearer {token}"


def can_renew(context: Context, authority: Authority, failure: FerryError) -> bool:
    """Whether the service refused a token that a function gave."""
    is_refused = isinstance(failure, APIError) and failure.status_code == HTTPStatus.UNAUTHORIZED
    return is_refused and callable(context.settings.secret(authority).source)


def renewed(context: Context, authority: Authority) -> Steps[None]:
    """Ask for a new token in place of the one presented, unless another call has done so."""
    yield from _replaced(context, authority, context.presented[-1])


def _replaced(context: Context, authority: Authority, old: str | None) -> Steps[None]:
    secret = context.settings.secret(authority)
    key = ("token", authority)
    yield from InTurn(key, lambda: _asked(secret, authority, old, context.until), context.until)


def _asked(
    secret: Secret, authority: Authority, old: str | None, until: float | None
) -> Steps[None]:
    if secret.shown != old or isinstance(secret.source, str):
        return
    token = yield from Ask(secret.source, until, authority)
    try:
        secret.shown = header_value(token, authority)
    except InvalidInputError as error:
        raise ConfigurationError(str(error)) from None
