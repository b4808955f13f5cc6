"""What an agent is told of a tool."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """A tool as a client of any model takes it.

    Attributes:
        name: The operation's name with ``_`` for ``.``, such as ``bookings_create``.
        title: What it does, in one line.
        description: What it does and what to know before it is called.
        input_schema: JSON Schema (2020-12) of its arguments: an object.
        output_schema: JSON Schema of the whole answer: an object.
        read_only: It changes nothing.
        destructive: What it changes cannot be put back.
        idempotent: To call it again with the same arguments changes nothing more.
    """

    name: str
    title: str
    description: str
    input_schema: dict[str, Any]
    output_schema: dict[str, Any]
    read_only: bool
    destructive: bool
    idempotent: bool
