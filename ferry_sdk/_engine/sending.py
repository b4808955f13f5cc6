"""Whether a request may have reached the service: what every outcome of a call rests on.

1. A request is recorded in `CallState.sending` before the HTTP library gets it, so that no
   interruption finds it missing (`requests.send`).
2. It counts as sent from the last moment before its first byte, when the guard of the transport
   sets its state to `SENT`. An HTTP library that reports no steps counts as having sent whatever it
   was given: in case of doubt, a request has left.
3. Only proof that the service did nothing with it clears the record. A reply alone is none, nor is
   an error (`attempts.send_with_retries`).

With the library's own HTTP client, the states of a request are `NOT_BEGUN`, `IN_OWN_CLIENT`,
`FOLLOWED` and `SENT`. With a user's HTTP client, `HANDED_OVER` comes second: the request may have
left by then. If that client reports a step before the first byte, `FOLLOWED` says that the request
has not left after all. If it reports none, the request stays `HANDED_OVER`.
"""

from __future__ import annotations

from collections.abc import Sized
from dataclasses import dataclass, field
from enum import Enum, auto
from io import BytesIO
from typing import Literal

from ferry_sdk._engine.http import Reply


class SendState(Enum):
    """How far a request got.

    Attributes:
        NOT_BEGUN: No HTTP client has the request.
        HANDED_OVER: A user's HTTP client has it, and has reported no step.
        IN_OWN_CLIENT: The library's own HTTP client has it, and has reported no step.
        FOLLOWED: The HTTP client reports its steps, and the first byte has not left.
        SENT: The first byte was about to leave. No other state comes after this one.
    """

    NOT_BEGUN = auto()
    HANDED_OVER = auto()
    IN_OWN_CLIENT = auto()
    FOLLOWED = auto()
    SENT = auto()


@dataclass(slots=True)
class Sending:
    """A request on its way.

    Attributes:
        state: How far it got.
        connections: Those of the client that has the request; its ``len`` is how many are open.
        reply: Status and headers of a reply that is not complete; else None.
        received: What arrived of its body so far, decompressed; None like `reply`.
    """

    state: SendState = field(default=SendState.NOT_BEGUN, init=False)
    connections: Sized | None = field(default=None, init=False, repr=False)
    reply: Reply | None = field(default=None, init=False, repr=False)
    received: BytesIO | None = field(default=None, init=False, repr=False)

    @property
    def may_have_left(self) -> bool:
        """Whether anything may have reached the service; True if that is not known."""
        return self.state is SendState.SENT or self.state is SendState.HANDED_OVER

    @property
    def outcome(self) -> Literal["not_sent", "unknown"]:
        """The outcome of the request if nothing is known of its reply."""
        return "unknown" if self.may_have_left else "not_sent"
