"""What the service's MCP endpoint has told this client about its session."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Stage = Literal["unknown", "open", "bare"]


@dataclass(slots=True)
class McpSession:
    """The one MCP session of a client; changed in turn, by the protocol only.

    Attributes:
        stage: ``unknown`` before the handshake, ``open`` after one, ``bare`` where the server
            wants none.
        id: The server's name for the session; None where it gave none.
        version: The protocol version that was agreed on.
        opened_at: When, on the monotonic clock.
        generation: How many handshakes there were, so that calls that met the same end of a
            session renew it once.
    """

    stage: Stage = "unknown"
    id: str | None = None
    version: str | None = None
    opened_at: float = 0.0
    generation: int = 0
