"""Callers, their tokens and what these allow."""

from __future__ import annotations

import hmac
import secrets
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import Literal


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


@dataclass(frozen=True, slots=True, repr=False)
class Tokens:
    """The tokens of one service; the repr hides them.

    Attributes:
        control: Opens the controls to other machines, and nothing else; None keeps them closed.
    """

    read_write: str
    read_only: str
    organisation: str
    control: str | None

    def __post_init__(self) -> None:
        if self.control in (self.read_write, self.read_only, self.organisation):
            raise ValueError("the control token must differ from the other tokens")

    def access_of(self, authorization: str | None) -> Access | None:
        """Return the access of an `Authorization` header; None if it has no known token."""
        candidate = _bearer(authorization)
        if candidate is None:
            return None
        if hmac.compare_digest(candidate, self.organisation.encode()):
            return Access.ORGANISATION
        if hmac.compare_digest(candidate, self.read_only.encode()):
            return Access.READ_ONLY
        if hmac.compare_digest(candidate, self.read_write.encode()):
            return Access.READ_WRITE
        return None

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
    """

    access: Access
    language: str
    protocol: Protocol
    base_url: str


@dataclass(frozen=True, slots=True)
class CallContext:
    """The context of a call: the operation, the caller and the time."""

    operation: str
    caller: Caller
    now: datetime
