"""Ask the person at the host to approve a write.

Hosts with a handshake are asked over the connection (elicitation). Newer hosts get the question as
the result of the call, and repeat the call with the answer.
"""

from __future__ import annotations

import logging
from typing import Any, Final

import anyio
from mcp.server.context import ServerRequestContext
from mcp.types import ClientCapabilities, ElicitRequestFormParams, ElicitResult

from ferry_sdk.agents.policy.answers import RefusedError
from ferry_sdk.agents.policy.approval import VALID_FOR, ApprovalRequest

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
