"""Ask a person with a card that the host shows in the chat (MCP Apps).

1. A tool that changes something names the card's page, `PAGE`, which the host reads once.
2. The answer of its call says for the model what a person has to approve. Beside it, in ``_meta``,
   which hosts keep from the model, is what the card shows, with a secret.
3. The person presses a button. The page calls the tool `ANSWER_TOOL`, which hosts offer to pages
   only, with that secret.
4. The write is made, and the page shows what has come of it and tells the model.

For example, the ``_meta`` of a call of ``bookings_confirm``:

    {"ferry-sdk/card": {
        "call": {"tool": "bookings_confirm", "arguments": {"booking_id": "b-1"},
                 "secret": "x7Qk...", "box": "approve_4f..."},
        "question": "Confirm and pay 12.32 EUR: ...",
        "rows": [["Price", "12.32 EUR"], ["Spending limit", "100.00 EUR, 0.00 of it used"]],
        "expires_at": "2026-12-01T10:05:00+00:00"}}
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, Final

from mcp.server.apps import APP_MIME_TYPE, EXTENSION_ID, client_supports_apps
from mcp.types import CallToolResult, TextContent, TextResourceContents, Tool, ToolAnnotations
from pydantic import BaseModel, ConfigDict

from ferry_sdk._runtime.data import read_data
from ferry_sdk._runtime.money import format_amount
from ferry_sdk.agents.mcp_server.elicitation import Context
from ferry_sdk.agents.policy.answers import TEXTS
from ferry_sdk.agents.policy.approval import ApprovalRequest

EXTENSION: Final = EXTENSION_ID
PAGE: Final = "ui://ferry-sdk/approval-card.html"
ANSWER_TOOL: Final = "approval_card_answer"
_META: Final = "ferry-sdk/card"
_LOOK: Final = {"ui": {"prefersBorder": True}}


class CardCall(BaseModel):
    """The call that a card asks about, as the page sends it back.

    Attributes:
        tool: The tool that was called.
        arguments: Its arguments.
        secret: The random text that belongs to this card.
        box: Identifies the question; see `Questions.box`.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(
        extra="forbid", strict=True, hide_input_in_errors=True
    )

    tool: str
    arguments: dict[str, Any]
    secret: str
    box: str


class CardAnswer(BaseModel):
    """The arguments of `ANSWER_TOOL`.

    Attributes:
        call: The call that the card asks about.
        approved: Whether the person approved it.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(
        extra="forbid", strict=True, hide_input_in_errors=True
    )

    call: CardCall
    approved: bool


def can_show_cards(context: Context) -> bool:
    """Return True if the host declared that it shows the pages of MCP Apps."""
    return client_supports_apps(context)


def with_card(tool: Tool) -> Tool:
    """Return a tool whose answers the host shows with the card's page; the page cannot call it."""
    ui = {"resourceUri": PAGE, "visibility": ["model"]}
    return tool.model_copy(update={"meta": {"ui": ui}})


def answer_tool() -> Tool:
    """Return the tool that the page calls, and the model does not see."""
    return Tool(
        name=ANSWER_TOOL,
        title="Answer an approval card",
        description="For the page of the card only; it takes the secret of a card.",
        input_schema=CardAnswer.model_json_schema(),
        annotations=ToolAnnotations(read_only_hint=False, destructive_hint=True),
        _meta={"ui": {"resourceUri": PAGE, "visibility": ["app"]}},
    )


def page() -> TextResourceContents:
    """Return the card's page."""
    return TextResourceContents(uri=PAGE, mime_type=APP_MIME_TYPE, text=_html(), _meta=_LOOK)


@cache
def _html() -> str:
    return read_data(Path(__file__).with_name("approval_card.html")).decode()


def card_result(
    request: ApprovalRequest, call: CardCall, limits: Mapping[str, str]
) -> CallToolResult:
    """Return the answer of a call that shows a card."""
    answer = {
        "status": "approval_needed",
        "approval": {
            "summary": request.summary,
            "amount": format_amount(request.amount),
            "currency": request.currency,
            "expires_at": request.expires_at.isoformat(),
            "next_step": TEXTS["card"],
        },
    }
    rows = [*request.costs.items(), *_people(request, call.arguments), *limits.items()]
    card = {
        "call": call.model_dump(),
        "question": request.summary,
        "rows": rows,
        "expires_at": request.expires_at.isoformat(),
    }
    return CallToolResult(
        content=[TextContent(text=json.dumps(answer, ensure_ascii=False))],
        structured_content=answer,
        _meta={_META: card},
    )


def _people(request: ApprovalRequest, arguments: Mapping[str, Any]) -> Sequence[tuple[str, str]]:
    """Return who travels and whom the company writes to.

    Travellers that the agent knows by their handles only are shown by them: no name leaves the
    process.
    """
    handles = arguments.get("travellers")
    if handles:
        return [("Travellers", ", ".join(handles))]

    people = [("Travellers", request.travellers), ("Contact", request.contact)]
    return [(label, ", ".join(texts)) for label, texts in people if texts]
