"""An MCP endpoint over a real socket: it opens sessions and answers calls as a test says."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def answer(status=200, body=b"", kind="application/json", **headers):
    """A reply: its body is encoded as JSON unless it is bytes or a text."""
    if isinstance(body, str):
        body = body.encode()
    elif not isinstance(body, bytes):
        body = json.dumps(body).encode()
    return status, {"content-type": kind, **headers}, body


class McpSocket:
    """Serves ``/mcp``; `calls` are the messages other than handshakes, `opened` the sessions."""

    def __init__(self, *replies):
        self._replies = list(replies)
        self.calls = []
        self.opened = 0
        self.sessions = []
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                length = int(self.headers.get("content-length", 0))
                message = json.loads(self.rfile.read(length))
                status, headers, body = endpoint._reply_to(message, self.headers)
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def url(self):
        return f"http://127.0.0.1:{self._server.server_port}"

    def _reply_to(self, message, headers):
        if message["method"] == "initialize":
            self.opened += 1
            result = {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {}}
            body = {"jsonrpc": "2.0", "id": message["id"], "result": result}
            return answer(200, body, **{"mcp-session-id": f"session-{self.opened}"})
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
