"""Questions to the person behind the host, asked by elicitation or by a repeated call."""

from __future__ import annotations

import hashlib
import json
import logging
import secrets
from collections import Counter, OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any, Final

from mcp.server.context import ServerRequestContext
from mcp.types import ClientCapabilities, ElicitRequestFormParams, ElicitResult
from mcp.types.version import MODERN_PROTOCOL_VERSIONS

from ferry_sdk.agents.policy.answers import RefusedError
from ferry_sdk.agents.policy.approval import ApprovalRequest

logger: logging.Logger = logging.getLogger("ferry_sdk")

_MAX_QUESTIONS: Final = 3
"""How often a host is asked that keeps answering another question."""

Context = ServerRequestContext[Any, Any]


def can_ask(context: Context) -> bool:
    """Whether the host said that it shows forms to a person.

    Hosts older than the modes of elicitation declare it without any, and mean forms.
    """
    capabilities = context.session.client_capabilities or ClientCapabilities()
    declared = capabilities.elicitation
    return declared is not None and (declared.form is not None or declared.url is None)


def uses_input_required(context: Context) -> bool:
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


def parse_answer(answer: object, box: str) -> bool | None:
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


async def ask(context: Context, request: ApprovalRequest, box: str) -> bool:
    """Ask over the connection and wait for the answer, as hosts of the handshake era expect it.

    Raises:
        RefusedError: Nobody could be asked.
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
    except Exception as error:  # noqa: BLE001 -- whatever it was, nobody said yes
        logger.warning(
            "nobody could be asked to approve tool %s: %s", request.tool, type(error).__name__
        )
    raise RefusedError("approval_failed", "nobody could be asked to approve it")


_MAX_PENDING: Final = 100


@dataclass(frozen=True, slots=True)
class _Pending:
    call: str = field(repr=False)
    request: ApprovalRequest


class Questions:
    """What the person was asked, by the state that goes to the host and comes back.

    The state is a random name and says nothing. An answer counts once, for the same tool with the
    same arguments, for as long as the question was good.
    """

    def __init__(self) -> None:
        self._pending: OrderedDict[str, _Pending] = OrderedDict()
        self._agreed: Counter[str] = Counter()
        self._key = secrets.token_bytes(32)

    def box(self, request: ApprovalRequest) -> str:
        """The name of the box that is ticked to agree: the same for the same question.

        A question that was agreed to is another one when it is asked again, so that a yes is good
        once. The key makes it useless to another server, which may have another price in mind.
        """
        question = f"{request.digest} {self._agreed[request.digest]}"
        digest = hashlib.blake2b(question.encode(), key=self._key, digest_size=8)
        return f"approve_{digest.hexdigest()}"

    def agree(self, request: ApprovalRequest) -> None:
        """Note that somebody agreed to this."""
        self._agreed[request.digest] += 1

    def keep(self, tool: str, arguments: Mapping[str, Any], request: ApprovalRequest) -> str:
        """Note that this was asked; the state to send with it."""
        state = secrets.token_urlsafe(24)
        self._pending[state] = _Pending(_call(tool, arguments), request)
        while len(self._pending) > _MAX_PENDING:
            self._pending.popitem(last=False)
        return state

    def take(
        self, state: str | None, tool: str, arguments: Mapping[str, Any]
    ) -> ApprovalRequest | None:
        """What was asked under this state, which is used up; None where it is not for this call."""
        waiting = self._pending.pop(state or "", None)
        if waiting is None or waiting.call != _call(tool, arguments):
            return None
        return waiting.request if datetime.now(timezone.utc) < waiting.request.expires_at else None


def _call(tool: str, arguments: Mapping[str, Any]) -> str:
    return json.dumps([tool, arguments], sort_keys=True)
