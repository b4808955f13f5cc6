"""Whether a request may have reached the service: what every outcome of a call rests on.

1. A request is recorded in `CallState.sending` before the HTTP library gets it, so that no
   interruption finds it missing (`requests.send`).
2. It counts as sent from the last moment before its first byte, which the guard of the transport
   records in `is_sent`. An HTTP library that reports no steps counts as having sent whatever it
   was given: in case of doubt, a request has left.
3. Only proof that the service did nothing with it clears the record. A reply alone is none, nor is
   an error (`attempts.send_with_retries`).
"""

from __future__ import annotations

from collections.abc import Sized
from dataclasses import dataclass, field
from io import BytesIO
from typing import Literal

from ferry_sdk._engine.http import Reply


@dataclass(slots=True)
class Sending:
    """How far a request got.

    Attributes:
        is_handed_over: Whether the HTTP library has the request.
        is_own: Whether the HTTP client is ours, which reports every step.
        is_followed: Whether the HTTP library has reported a step.
        is_sent: Whether its first byte was about to leave.
        connections: Those of the client that has the request; its ``len`` is how many are open.
        reply: Status and headers of a reply that is not complete; else None.
        received: What arrived of its body so far, decompressed; None like `reply`.
    """

    is_handed_over: bool = field(default=False, init=False)
    is_own: bool = field(default=False, init=False)
    is_followed: bool = field(default=False, init=False)
    is_sent: bool = field(default=False, init=False)
    connections: Sized | None = field(default=None, init=False, repr=False)
    reply: Reply | None = field(default=None, init=False, repr=False)
    received: BytesIO | None = field(default=None, init=False, repr=False)

    @property
    def may_have_left(self) -> bool:
        """Whether anything may have reached the service; True if that is not known."""
        if self.is_own or self.is_followed:
            return self.is_sent
        return self.is_handed_over

    @property
    def outcome(self) -> Literal["not_sent", "unknown"]:
        """The outcome of the request if nothing is known of its reply."""
        return "unknown" if self.may_have_left else "not_sent"
