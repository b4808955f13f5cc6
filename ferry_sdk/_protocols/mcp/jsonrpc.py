"""JSON-RPC 2.0 messages, and which of them replies to a request."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count
from typing import cast

_ids = count(1)


def next_id() -> str:
    """Return the id of a new request."""
    return f"ferry-{next(_ids)}"


def request(method: str, params: Mapping[str, object], request_id: str) -> dict[str, object]:
    """Return a JSON-RPC request."""
    return {"jsonrpc": "2.0", "id": request_id, "method": method, "params": dict(params)}


def notification(method: str) -> dict[str, object]:
    """Return a JSON-RPC notification, which has no reply."""
    return {"jsonrpc": "2.0", "method": method}


def reply_among(value: object, request_id: str, *, is_stream: bool) -> object:
    """Return the reply to a request: the value itself, or an element of a batch; None if neither.

    The only reply in a body need not repeat the id, and servers put other ids on errors. In a
    stream, the id distinguishes the reply from other messages.
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
