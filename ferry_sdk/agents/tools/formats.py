"""Definitions in the words of the clients that load them."""

from __future__ import annotations

from collections.abc import Iterable
from copy import deepcopy
from typing import Any, Literal

from ferry_sdk.agents.tools.definitions import ToolDefinition


def openai(
    definitions: Iterable[ToolDefinition], api: Literal["responses", "chat"] = "responses"
) -> list[dict[str, Any]]:
    """Function tools of OpenAI's Responses API, or of its Chat Completions."""
    functions = [
        {
            "name": one.name,
            "description": one.description,
            "parameters": deepcopy(one.input_schema),
            "strict": False,  # its strict mode knows no optional arguments
        }
        for one in definitions
    ]
    if api == "chat":
        return [{"type": "function", "function": function} for function in functions]
    return [{"type": "function", **function} for function in functions]


def anthropic(definitions: Iterable[ToolDefinition]) -> list[dict[str, Any]]:
    """Tools of Anthropic's Messages API."""
    return [
        {
            "name": one.name,
            "description": one.description,
            "input_schema": deepcopy(one.input_schema),
        }
        for one in definitions
    ]
