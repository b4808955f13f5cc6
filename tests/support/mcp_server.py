"""An MCP endpoint that says what it is told to, in place of the network."""

import json

import httpx

BASE_URL = "https://ferry.test"


class Scripted:
    """An endpoint that answers the handshake, then gives these replies, the last one for ever."""

    def __init__(self, *replies):
        self._replies = list(replies)
        self.requests = []

    def __call__(self, request):
        if request.method == "GET":
            return httpx.Response(404)  # there is no REST here
        self.requests.append(request)
        message = json.loads(request.content)
        if message["method"] == "initialize":
            return _initialize_reply(message)
        if "id" not in message:
            return httpx.Response(202)
        return (self._replies.pop(0) if len(self._replies) > 1 else self._replies[0])(message)

    @property
    def methods(self):
        asked = [json.loads(request.content) for request in self.requests]
        return [message["method"] for message in asked if "id" in message]

    def client(self, clients, **settings):
        http_client = clients.http_client(transport=httpx.MockTransport(self))
        return clients("test-token", base_url=BASE_URL, http_client=http_client, **settings)


def _initialize_reply(message):
    result = {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "s"}}
    body = {"jsonrpc": "2.0", "id": message["id"], "result": result}
    return httpx.Response(200, json=body, headers={"mcp-session-id": "session-1"})


def reply(body, status=200, kind="application/json", **headers):
    """Return a function that answers with this body."""
    return lambda _: httpx.Response(status, content=body, headers={"content-type": kind, **headers})


def carried(carrier, status=200, **members):
    """Return a function that answers with a JSON-RPC message, as JSON or in a stream of events."""

    def answer(message):
        text = json.dumps(
            {"jsonrpc": "2.0", "id": message["id"], **members}, ensure_ascii=False
        ).encode()
        if carrier == "json":
            return reply(text, status)(message)
        stream = b"event: message\r\ndata: " + text + b"\r\n\r\n"
        return reply(stream, status, "text/event-stream; charset=utf-8")(message)

    return answer
