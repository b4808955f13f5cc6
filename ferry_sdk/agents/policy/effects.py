"""What a tool call asks its toolkit to do: call the client, or call the caller's function."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Invoke:
    """Call a method of the client.

    Attributes:
        operation: The method's name, such as ``bookings.get``, or ``recover``.
        arguments: Its keyword arguments.
    """

    operation: str
    arguments: Mapping[str, Any] = field(repr=False)


@dataclass(frozen=True, slots=True)
class CallHandler:
    """Call the caller's `approve` or `audit`; `AsyncToolkit` awaits the result if it can.

    Attributes:
        function: The function.
        argument: Its only argument.
    """

    function: Callable[[Any], Any]
    argument: object


ToolEffect = Invoke | CallHandler
