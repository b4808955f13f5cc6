"""The questions that hosts carry to a person and back, in a form or a card.

Two texts bind an answer to its question:

- `Questions.keep` returns a random text, which the host sends back with the answer. It is used up
  by the first call that brings it, and counts for the same tool with the same arguments only, until
  the request expires.
- `Questions.box` names the checkbox after the request, with its price. So an answer to a question
  about another price names another box. After an approval the same question gets another box.

For example, `keep` returns ``x7Qk...`` for ``bookings_confirm`` of ``b-1``. If the host sends it
back with a call of ``bookings_confirm`` of ``b-2``, or a second time, `take` returns False, and the
person is asked about that call.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping
from typing import Any, Final

from ferry_sdk.agents.policy.approval import VALID_FOR, ApprovalRequest
from ferry_sdk.agents.policy.state import State

_MAX_PENDING: Final = 100
_MAX_AGREED: Final = 10_000
_ONE_TURN: Final = 10.0
"""Seconds in which equal calls are taken for those of one turn of a model."""


class Questions:
    """The questions that were asked; a `state` in a file lets another process take the answer."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._pending = state.table("questions", tuple[str, float], _MAX_PENDING)
        self._agreed = state.table("agreed", int, _MAX_AGREED)

    def box(self, request: ApprovalRequest) -> str:
        """Return the name of the checkbox, which is equal for equal questions.

        After an approval the same question gets another name: hosts that record an answer, and give
        it again to an equal question, approve nothing with it. The state's key makes the answer
        useless to another server, which may have another price.
        """
        agreed = self._agreed.get(self._state.fingerprint(request.digest), 0)
        return f"approve_{self._state.fingerprint(request.digest, agreed)[:16]}"

    def agree(self, request: ApprovalRequest) -> None:
        """Record that a person agreed to this request."""
        key = self._state.fingerprint(request.digest)
        with self._state.transaction():
            self._agreed[key] = self._agreed.get(key, 0) + 1

    def keep(self, tool: str, arguments: Mapping[str, Any], request: ApprovalRequest) -> str:
        """Record a question, and return the text to send with it."""
        sent = secrets.token_urlsafe(24)
        call = self._state.fingerprint(tool, arguments)
        self._pending[sent] = call, request.expires_at.timestamp()
        return sent

    def is_being_asked(self, tool: str, arguments: Mapping[str, Any]) -> bool:
        """Return whether the question about this call has just been put, and has no answer yet.

        A model may make the same call twice in one turn; a person is asked once.
        """
        call = self._state.fingerprint(tool, arguments)
        now = time.time()
        for asked, until in self._pending.values():
            asked_at = until - VALID_FOR
            if asked == call and now - asked_at < _ONE_TURN:
                return True
        return False

    def take(self, sent: str | None, tool: str, arguments: Mapping[str, Any]) -> bool:
        """Return True if the text was sent with a question about this call, and use it up."""
        with self._state.transaction():
            call, until = self._pending.pop(sent or "", ("", 0.0))
        is_same_call = call == self._state.fingerprint(tool, arguments)
        return is_same_call and time.time() < until
