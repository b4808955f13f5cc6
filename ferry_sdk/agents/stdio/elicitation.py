"""Ask the person at the host to approve a write.

Hosts with a handshake are asked over the connection (elicitation). Newer hosts get the question as
the result of the call, and repeat the call with the answer.
"""

from __future__ import annotations

import hashlib
import json
import logging
import secrets
from collections import Counter
from collections.abc import Mapping
from datetime import datetime, timezone
from typing import Any, Final

from mcp.server.context import ServerRequestContext
from mcp.types import ClientCapabilities, ElicitRequestFormParams, ElicitResult
from mcp.types.version import MODERN_PROTOCOL_VERSIONS

from ferry_sdk.agents.policy.answers import RefusedError
from ferry_sdk.agents.policy.approval import ApprovalRequest
from ferry_sdk.agents.policy.state import Recent

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


def uses_input_required(context: Context) -> bool:
    """Return True if this host takes questions as results, and repeats the call to answer."""
    return context.protocol_version in MODERN_PROTOCOL_VERSIONS


def form(request: ApprovalRequest, box: str) -> ElicitRequestFormParams:
    """Return the form for the person, with one checkbox whose name identifies the question."""
    lines = [request.summary]
    if request.travellers:
        lines.append(f"Travellers: {', '.join(request.travellers)}")
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
    return ticked == [box] if ticked in ([], [box]) else None


async def ask(context: Context, request: ApprovalRequest, box: str) -> bool:
    """Ask over the connection and wait for the answer, for hosts with a handshake.

    Raises:
        RefusedError: The host could not ask.
    """
    params = form(request, box)
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
    raise RefusedError("approval_failed", "nobody could be asked to approve it")


_MAX_PENDING: Final = 100


class Questions:
    """The questions that were asked, by the state that the host sends back with an answer.

    The state is a random string. An answer counts once, for the same tool with the same arguments,
    until the request expires.
    """

    def __init__(self) -> None:
        self._pending = Recent[str, tuple[str, ApprovalRequest]](_MAX_PENDING)
        self._agreed: Counter[str] = Counter()
        self._key = secrets.token_bytes(32)

    def box(self, request: ApprovalRequest) -> str:
        """Return the name of the checkbox, which is equal for equal questions.

        After an approval the same question gets another name, so that an answer counts once. The
        key makes the answer useless to another server, which may have another price.
        """
        question = f"{request.digest} {self._agreed[request.digest]}"
        digest = hashlib.blake2b(question.encode(), key=self._key, digest_size=8)
        return f"approve_{digest.hexdigest()}"

    def agree(self, request: ApprovalRequest) -> None:
        """Record that a person agreed to this request."""
        self._agreed[request.digest] += 1

    def keep(self, tool: str, arguments: Mapping[str, Any], request: ApprovalRequest) -> str:
        """Record a question, and return the state to send with it."""
        state = secrets.token_urlsafe(24)
        self._pending[state] = _call(tool, arguments), request
        return state

    def take(
        self, state: str | None, tool: str, arguments: Mapping[str, Any]
    ) -> ApprovalRequest | None:
        """Return the question of a state if it is for this call, and use the state up."""
        call, request = self._pending.pop(state or "", ("", None))
        if request is None or call != _call(tool, arguments):
            return None
        return request if datetime.now(timezone.utc) < request.expires_at else None


def _call(tool: str, arguments: Mapping[str, Any]) -> str:
    return json.dumps([tool, arguments], sort_keys=True)
