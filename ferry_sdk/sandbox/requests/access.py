"""Callers, their tokens and what these allow."""

from __future__ import annotations

import hmac
import secrets
from dataclasses import dataclass, field
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
        return needed in (Access.READ_ONLY, self) or self is Access.ORGANISATION


class Unauthorized(Exception):  # noqa: N818 -- it is the name of the HTTP status
    """The request has no known token."""


def _token(kind: str) -> str:
    return f"ferry_{kind}_{secrets.token_urlsafe(24)}"


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of one service; the repr hides them."""

    read_write: str = field(default_factory=lambda: _token("rw"), repr=False)
    read_only: str = field(default_factory=lambda: _token("ro"), repr=False)
    organisation: str = field(default_factory=lambda: _token("org"), repr=False)

    def access_of(self, authorization: str | None) -> Access:
        """Return the access of an `Authorization` header.

        Raises:
            Unauthorized: The header is missing, has another scheme or an unknown token.
        """
        scheme, _, given = (authorization or "").strip().partition(" ")
        if scheme.lower() != "bearer":
            raise Unauthorized
        candidate = given.strip().encode()
        for access, token in (
            (Access.ORGANISATION, self.organisation),
            (Access.READ_ONLY, self.read_only),
            (Access.READ_WRITE, self.read_write),
        ):
            if hmac.compare_digest(candidate, token.encode()):
                return access
        raise Unauthorized


Protocol = Literal["rest", "mcp"]


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls.

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
