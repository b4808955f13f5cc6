"""Ask the person at the host to approve a write.

Hosts with a handshake are asked over the connection (elicitation). Newer hosts get the question as
the result of the call, and repeat the call with the answer.
"""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import Mapping
from typing import Any, Final

import anyio
from mcp.server.context import ServerRequestContext
from mcp.types import ClientCapabilities, ElicitRequestFormParams, ElicitResult

from ferry_sdk.agents.policy.answers import RefusedError
from ferry_sdk.agents.policy.approval import VALID_FOR, ApprovalRequest
from ferry_sdk.agents.policy.state import State

logger: logging.Logger = logging.getLogger("ferry_sdk")

_MAX_QUESTIONS: Final = 3
"""How often a host is asked if it keeps answering another question."""

Context = ServerRequestContext[Any, Any]


def can_ask(context: Context) -> bool:
    """Return True if the host declared that it shows forms to a person.

    Hosts that predate the modes of elicitation declare it without a mode, and mean forms.
    """
    capabilities = context.session.client_capabilities or ClientCapabilities()
    declared = capabilities.elicitation
    return declared is not None and (declared.form is not None or declared.url is None)


def form(request: ApprovalRequest, box: str) -> ElicitRequestFormParams:
    """Return the form for the person, with one checkbox whose name identifies the question."""
    lines = [request.summary]
    if request.travellers:
        lines.append(f"Travellers: {', '.join(request.travellers)}")
    if request.contact:
        lines.append(f"Contact: {', '.join(request.contact)}")
    description = "Do exactly this, at this price."
    ticked = {"type": "boolean", "title": "I agree", "description": description}
    return ElicitRequestFormParams(
        message="\n".join(lines),
        requested_schema={"type": "object", "properties": {box: ticked}, "required": [box]},
    )


def parse_answer(answer: object, box: str) -> bool | None:
    """Return True if the form was submitted with this checkbox ticked, and no other.

    Some hosts, such as LangGraph, record an answer and replay it to the next question. So an answer
    has to name its question: return None if another checkbox was ticked.
    """
    if not isinstance(answer, ElicitResult) or answer.action != "accept":
        return False
    ticked = [name for name, value in (answer.content or {}).items() if value is True]
    if not ticked:
        return False
    return True if ticked == [box] else None


async def ask(context: Context, request: ApprovalRequest, box: str) -> bool:
    """Ask over the connection and wait for the answer, for hosts with a handshake.

    Raises:
        RefusedError: The host could not ask, or did not answer in `VALID_FOR` seconds. The SDK
            drops an invalid answer, such as null, and goes on waiting.
    """
    params = form(request, box)

    with anyio.move_on_after(VALID_FOR) as scope:
        try:
            for _ in range(_MAX_QUESTIONS):
                answer = await context.session.elicit_form(
                    params.message, params.requested_schema, related_request_id=context.request_id
                )
                is_agreed = parse_answer(answer, box)
                if is_agreed is not None:
                    return is_agreed
        except Exception as error:  # noqa: BLE001 -- after any failure, nobody has agreed
            logger.warning(
                "nobody could be asked to approve tool %s: %s", request.tool, type(error).__name__
            )

    if scope.cancelled_caught:
        raise RefusedError("nobody_answered")
    raise RefusedError("approval_failed")


_MAX_PENDING: Final = 100
_MAX_AGREED: Final = 10_000


class Questions:
    """The questions that were asked, by the text that the host sends back with an answer.

    That text is random. An answer counts once, for the same tool with the same arguments, until the
    request expires. A `state` in a file lets another process take the answer.

    For example, `keep` returns ``x7Qk...`` for ``bookings_confirm`` of ``b-1``. If the host sends
    it back with a call of ``bookings_confirm`` of ``b-2``, or a second time, `take` returns False,
    and the person is asked about that call.
    """

    def __init__(self, state: State) -> None:
        self._state = state
        self._pending = state.table("questions", tuple[str, float], _MAX_PENDING)
        self._agreed = state.table("agreed", int, _MAX_AGREED)

    def box(self, request: ApprovalRequest) -> str:
        """Return the name of the checkbox, which is equal for equal questions.

        After an approval the same question gets another name, so that an answer counts once. The
        state's key makes the answer useless to another server, which may have another price.
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

    def take(self, sent: str | None, tool: str, arguments: Mapping[str, Any]) -> bool:
        """Return True if the text was sent with a question about this call, and use it up."""
        with self._state.transaction():
            call, until = self._pending.pop(sent or "", ("", 0.0))
        is_same_call = call == self._state.fingerprint(tool, arguments)
        return is_same_call and time.time() < until
