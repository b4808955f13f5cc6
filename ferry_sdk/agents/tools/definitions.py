"""Definitions of tools, and their formats for the clients of OpenAI and Anthropic."""

from __future__ import annotations

from collections.abc import Iterable
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """A tool, described for the client of any model.

    Attributes:
        name: The operation's name with ``_`` for ``.``, such as ``bookings_create``.
        title: What it does, in one line.
        description: What it does, and what to know before calling it.
        input_schema: JSON Schema (2020-12) of its arguments, an object.
        output_schema: JSON Schema of the whole answer, an object.
        read_only: Whether it changes nothing.
        destructive: Whether its change cannot be undone.
        idempotent: Whether calling it again with the same arguments changes nothing more.
    """

    name: str
    title: str
    description: str
    input_schema: dict[str, Any]
    output_schema: dict[str, Any]
    read_only: bool
    destructive: bool
    idempotent: bool


def openai(
    definitions: Iterable[ToolDefinition], api: Literal["responses", "chat"] = "responses"
) -> list[dict[str, Any]]:
    """Return function tools for OpenAI's Responses API or Chat Completions."""
    functions = [
        {
            "name": one.name,
            "description": one.description,
            "parameters": deepcopy(one.input_schema),
            "strict": False,  # its strict mode has no optional arguments
        }
        for one in definitions
    ]
    if api == "chat":
        return [{"type": "function", "function": function} for function in functions]
    return [{"type": "function", **function} for function in functions]


def anthropic(definitions: Iterable[ToolDefinition]) -> list[dict[str, Any]]:
    """Return tools for Anthropic's Messages API."""
    return [
        {
            "name": one.name,
            "description": one.description,
            "input_schema": deepcopy(one.input_schema),
        }
        for one in definitions
    ]
