"""How the person behind the host is asked: what they see, and what counts as a yes."""

from __future__ import annotations

import logging
from typing import Any, Final

from mcp.server.context import ServerRequestContext
from mcp.types import ClientCapabilities, ElicitRequestFormParams, ElicitResult
from mcp.types.version import MODERN_PROTOCOL_VERSIONS

from ferry_sdk.agents.policy.answers import RefusedError
from ferry_sdk.agents.policy.approval import ApprovalRequest

logger: logging.Logger = logging.getLogger("ferry_sdk")

_ROUNDS: Final = 3
"""How often a host is asked that keeps answering another question."""

Context = ServerRequestContext[Any, Any]


def can_ask(context: Context) -> bool:
    """Whether the host said that it shows forms to a person.

    Hosts older than the modes of elicitation declare it without any, and mean forms.
    """
    capabilities = context.session.client_capabilities or ClientCapabilities()
    declared = capabilities.elicitation
    return declared is not None and (declared.form is not None or declared.url is None)


def in_rounds(context: Context) -> bool:
    """Whether questions are results of a call here, and answers come with the call repeated."""
    return context.protocol_version in MODERN_PROTOCOL_VERSIONS


def form(request: ApprovalRequest, box: str) -> ElicitRequestFormParams:
    """What the person is shown, with one box to tick.

    Args:
        request: What they are asked to agree to.
        box: The name of the box, which is that of the question.
    """
    lines = [request.summary]
    if request.travellers:
        lines.append(f"Travellers: {', '.join(request.travellers)}")
    description = "Do exactly this, at this price."
    ticked = {"type": "boolean", "title": "I agree", "description": description}
    return ElicitRequestFormParams(
        message="\n".join(lines),
        requested_schema={"type": "object", "properties": {box: ticked}, "required": [box]},
    )


def agreed(answer: object, box: str) -> bool | None:
    """Whether the answer is a yes: the form was sent, and this box was ticked, and no other.

    Hosts record answers and replay them, LangGraph for one, to whatever is asked next. So a yes
    has to name its question.

    Returns:
        None if another box was ticked: it is the answer to another question.
    """
    if not isinstance(answer, ElicitResult) or answer.action != "accept":
        return False
    ticked = [name for name, value in (answer.content or {}).items() if value is True]
    return ticked == [box] if ticked in ([], [box]) else None


async def asked(context: Context, request: ApprovalRequest, box: str) -> bool:
    """Ask over the connection and wait for the answer, as hosts of the handshake era expect it.

    Raises:
        RefusedError: Nobody could be asked.
    """
    params = form(request, box)
    try:
        for _ in range(_ROUNDS):
            answer = await context.session.elicit_form(
                params.message, params.requested_schema, related_request_id=context.request_id
            )
            is_agreed = agreed(answer, box)
            if is_agreed is not None:
                return is_agreed
    except Exception as error:  # noqa: BLE001 -- whatever it was, nobody said yes
        logger.warning(
            "nobody could be asked to approve tool %s: %s", request.tool, type(error).__name__
        )
    raise RefusedError("approval_failed", "nobody could be asked to approve it")
