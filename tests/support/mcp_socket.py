"""An MCP endpoint over a real socket: it opens sessions and answers calls as a test says."""

import json

from tests.support.raw_service import RawService, answer


class McpSocket(RawService):
    """Gives its replies one after the other, the last for ever.

    `calls` are the messages other than handshakes, `sessions` the session ids that they carried,
    and `opened` the number of handshakes.
    """

    def __init__(self, *replies):
        super().__init__(self._respond)
        self._replies = list(replies)
        self.calls = []
        self.sessions = []
        self.opened = 0

    def _respond(self, _method, _path, headers, body):
        message = json.loads(body)
        if message["method"] == "initialize":
            self.opened += 1
            result = {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {}}
            opening = {"jsonrpc": "2.0", "id": message["id"], "result": result}
            return answer(200, opening, **{"mcp-session-id": f"session-{self.opened}"})
        if "id" not in message:
            return answer(202)
        self.calls.append(message)
        self.sessions.append(headers.get("mcp-session-id"))
        reply = self._replies.pop(0) if len(self._replies) > 1 else self._replies[0]
        return reply(message) if callable(reply) else reply


def with_result(value):
    """A reply that has a result."""
    return lambda message: answer(200, {"jsonrpc": "2.0", "id": message["id"], "result": value})


def with_error(status, code, message):
    """A reply that has a JSON-RPC error."""
    error = {"code": code, "message": message}
    return lambda request: answer(status, {"jsonrpc": "2.0", "id": request["id"], "error": error})
