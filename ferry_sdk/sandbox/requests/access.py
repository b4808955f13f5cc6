"""Callers, their tokens and what these allow."""

from __future__ import annotations

import hmac
import secrets
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from datetime import datetime


_WRITES = frozenset(
    {
        "bookings.create",
        "bookings.confirm",
        "bookings.cancel",
        "tickets.cancel",
        "mcp.create_booking",
        "mcp.confirm_booking",
        "mcp.cancel_ticket",
    }
)
_ORGANISATION_ONLY = frozenset({"tickets.mark_paid"})


class Access(Enum):
    """The access that a token gives."""

    READ_ONLY = "read-only"
    READ_WRITE = "read-write"
    ORGANISATION = "organisation"

    def allows(self, operation: str) -> bool:
        """Tell whether this access allows an operation."""
        if operation in _ORGANISATION_ONLY:
            return self is Access.ORGANISATION
        return self is not Access.READ_ONLY or operation not in _WRITES


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
        found: Access | None = None
        for access, token in (
            (Access.READ_WRITE, self.read_write),
            (Access.READ_ONLY, self.read_only),
            (Access.ORGANISATION, self.organisation),
        ):
            if hmac.compare_digest(candidate, token.encode()):
                found = access
        if found is None:
            raise Unauthorized
        return found


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
