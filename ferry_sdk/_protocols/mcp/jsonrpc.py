"""JSON-RPC 2.0: which message answers a request."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count
from typing import cast

_ids = count(1)


def next_id() -> str:
    """The id of a new request, never null: a request without one is never answered."""
    return f"ferry-{next(_ids)}"


def request(method: str, params: Mapping[str, object], request_id: str) -> dict[str, object]:
    """A JSON-RPC request."""
    return {"jsonrpc": "2.0", "id": request_id, "method": method, "params": dict(params)}


def notification(method: str) -> dict[str, object]:
    """A JSON-RPC notification, which is not answered."""
    return {"jsonrpc": "2.0", "method": method}


def reply_among(value: object, request_id: str, *, is_stream: bool) -> object:
    """The reply to a request: the value itself, or one element of a batch; None if neither.

    A reply alone in a body need not repeat the id, and servers put other ids on errors; in a
    stream the messages of others are told apart by it.
    """
    for message in cast("list[object]", value) if isinstance(value, list) else [value]:
        if not isinstance(message, dict):
            continue
        members = cast("dict[str, object]", message)
        is_error = isinstance(members.get("error"), dict) or members.get("error") is True
        if "method" in members or not (is_error or "result" in members):
            continue
        if is_error or not is_stream or members.get("id") == request_id:
            return members
    return None
