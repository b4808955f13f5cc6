"""The context of the request being answered: its operation, company, journeys, faults and ids."""

from __future__ import annotations

import json
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class RequestContext:
    """The operation of a request, and what its body and its answer say.

    The thread that performs the operation gets a copy of the context variables, but the same
    object: what it adds here is in the log of requests.

    Attributes:
        operation: The public name of the operation.
        company: The company that it searches.
        journeys: The ids of its journeys.
        faults: The kinds of the faults that occurred.
        answer_ids: The ids in its answer, as `booking_id` and `ticket_id`.
    """

    operation: str | None = None
    company: str | None = None
    journeys: set[str] = field(default_factory=set[str])
    faults: list[str] = field(default_factory=list[str])
    answer_ids: dict[str, str] = field(default_factory=dict[str, str])


_context: ContextVar[RequestContext | None] = ContextVar("_context", default=None)


def begin(operation: str, body: bytes) -> RequestContext:
    """Begin the context of a request with this body."""
    search = _search_of(body)
    context = RequestContext(operation, search.get("company"))
    context.journeys.add(search.get("out_journey_id", "").lower())
    _context.set(context)
    return context


def current() -> RequestContext:
    """Return the context of the request being answered; an empty one outside requests."""
    return _context.get() or RequestContext()


def _search_of(body: bytes) -> dict[str, str]:
    """Return the texts of a search in either protocol; nothing for any other request."""
    try:
        message: Any = json.loads(body)
        arguments = message.get("params", {}).get("arguments", message)  # MCP wraps them
        fields = arguments["request"].items()
        return {name: value for name, value in fields if isinstance(value, str)}
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return {}
