"""How the person behind the host is asked: what they see, and what counts as a yes."""

from __future__ import annotations

from typing import Any, Final

from mcp.server.context import ServerRequestContext
from mcp.types import ClientCapabilities, ElicitRequest, ElicitRequestFormParams, ElicitResult
from mcp.types.version import MODERN_PROTOCOL_VERSIONS

from ferry_sdk.agents.approving import ApprovalRequest

_FIELD: Final = "approve"
_FORM: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        _FIELD: {
            "type": "boolean",
            "title": "I agree",
            "description": "Do exactly this, at this price.",
        }
    },
    "required": [_FIELD],
}

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


def question(request: ApprovalRequest) -> ElicitRequest:
    """What the person is shown."""
    lines = [request.summary]
    if request.travellers:
        lines.append(f"Travellers: {', '.join(request.travellers)}")
    return ElicitRequest(
        params=ElicitRequestFormParams(message="\n".join(lines), requested_schema=_FORM)
    )


def agreed(answer: object) -> bool:
    """Whether the answer is a yes: the form was sent, and its box was ticked."""
    return (
        isinstance(answer, ElicitResult)
        and answer.action == "accept"
        and (answer.content or {}).get(_FIELD) is True
    )


async def asked(context: Context, request: ApprovalRequest) -> bool:
    """Ask over the connection and wait for the answer, as hosts of the handshake era expect it."""
    params = question(request).params
    assert isinstance(params, ElicitRequestFormParams)  # noqa: S101 -- for the type checker
    answer = await context.session.elicit_form(
        params.message, params.requested_schema, related_request_id=context.request_id
    )
    return agreed(answer)
