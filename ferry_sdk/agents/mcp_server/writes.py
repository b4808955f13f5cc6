"""Calls of tools that change something: ask a person through the host, then make the write.

How a person is asked depends on what the host declares, and on the option ``--approval``:

- With a card (MCP Apps): the answer of the call shows it, and its page sends the person's answer.
- With a form, by a host with a handshake: the person is asked over the connection, in the middle
  of the call.
- With a form, by a newer host: the result of the call is the question. The host repeats the call
  with the answer and the `request_state` that came with the question, and `Questions` checks that
  both belong to this call. For example:

      call bookings_confirm {"booking_id": "b-1"}
        -> InputRequiredResult: "Confirm and pay 12.32 EUR: ...", request_state "x7Qk..."
      call bookings_confirm {"booking_id": "b-1"}, request_state "x7Qk...", the box is ticked
        -> CallToolResult: {"status": "done", ...}

- With a code: the answer of the call has it, and the agent calls again. It proves nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final, Literal

from mcp.types import (
    CallToolRequestParams,
    CallToolResult,
    ElicitRequest,
    InputRequiredResult,
    TextContent,
)
from mcp.types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import JsonValue, ValidationError

from ferry_sdk.agents.mcp_server.card import CardAnswer, CardCall, can_show_cards, card_result
from ferry_sdk.agents.mcp_server.elicitation import Context, ask, can_ask, form, parse_answer
from ferry_sdk.agents.mcp_server.questions import Questions
from ferry_sdk.agents.policy.answers import RefusedError
from ferry_sdk.agents.policy.approval import ApprovalRequest, ApprovalWay, refuse
from ferry_sdk.agents.toolkit import AsyncToolkit, limits_of, put_question, state_of
from ferry_sdk.models.base import path_of

_QUESTION: Final = "approval"
Way = Literal["card", "form", "code", "none"]
_Result = CallToolResult | InputRequiredResult
_ReadAnswer = Callable[[str], bool | None]
"""Reads the answer to the question of this box: True, False, or None if it is for another one."""
_Put = Callable[[str, Mapping[str, Any], ApprovalRequest], _Result]
"""Returns the result that puts a question about a call to a person."""


class WriteCalls:
    """Make the calls that change something.

    A host that can ask a person never gets a confirmation code: the person is asked about each
    write, and agrees to one tool, with these arguments, at this price.

    Args:
        toolkit: The tools.
        approval: How a person is asked; ``auto``: by the best way that the host has.
    """

    def __init__(self, toolkit: AsyncToolkit, approval: ApprovalWay) -> None:
        self._toolkit = toolkit
        self._approval: ApprovalWay = approval
        self._questions = Questions(state_of(toolkit))

    @property
    def may_show_cards(self) -> bool:
        """Whether a host that declares MCP Apps gets cards."""
        return self._approval in {"auto", "card"}

    def way(self, context: Context) -> Way:
        """Return how a person is asked through this host; ``none``: they cannot be asked."""
        if self.may_show_cards and can_show_cards(context):
            return "card"
        if self._approval in {"auto", "form"} and can_ask(context):
            return "form"
        return "code" if self._approval in {"auto", "code"} else "none"

    async def call(self, context: Context, params: CallToolRequestParams) -> _Result:
        """Answer a call: with what has come of it, or with a question for a person."""
        tool = params.name
        arguments = params.arguments or {}
        match self.way(context):
            case "card":
                return await self._show_first_card(tool, arguments)
            case "form" if context.protocol_version in MODERN_PROTOCOL_VERSIONS:
                return await self._call_with_input_required(params, arguments)
            case "form":
                return await self._call_with_elicitation(context, tool, arguments)
            case "code":
                return result_of(await self._toolkit.call(tool, arguments))
            case "none":
                answer = await self._toolkit.perform(tool, arguments, approve=refuse)
                return result_of(answer)

    async def answer_card(self, arguments: Mapping[str, Any]) -> _Result:
        """Make or refuse the write that a card asks about, once.

        If its price has changed, the result is another card.
        """
        try:
            answer = CardAnswer.model_validate(arguments)
        except ValidationError as error:
            problem = "{}: {}".format(*path_of(error))
            return result_of(RefusedError("card_answer", problem).answer)

        call = answer.call
        if not self._questions.take(call.secret, call.tool, call.arguments):
            return _error_result("card_closed")

        def read_answer(box: str) -> bool | None:
            if not answer.approved:
                return False
            return True if box == call.box else None

        return await self._perform(
            call.tool, call.arguments, read_answer=read_answer, put=self._show_card
        )

    async def _call_with_elicitation(
        self, context: Context, tool: str, arguments: Mapping[str, Any]
    ) -> CallToolResult:
        """Ask over the connection in the middle of the call."""

        async def approve(request: ApprovalRequest) -> bool:
            is_agreed = await ask(context, request, self._questions.box(request))
            if is_agreed:
                self._questions.agree(request)
            return is_agreed

        return result_of(await self._toolkit.perform(tool, arguments, approve=approve))

    async def _call_with_input_required(
        self, params: CallToolRequestParams, arguments: Mapping[str, Any]
    ) -> _Result:
        """Return the question about a write; or with the answer to it, make the write."""
        was_asked = self._questions.take(params.request_state, params.name, arguments)
        answer = (params.input_responses or {}).get(_QUESTION)
        if not was_asked or answer is None:
            return await self._put_first(params.name, arguments, self._require_input)

        def read_answer(box: str) -> bool | None:
            return parse_answer(answer, box)

        return await self._perform(
            params.name, arguments, read_answer=read_answer, put=self._require_input
        )

    async def _show_first_card(self, tool: str, arguments: Mapping[str, Any]) -> _Result:
        """Show a card about a call, unless the person has one about an equal call of this turn.

        A form has no such check: LangGraph makes the call anew when the person has answered, and
        gives the answer to the question that it then gets.
        """
        if self._questions.is_being_asked(tool, arguments):
            return _error_result("being_asked")
        return await self._put_first(tool, arguments, self._show_card)

    async def _put_first(self, tool: str, arguments: Mapping[str, Any], put: _Put) -> _Result:
        """Put the question about a call, unless the call is refused."""
        request = await self._toolkit.preview(tool, arguments)
        if isinstance(request, dict):  # it was refused
            return result_of(request)
        return self._put(tool, arguments, request, put=put)

    async def _perform(
        self, tool: str, arguments: Mapping[str, Any], *, read_answer: _ReadAnswer, put: _Put
    ) -> _Result:
        """Make a write if the answer approves it; if it is for another question, put that one."""
        unanswered: ApprovalRequest | None = None

        def approve(request: ApprovalRequest) -> bool:
            nonlocal unanswered
            is_agreed = read_answer(self._questions.box(request))
            if is_agreed is None:  # the person has not refused this: they were not asked
                unanswered = request
                raise RefusedError("other_question")
            if is_agreed:
                self._questions.agree(request)
            return is_agreed

        result = await self._toolkit.perform(tool, arguments, approve=approve)
        if unanswered is not None:
            return self._put(tool, arguments, unanswered, put=put)
        return result_of(result)

    def _put(
        self, tool: str, arguments: Mapping[str, Any], request: ApprovalRequest, *, put: _Put
    ) -> _Result:
        """Put a question, unless too many others were not approved."""
        try:
            put_question(self._toolkit, request)
        except RefusedError as refusal:
            return result_of(refusal.answer)
        return put(tool, arguments, request)

    def _require_input(
        self, tool: str, arguments: Mapping[str, Any], request: ApprovalRequest
    ) -> InputRequiredResult:
        box = self._questions.box(request)
        return InputRequiredResult(
            input_requests={_QUESTION: ElicitRequest(params=form(request, box))},
            request_state=self._questions.keep(tool, arguments, request),
        )

    def _show_card(
        self, tool: str, arguments: Mapping[str, Any], request: ApprovalRequest
    ) -> CallToolResult:
        call = CardCall(
            tool=tool,
            arguments=dict(arguments),
            secret=self._questions.keep(tool, arguments, request),
            box=self._questions.box(request),
        )
        return card_result(request, call, limits_of(self._toolkit, request.currency))


def _error_result(reason: str) -> CallToolResult:
    return result_of(RefusedError(reason).answer)


def result_of(answer: Mapping[str, JsonValue]) -> CallToolResult:
    """Return an answer for `tools/call`: structured, or an error whose text is the answer."""
    failed = "error" in answer
    text = json.dumps(answer, ensure_ascii=False)
    return CallToolResult(
        content=[TextContent(text=text)],
        structured_content=None if failed else answer,
        is_error=failed,
    )
