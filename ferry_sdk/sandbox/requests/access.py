"""Accounts, their tokens and what these allow.

A service has one account or several. Each has three tokens, and bookings, searches and MCP sessions
of its own. A request belongs to the account of its token: `Tokens.grant_of` finds it, and the
`Caller` carries it to whatever reads or changes bookings.
"""

from __future__ import annotations

import hmac
import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from typing import Final, Literal, NamedTuple

from ferry_sdk.sandbox.requests.errors import InvalidOrderError

ONLY_ACCOUNT: Final = "default"
"""The name of the account of a service that has only one."""
_NAME: Final = re.compile(r"[!-~]{1,64}")


class Access(Enum):
    """The access that a token gives."""

    READ_ONLY = "read-only"
    READ_WRITE = "read-write"
    ORGANISATION = "organisation"

    def allows(self, needed: Access) -> bool:
        """Tell whether this access includes the one that an operation needs."""
        return needed is Access.READ_ONLY or needed is self or self is Access.ORGANISATION


def random_token(kind: str) -> str:
    """Return a new token, which begins with its kind."""
    return f"ferry_{kind}_{secrets.token_urlsafe(24)}"


@dataclass(frozen=True, slots=True)
class Account:
    """An account of the local service: bookings and MCP sessions of its own. The repr hides tokens.

    Attributes:
        name: The name.
        token: The token that can read and write.
        read_only_token: The token that can only read.
        organisation_token: The token that can do everything, including recording payments.
    """

    name: str
    token: str = field(repr=False)
    read_only_token: str = field(repr=False)
    organisation_token: str = field(repr=False)


def check_names(names: Sequence[object]) -> tuple[str, ...]:
    """Return the names of the accounts; without names, there is one account.

    Raises:
        InvalidOrderError: A name is invalid or repeated.
    """
    if isinstance(names, str):
        raise InvalidOrderError("accounts", f"expected several names, such as ({names!r},)")
    checked: list[str] = []
    for name in names:
        if not isinstance(name, str) or _NAME.fullmatch(name) is None:
            problem = f"{name!r} is not 1 to 64 printable ASCII characters without white space"
            raise InvalidOrderError("accounts", problem)
        checked.append(name)
    if len(set(checked)) < len(checked):
        raise InvalidOrderError("accounts", "each account needs a name of its own")
    return tuple(checked) or (ONLY_ACCOUNT,)


class Grant(NamedTuple):
    """What a token gives access to."""

    account: str
    access: Access


@dataclass(frozen=True, slots=True, repr=False)
class Tokens:
    """The tokens of one service; the repr hides them.

    Attributes:
        accounts: The accounts by name.
        control: Opens the controls to other machines, and nothing else; None keeps them closed.
    """

    accounts: Mapping[str, Account]
    control: str | None

    def __post_init__(self) -> None:
        others = [token for token, _ in self._grants()]
        if self.control in others:
            raise ValueError("the control token must differ from the other tokens")

    def grant_of(self, authorization: str | None) -> Grant | None:
        """Return what an `Authorization` header grants; None if it has no known token."""
        candidate = _bearer(authorization)
        if candidate is None:
            return None
        for token, grant in self._grants():
            if hmac.compare_digest(candidate, token.encode()):
                return grant
        return None

    def _grants(self) -> list[tuple[str, Grant]]:
        """Return all tokens; of two accesses that have the same token, the first counts."""
        grants: list[tuple[str, Grant]] = []
        for name, account in self.accounts.items():
            grants += [
                (account.organisation_token, Grant(name, Access.ORGANISATION)),
                (account.read_only_token, Grant(name, Access.READ_ONLY)),
                (account.token, Grant(name, Access.READ_WRITE)),
            ]
        return grants

    def opens_controls(self, authorization: str | None) -> bool:
        """Tell whether an `Authorization` header has the control token."""
        candidate = _bearer(authorization)
        if candidate is None or self.control is None:
            return False
        return hmac.compare_digest(candidate, self.control.encode())


def _bearer(authorization: str | None) -> bytes | None:
    """Return the token of an `Authorization` header with the scheme Bearer, else None."""
    scheme, _, token = (authorization or "").strip().partition(" ")
    if scheme.lower() != "bearer":
        return None
    return token.strip().encode()


Protocol = Literal["rest", "mcp"]


@dataclass(frozen=True, slots=True)
class Caller:
    """The caller of an operation.

    Attributes:
        access: The access of the caller's token.
        language: A two-letter code, one of `LANGUAGES`.
        protocol: The caller's protocol.
        base_url: The URL of the service as the caller sees it, without a trailing slash.
        account: The name of the caller's account.
    """

    access: Access
    language: str
    protocol: Protocol
    base_url: str
    account: str = ONLY_ACCOUNT


@dataclass(frozen=True, slots=True)
class CallContext:
    """The context of a call: the operation, the caller and the time."""

    operation: str
    caller: Caller
    now: datetime
