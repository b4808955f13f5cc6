"""What can be told of a request from its bytes: whose it is, and what became of it."""

import json

_ADDRESSES = {
    ("POST", "/api/booking"): "bookings.create",
    ("POST", "/api/booking/confirm"): "bookings.confirm",
    ("POST", "/api/booking/cancel"): "bookings.cancel",
    ("POST", "/api/ticket/cancel"): "tickets.cancel",
}
_TURNED_AWAY = {401, 429}
_SUCCESS = range(200, 300)
_REFUSED = {*range(400, 500)} - {408}
_NO_SESSION = {400, 404}
_SHORTEST_CALL = 70


def operation_of(passage):
    """Which operation a request is of; empty for a read of REST, "?" where nothing can be told."""
    if b"\r\n" not in passage.request:
        return "?"
    head, _, body = passage.request.partition(b"\r\n\r\n")
    method, _, rest = head.decode("latin-1").partition(" ")
    path = rest.partition(" ")[0]
    if path == "/mcp":
        return _mcp_operation(head.lower(), body)
    if path.endswith("/mark-paid"):
        return "tickets.mark_paid"
    return _ADDRESSES.get((method, path), "")


def correlation_of(passage):
    """The id of the call that a request is of."""
    _, _, rest = passage.request.partition(b"x-client-correlation-id: ")
    return rest.partition(b"\r")[0].decode("latin-1")


def _mcp_operation(head, body):
    try:
        message = json.loads(body)
    except ValueError:
        # Cut short: what opens a session names none, and what is told once it is open is short.
        if b"mcp-session-id" not in head:
            return "mcp.initialize"
        return "mcp.notification" if _content_length(head) < _SHORTEST_CALL else "mcp.?"
    if message["method"] != "tools/call":
        return f"mcp.{message['method']}"
    return f"mcp.{message['params']['name']}"


def _content_length(head):
    value = head.partition(b"\r\ncontent-length:")[2].partition(b"\r")[0].strip()
    return int(value) if value.isdigit() else _SHORTEST_CALL


def status_of(passage):
    """The status that the service answered; 0 where it did not."""
    parts = passage.reply.split(b" ", 2)
    return int(parts[1]) if len(parts) > 1 else 0


def is_refused(passage):
    """Whether the client could read that the service refused it."""
    head, _, body = passage.reply.partition(b"\r\n\r\n")
    if b"text/event-stream" in head:  # its end may come late, or never
        return b'"error"' in body or b'"isError":true' in body.replace(b" ", b"")
    if not passage.was_answered:
        return False
    status = status_of(passage)
    return status in _REFUSED or (status in _SUCCESS and _is_failure(body))


def _is_failure(body):
    """Whether it is one of the ways in which a refusal is put in a reply of success."""
    try:
        value = json.loads(body)
    except ValueError:
        return False
    inner = value.get("result") if isinstance(value, dict) else None
    members = [one for one in (value, inner) if isinstance(one, dict)]
    return any(one.get("error") or one.get("isError") for one in members)


def is_turned_away(passage):
    """Whether the client could read that nothing was done and it may send it again."""
    is_so = passage.was_answered and status_of(passage) in _TURNED_AWAY
    return is_so or lacks_session(passage)


def lacks_session(passage):
    """Whether the client could read that its MCP session was gone."""
    is_mcp = operation_of(passage).startswith("mcp.")
    return is_mcp and passage.was_answered and status_of(passage) in _NO_SESSION
