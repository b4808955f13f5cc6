"""Who asks for what, and when."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from datetime import datetime

    from ferry_sdk.sandbox.requests.access import Access

Protocol = Literal["rest", "mcp"]


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks.

    Attributes:
        access: What the caller's token may do.
        language: Two letters, one of `texts.LANGUAGES`.
        protocol: How the caller speaks to the service.
        base_url: Where the service is for the caller, without a slash at the end.
    """

    access: Access
    language: str
    protocol: Protocol
    base_url: str


@dataclass(frozen=True, slots=True)
class Ask:
    """One operation asked for, by its public name."""

    operation: str
    caller: Caller
    now: datetime
