"""A hostile server on plain sockets: it does what is asked of it and answers as it is told to."""

from __future__ import annotations

import json
import socket
import struct
import threading
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from random import Random
from typing import Any

from tests.support import samples
from tests.system.effects.judging import ADDRESSES
from tests.system.effects.schedules import EFFECTS

from .kinds import End, Reply, Stroke, encode

_PATIENCE = 10.0
_AT_ONCE = struct.pack("ii", 1, 0)
_OPENED = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "serverInfo": {"name": "hostile", "version": "1"},
}
_BY_ADDRESS = {
    **ADDRESSES,
    ("POST", "/api/booking/cancel-fee"): "bookings.cancel_fee",
    ("POST", "/api/availability"): "availability.search",
    ("GET", "/api/port"): "catalogue.ports",
}
_CREATED = {"bookings.create", "bookings.confirm", "bookings.cancel", "tickets.cancel"}
_PORTS = [samples.PORT]
_numbers = count(1)


@dataclass(frozen=True, slots=True)
class ServiceCall:
    operation: str
    subject: str = ""
    document: str = ""
    message_id: Any = None

    @property
    def effect(self):
        return EFFECTS.get(self.operation)

    @property
    def is_mcp(self):
        return self.operation.startswith("mcp.")


def parse_call(method, path, body):
    if path == "/mcp":
        return _parse_mcp_call(body)
    parts = path.split("/")
    if path.endswith("/mark-paid"):
        return ServiceCall("tickets.mark_paid", parts[3])
    if method == "GET" and len(parts) == 4:
        return ServiceCall("bookings.get" if parts[2] == "booking" else "tickets.get", parts[3])
    return _call_on(_BY_ADDRESS[method, path], _members(body))


def _parse_mcp_call(body):
    message = _members(body)
    params = message.get("params", {})
    if not message:
        return ServiceCall("mcp.?")
    if message["method"] != "tools/call":
        return ServiceCall(f"mcp.{message['method']}", message_id=message.get("id"))
    return _call_on(f"mcp.{params['name']}", params["arguments"], message["id"])


def _call_on(operation, arguments, message_id=None):
    subject = arguments.get("booking_id") or arguments.get("ticket_id") or arguments.get("id", "")
    travellers = arguments.get("passengers") or [{}]
    return ServiceCall(operation, subject, travellers[0].get("doc_number", ""), message_id)


def _members(body):
    with suppress(ValueError):
        value = json.loads(body)
        return value if isinstance(value, dict) else {}
    return {}


@dataclass(slots=True)
class Booking:
    booking_id: str
    ticket_id: str
    stage: str = "payment_due"
    status: str = "Blocked"
    payment: str = "unpaid"


@dataclass(frozen=True, slots=True)
class Effect:
    intent: tuple[str, str]
    booking_id: str
    correlation_id: str


class Service:
    def __init__(self):
        self.effects = []
        self._bookings = {}
        self._lock = threading.Lock()

    def book(self, *, is_confirmed):
        number = next(_numbers)
        booking = Booking(f"bo-{number}", f"ti-{number}")
        if is_confirmed:
            booking.stage, booking.status, booking.payment = "ticketed", "Issued", "paid"
        self._bookings[booking.booking_id] = self._bookings[booking.ticket_id] = booking
        return booking

    def perform(self, request, correlation_id):
        with self._lock:
            booking = self._bookings.get(request.subject) or self.book(is_confirmed=False)
            match request.effect:
                case "bookings.confirm":
                    booking.stage, booking.status, booking.payment = "ticketed", "Issued", "paid"
                case "bookings.cancel" | "tickets.cancel":
                    booking.stage, booking.status = "voided", "Canceled"
                case "tickets.mark_paid":
                    booking.payment = "paid"
                case "bookings.create":
                    self._bookings[request.document] = booking
            intent = (request.effect or "", request.subject or request.document)
            self.effects.append(Effect(intent, booking.booking_id, correlation_id))

    def answer(self, request, booking=None):
        name = request.effect or request.operation
        about = booking or self._bookings.get(request.subject or request.document)
        status = 201 if name in _CREATED else 200
        return status, _content(name, about or self.book(is_confirmed=False))


def _content(operation, it):
    ids = {"booking_id": it.booking_id, "booking_reference": f"R{it.booking_id}"}
    ticket = {**samples.TICKET, "id": it.ticket_id, "status": it.status}
    named = {"booking_id": it.booking_id, "ticket_id": it.ticket_id}
    stands = {"stage": it.stage, "payment_status": it.payment, "tickets": [ticket]}
    contents = {
        "bookings.create": {**samples.BOOKING_CREATED, **ids},
        "bookings.confirm": {**samples.BOOKING_CONFIRMATION, **named},
        "bookings.cancel": {**samples.BOOKING_CANCELLATION, "booking_id": it.booking_id},
        "bookings.cancel_fee": samples.CANCELLATION_FEE,
        "tickets.cancel": {"ticket_id": it.ticket_id, "status": "cancelled"},
        "tickets.mark_paid": {"ticket_id": it.ticket_id, "payment_status": "paid"},
        "bookings.get": {**samples.BOOKING, **ids, **stands},
        "tickets.get": ticket,
        "mcp.view_ticket": ticket,
        "availability.search": [samples.AVAILABILITY],
        "catalogue.ports": {"ports": _PORTS},
    }
    return contents.get(operation, _PORTS)


@dataclass(slots=True)
class Exchange:
    stroke: Stroke
    correlation_id: str  # of which call it is; where it was cut too early, the last that began
    request: ServiceCall

    @property
    def is_refused(self):
        return self.stroke.kind.truth in {"refused", "turned away", "contradiction"}

    @property
    def is_turned_away(self):
        return self.stroke.kind.truth == "turned away"


class HostileServer:
    def __init__(self):
        self.service = Service()
        self.strokes = []
        self.exchanges = []
        self.call = self.earlier = self.traveller = ""
        self.on_event = lambda _: None
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.base_url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._lock = threading.Lock()
        self._links = {}
        self._over = threading.Event()
        self._has_session = False
        self._together = threading.Barrier(1)

    def __enter__(self):
        threading.Thread(target=self._accept, name="hostile server", daemon=True).start()
        return self

    def __exit__(self, *_):
        self.hang_up()
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def reset(self, traveller):
        self.hang_up()
        self.service = Service()
        self.strokes, self.exchanges = [], []
        self.traveller = traveller
        self._has_session = False
        self.gather(1)

    def begin(self, call, strokes=()):
        self.call, self.earlier = call, self.call
        self.strokes = list(strokes)

    def hang_up(self):
        """End every connection; what came by one has been read when this returns."""
        # It is accepted after all that wait to be accepted.
        with socket.create_connection(self._listener.getsockname()) as last, suppress(OSError):
            last.shutdown(socket.SHUT_WR)
            last.recv(1)
        with self._lock:
            links, self._links = self._links, {}
            self._over.set()
            self._over = threading.Event()
        for link in links:
            with suppress(OSError):
                link.shutdown(socket.SHUT_RDWR)
        for thread in links.values():
            thread.join(_PATIENCE)

    def gather(self, requests):
        self._together.abort()
        self._together = threading.Barrier(requests)

    def of_call(self, call):
        return [one for one in [*self.exchanges] if one.correlation_id == call]

    def _accept(self):
        with suppress(OSError):
            while True:
                link, _ = self._listener.accept()
                link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                link.settimeout(_PATIENCE)
                threading.Thread(target=self._serve, args=(link,), daemon=True).start()

    def _serve(self, link):
        with self._lock:
            self._links[link] = threading.current_thread()
            connection = _Connection(link, self._over)
        try:
            with link, suppress(OSError, EOFError, threading.BrokenBarrierError):
                if self.strokes and self.strokes[0].kind.cut == "accept":
                    connection.end(reset="reset" in self.strokes.pop(0).name)
                    return
                while self._answers_one(connection):
                    pass
        finally:
            with self._lock:
                self._links.pop(link, None)

    def _answers_one(self, connection):
        method, path, _ = connection.read_to(b"\r\n").decode("latin-1").split(" ", 2)
        stroke = self._stroke(path)
        exchange = Exchange(stroke, self.call, parse_call(method, path, b""))
        self.exchanges.append(exchange)
        headers = {}
        if stroke.kind.cut != "head":
            lines = connection.read_to(b"\r\n\r\n").decode("latin-1").split("\r\n")
            members = (line.partition(":") for line in lines)
            headers = {name.lower(): value.strip() for name, _, value in members}
            exchange.correlation_id = headers["x-client-correlation-id"]
        if stroke.kind.cut is None:
            body = connection.read(int(headers.get("content-length", 0)))
            exchange.request = request = parse_call(method, path, body)
            if request.effect is not None and stroke.does():
                self.service.perform(request, exchange.correlation_id)
        self.on_event("request")
        if exchange.request.operation == "catalogue.ports":
            self._together.wait(_PATIENCE)
        lasts = connection.give(self._steps(exchange, headers))
        self.on_event("reply")
        return lasts

    def _stroke(self, path):
        if path == "/mcp" and not self._has_session:
            return Stroke()
        with self._lock:
            while self.strokes:
                stroke = self.strokes.pop(0)
                if stroke.kind.cut != "accept":  # its connection stands already
                    return stroke
        return Stroke()

    def _steps(self, exchange, headers):
        request = exchange.request
        if request.operation == "mcp.notifications/initialized":
            self._has_session = True
            return [b"HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n"]
        if exchange.stroke.name == "a session that is not known":
            self._has_session = False
        kind = exchange.stroke.kind
        if kind.protocol == "mcp" and not request.is_mcp:
            kind = Stroke().kind
        result = _result(request)
        status, value = (200, result) if result else self.service.answer(request)
        other = self.service.book(is_confirmed=True)
        reply = Reply(
            status,
            value,
            result or self.service.answer(request, other)[1],
            request.message_id,
            exchange.correlation_id,
            self.earlier,
            self.traveller,
            headers.get("authorization", "").removeprefix("Bearer "),
            Random(exchange.stroke.seed),  # noqa: S311 -- no secret is drawn
            result is not None,
            (("mcp-session-id", "s-1"),) if result is _OPENED else (),
        )
        steps = kind.steps(reply)
        return [steps] if isinstance(steps, bytes) else steps


class _Connection:
    """A connection, and what has come by it that is not read yet."""

    def __init__(self, link, over):
        self._link = link
        self._over = over
        self._data = bytearray()

    def read_to(self, marker):
        """What comes before the marker, which is left out."""
        while marker not in self._data:
            self._receive()
        found, _, self._data = self._data.partition(marker)
        return bytes(found)

    def read(self, size):
        while len(self._data) < size:
            self._receive()
        found, self._data = self._data[:size], self._data[size:]
        return bytes(found)

    def _receive(self):
        data = self._link.recv(65_536)
        if not data:
            raise EOFError
        self._data += data

    def give(self, steps):
        """Take the steps; whether the connection lasts."""
        for step in steps:
            match step:
                case End():
                    self.end(reset=step is End.RESET)
                    return False
                case float():
                    if self._over.wait(step):
                        return False
                case bytes():
                    self._link.sendall(step)
        return True

    def end(self, *, reset):
        if reset:
            self._link.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)
        self._link.close()


def _result(request):
    """The result of JSON-RPC where no tool is called; None where one is, and for REST."""
    match request.operation:
        case "mcp.initialize":
            return _OPENED
        case "mcp.tools/list":
            return {"tools": []}
        case "mcp.resources/read":
            return {"contents": [{"uri": "x", "text": encode(_PORTS).decode()}]}
    return None
