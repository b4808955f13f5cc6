"""A service over a real socket, which answers each request as a function of the test says."""

import json
import threading
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def answer(status=200, body=b"", kind="application/json", **headers):
    """A reply; its body is encoded as JSON unless it is bytes or a text."""
    if isinstance(body, str):
        body = body.encode()
    elif not isinstance(body, bytes):
        body = json.dumps(body).encode()
    return status, {"content-type": kind, **headers}, body


class RawService:
    """Gives each request's method, path, headers and body to `respond`, and sends what it returns.

    `requests` are the methods and paths so far.
    """

    def __init__(self, respond):
        self.requests = []
        requests = self.requests

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                requests.append((self.command, self.path))
                status, headers, content = respond(self.command, self.path, self.headers, body)
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("content-length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def do_POST(self):
                self.do_GET()

            def log_message(self, *_):
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        # The server looks that often whether it is to end.
        serve = partial(self._server.serve_forever, poll_interval=0.01)
        self._thread = threading.Thread(target=serve, daemon=True)

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
