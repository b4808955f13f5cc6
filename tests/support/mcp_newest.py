"""An MCP server of the revision 2026-07-28 over a real socket, as strict as the revision allows."""

import json
from base64 import b64decode

from tests.support import samples
from tests.support.mcp_socket import with_error, with_result
from tests.support.raw_service import RawService, answer

VERSION = "2026-07-28"
_KEY = "io.modelcontextprotocol/"
_RESULTS = {
    "search_availability": {"result": [samples.AVAILABILITY]},
    "create_booking": samples.BOOKING_CREATED,
    "confirm_booking": samples.BOOKING_CONFIRMATION,
    "view_ticket": samples.TICKET,
    "cancel_ticket": samples.TICKET_CANCELLATION,
    "paint_ship": {"painted": True},
}
WRITES = {"create_booking", "confirm_booking", "cancel_ticket", "paint_ship"}


def unsupported(status=400, supported=(VERSION,)):
    """A reply that refuses the version of a request."""
    error = {"code": -32022, "message": "Unsupported protocol version"}
    error["data"] = {"supported": [*supported], "requested": "?"}
    return lambda request: answer(status, {"jsonrpc": "2.0", "id": request["id"], "error": error})


UNKNOWN_METHOD = with_error(404, -32601, "Method not found")


class NewestServer(RawService):
    """Serves the requests of its version, and others as a test says.

    `handshake` replies to ``initialize``; None accepts it. `is_older` says that the server has
    forgotten its newest version, `refusal` what it replies to every call, and `reply` what it
    replies to the next one.
    `calls` are the methods, versions and session ids of all requests but notifications, and
    `effects` the names of the writes that were done.
    """

    def __init__(self, handshake=UNKNOWN_METHOD):
        super().__init__(self._respond)
        self.handshake = handshake
        self.is_older = False
        self.refusal = None
        self.reply = None
        self.calls = []
        self.effects = []

    @property
    def methods(self):
        return [method for method, *_ in self.calls]

    def _respond(self, http_method, _path, headers, body):
        if http_method != "POST":
            return answer(404)
        message = json.loads(body)
        if "id" not in message:
            return answer(202)

        version = headers.get("mcp-protocol-version")
        self.calls.append((message["method"], version, headers.get("mcp-session-id")))
        if message["method"] == "initialize":
            return self._initialize(message)
        if self.reply is not None:
            reply, self.reply = self.reply, None
            return reply(message) if callable(reply) else reply
        refusal = self._refuse(message, headers, version)
        return refusal(message) if refusal else self._perform(message)

    def _initialize(self, message):
        if self.handshake is not None:
            return self.handshake(message) if callable(self.handshake) else self.handshake
        result = {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {}}
        status, headers, body = with_result(result)(message)
        return status, headers | {"mcp-session-id": f"session-{len(self.calls)}"}, body

    def _refuse(self, message, headers, version):
        """Return the refusal of a request that is not what its version demands."""
        if self.refusal is not None:
            return self.refusal
        if self.is_older or (self.handshake is None and version != VERSION):
            is_known = version == "2025-11-25" and headers.get("mcp-session-id")
            return None if is_known else with_error(400, -32600, "Bad Request: Missing session ID")
        if version != VERSION:
            return unsupported()

        params = message["params"]
        meta = params.get("_meta", {})
        is_named = isinstance(meta.get(f"{_KEY}clientInfo", {}).get("name"), str)
        if not is_named or meta.get(f"{_KEY}clientCapabilities") != {}:
            return with_error(400, -32602, "params._meta is not complete")

        name = params.get("name") or params.get("uri")
        said = (meta.get(f"{_KEY}protocolVersion"), message["method"], name)
        if said != (version, headers.get("mcp-method"), _decode(headers.get("mcp-name"))):
            return with_error(400, -32020, "Header mismatch")
        return None

    def _perform(self, message):
        params = message["params"]
        match message["method"]:
            case "tools/call":
                name = params["name"]
                self.effects += [name] if name in WRITES else []
                value = _RESULTS.get(name, {"name": name})
                if name == "view_ticket":
                    value = value | params["arguments"]
                result = {"content": [], "structuredContent": value}
            case "resources/read" if params["uri"].endswith("nothing"):
                return with_error(400, -32602, "Unknown resource")(message)
            case "resources/read":
                text = json.dumps([{"code": "X", "name": "Y", "id": "Z"}])
                contents = [{"uri": params["uri"], "text": text}]
                result = {"contents": contents, "ttlMs": 0, "cacheScope": "private"}
            case listing:
                named = {"name": "one", "inputSchema": {"type": "object"}, "uri": "x:y"}
                result = {listing.partition("/")[0]: [named], "ttlMs": 0, "cacheScope": "public"}
        return with_result(result | {"resultType": "complete"})(message)


def _decode(value):
    if value is not None and value.startswith("=?base64?"):
        return b64decode(value[9:-2], validate=True).decode()
    return value
