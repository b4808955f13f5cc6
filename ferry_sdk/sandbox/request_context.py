"""The context of the request being answered: its operation, company, journeys, faults and ids."""

from __future__ import annotations

import json
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class RequestContext:
    """The operation of a request, and what its body and its answer say.

    A request is answered in a thread with a copy of the context, so this object is shared.

    Attributes:
        company: The company that it searches.
        journeys: The ids of its journeys.
        faults: The kinds of the faults that occurred.
        named: The ids of the booking and the ticket in its answer.
    """

    operation: str | None = None
    company: str | None = None
    journeys: set[str] = field(default_factory=set[str])
    faults: list[str] = field(default_factory=list[str])
    named: dict[str, str] = field(default_factory=dict[str, str])


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
        value: Any = json.loads(body)
        value = value.get("params", {}).get("arguments", value)
        texts = value["request"].items()
        return {name: text for name, text in texts if isinstance(text, str)}
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return {}
