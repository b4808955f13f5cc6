"""Questions that wait for their answer, where it comes with the same call made again."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections import Counter, OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any, Final

from ferry_sdk.agents.policy.approval import ApprovalRequest

_MOST: Final = 100


@dataclass(frozen=True, slots=True)
class _Waiting:
    call: str = field(repr=False)
    request: ApprovalRequest


class Questions:
    """What the person was asked, by the state that goes to the host and comes back.

    The state is a random name and says nothing. An answer counts once, for the same tool with the
    same arguments, for as long as the question was good.
    """

    def __init__(self) -> None:
        self._waiting: OrderedDict[str, _Waiting] = OrderedDict()
        self._agreed: Counter[str] = Counter()
        self._key = secrets.token_bytes(32)

    def box(self, request: ApprovalRequest) -> str:
        """The name of the box that is ticked to agree: the same for the same question.

        A question that was agreed to is another one when it is asked again, so that a yes is good
        once. The key makes it useless to another server, which may have another price in mind.
        """
        asked = f"{request.digest} {self._agreed[request.digest]}"
        digest = hashlib.blake2b(asked.encode(), key=self._key, digest_size=8)
        return f"approve_{digest.hexdigest()}"

    def agree(self, request: ApprovalRequest) -> None:
        """Note that somebody agreed to this."""
        self._agreed[request.digest] += 1

    def keep(self, tool: str, arguments: Mapping[str, Any], request: ApprovalRequest) -> str:
        """Note that this was asked; the state to send with it."""
        state = secrets.token_urlsafe(24)
        self._waiting[state] = _Waiting(_call(tool, arguments), request)
        while len(self._waiting) > _MOST:
            self._waiting.popitem(last=False)
        return state

    def take(
        self, state: str | None, tool: str, arguments: Mapping[str, Any]
    ) -> ApprovalRequest | None:
        """What was asked under this state, which is used up; None where it is not for this call."""
        waiting = self._waiting.pop(state or "", None)
        if waiting is None or waiting.call != _call(tool, arguments):
            return None
        return waiting.request if datetime.now(timezone.utc) < waiting.request.expires_at else None


def _call(tool: str, arguments: Mapping[str, Any]) -> str:
    return json.dumps([tool, arguments], sort_keys=True)
