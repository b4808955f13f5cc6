"""`Settings`: address, tokens and timeouts of a client as one frozen value."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, NoReturn

from ferry_sdk._engine.http import Timeout
from ferry_sdk._engine.log import print_records
from ferry_sdk._engine.token_file import FileToken
from ferry_sdk._engine.validation import (
    address,
    extra_headers,
    flag,
    folder,
    header_value,
    is_local,
    is_local_http,
    label_text,
    limiter,
    recorder,
    retries,
    seconds,
    timeouts,
    token_text,
)
from ferry_sdk._engine.validation import http_client as check_http_client
from ferry_sdk._runtime.values import is_text
from ferry_sdk.errors import ConfigurationError, InvalidInputError
from ferry_sdk.hooks import Hooks, is_async_function
from ferry_sdk.types import RateLimiter, Recorder

Authority = Literal["token", "organisation_token"]
TokenSource = str | Callable[[], str | Awaitable[str]]
DEFAULT_TIMEOUT = Timeout()


class Secret:
    """A token, or the function that returns it; never shown in a repr, never pickled.

    A client's token identifies the account. What belongs to the account is kept by this object.

    Attributes:
        source: The token or the function.
        current: The token in use; None until the function is called.
    """

    __slots__ = ("__weakref__", "current", "source")

    def __init__(self, source: TokenSource, argument: str = "token") -> None:
        if source is None:
            raise InvalidInputError("expected a token", field=argument)
        self.source: TokenSource = source
        self.current: str | None = None if callable(source) else token_text(source, argument)

    @property
    def account(self) -> str | int:
        """What two objects of the same account have in common, as long as they exist."""
        if isinstance(self.source, FileToken):
            return self.source.first_token
        return self.source if isinstance(self.source, str) else id(self.source)

    def __repr__(self) -> str:
        return "Secret(…)"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a token cannot be pickled")


class CertificatePaths(NamedTuple):
    """The paths of the trusted certificates.

    Attributes:
        file: A file with all of them; None: not set.
        folder: A folder of them, used if `file` is not set.
    """

    file: str | None = None
    folder: str | None = None


def certificates_of_environment() -> CertificatePaths:
    """Return the paths in ``SSL_CERT_FILE`` and ``SSL_CERT_DIR``."""
    return CertificatePaths(os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR"))


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a client, or of a view of it: the arguments of `Ferry`, validated.

    Attributes:
        base_url: The service's address, without a trailing slash.
        is_local_only: Plain http was accepted because the address is local, so nothing may be
            sent to another machine.
        certificates: The trusted certificates in the environment when the client was made.
        headers: Additional headers of every request to the service.
        correlation_id: The id of every call; None: the context's, else a new one each.
        http_client: The user's HTTP client, which may change requests; None: one is made.
        label: Whose calls these are, for hooks, logs, spans and metrics; None: no label.
    """

    base_url: str
    token: Secret
    is_local_only: bool = False
    certificates: CertificatePaths = field(default_factory=certificates_of_environment)
    organisation_token: Secret | None = None
    language: str | None = None
    client_version: str | None = None
    timeout: Timeout = DEFAULT_TIMEOUT
    deadline: float | None = None
    max_retries: int = 2
    read_only: bool = False
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    correlation_id: str | None = None
    journal: Recorder | None = field(default=None, repr=False)
    hooks: Hooks | None = field(default=None, repr=False)
    route_cache: Path | None = None
    limiter: RateLimiter | None = field(default=None, repr=False)
    http_client: object = field(default=None, repr=False)
    label: str | None = None

    def secret(self, authority: Authority) -> Secret:
        """Return the token of an authority.

        Raises:
            ConfigurationError: It is not set.
        """
        secret = self.token if authority == "token" else self.organisation_token
        if secret is None:
            raise ConfigurationError("missing: organisation_token=… or FERRY_ORGANISATION_TOKEN")
        return secret


def read_settings(
    *,
    allow_http: bool,
    default_headers: Mapping[str, str] | None,
    hooks: Hooks | None,
    http_client: object,
    is_async: bool,
    **options: object,
) -> Settings:
    """Return the given settings, completed from the environment and validated.

    Raises:
        ConfigurationError: A setting is missing or invalid; the message names it.
    """
    print_records()

    for name, variable in _VARIABLES.items():
        if options[name] is None or is_text(options[name], ""):
            options[name] = os.environ.get(variable) or None
            if options[name] is None and name in _REQUIRED:
                raise ConfigurationError(f"missing: {name}=… or {variable}")

    try:
        allow_http = flag(allow_http, "allow_http") or _is_on("FERRY_ALLOW_HTTP")
        url = address(options.pop("base_url"), allow_http=allow_http)
        if http_client is not None:
            check_http_client(http_client, is_async=is_async)

        checked = check_options(options, is_async=is_async)
        if _is_on("FERRY_READ_ONLY") and not is_local(url):
            checked["read_only"] = True

        headers: Mapping[str, str] = {} if default_headers is None else default_headers
        return Settings(
            base_url=url,
            is_local_only=is_local_http(url) and not allow_http,
            headers=extra_headers(headers, "default_headers"),
            hooks=hooks,
            http_client=http_client,
            **checked,
        )
    except InvalidInputError as error:
        raise ConfigurationError(str(error)) from None


def _is_on(variable: str) -> bool:
    """Return whether an environment variable has another value than 0 and the empty text."""
    return os.environ.get(variable, "") not in {"", "0"}


def check_options(options: Mapping[str, object], *, is_async: bool) -> dict[str, Any]:
    """Return the validated values of settings.

    Raises:
        InvalidInputError: A value is invalid; `field` names it.
    """
    checked: dict[str, Any] = {}
    for name, value in options.items():
        option = _OPTIONS[name]
        if value is None and option.may_be_none:
            checked[name] = None
        else:
            checked[name] = option.check(value, name)

    if not is_async:
        _refuse_async_functions(checked)
    return checked


def _refuse_async_functions(checked: Mapping[str, Any]) -> None:
    """Raise if a setting is an async function of the user, which a `Ferry` cannot await."""
    for name, option in _OPTIONS.items():
        if option.user_function is None:
            continue
        function = getattr(checked.get(name), option.user_function, None)
        if callable(function) and is_async_function(function):
            raise InvalidInputError("an async function needs AsyncFerry", field=name)


def _version_text(value: object, argument: str) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return header_value(value, argument)


@dataclass(frozen=True, slots=True)
class _Option:
    """An option of a client, and of a view of it.

    Attributes:
        check: Returns the setting, or raises; its second argument is the name for the error.
        may_be_none: Whether None is a value of its own, which `check` does not get.
        user_function: The name of the setting's attribute that may be a function of the user, such
            as ``source`` of a `Secret`. It may be async in an `AsyncFerry` only. None: the setting
            has none.
    """

    check: Callable[[Any, str], object]
    may_be_none: bool = False
    user_function: str | None = None


_OPTIONS: Final[Mapping[str, _Option]] = {
    "token": _Option(Secret, user_function="source"),
    "organisation_token": _Option(Secret, may_be_none=True, user_function="source"),
    "language": _Option(header_value, may_be_none=True),
    "client_version": _Option(_version_text, may_be_none=True),
    "timeout": _Option(timeouts),
    "deadline": _Option(seconds, may_be_none=True),
    "max_retries": _Option(retries),
    "read_only": _Option(flag),
    "correlation_id": _Option(header_value, may_be_none=True),
    "route_cache": _Option(folder, may_be_none=True),
    "journal": _Option(recorder, may_be_none=True),
    "limiter": _Option(limiter, may_be_none=True, user_function="acquire"),
    "label": _Option(label_text, may_be_none=True),
}

_VARIABLES: Final = {
    "token": "FERRY_TOKEN",
    "base_url": "FERRY_BASE_URL",
    "organisation_token": "FERRY_ORGANISATION_TOKEN",
    "language": "FERRY_LANGUAGE",
}
"""The environment variables that stand in for arguments."""
_REQUIRED: Final = frozenset({"token", "base_url"})
