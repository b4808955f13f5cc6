"""One connection through the proxy: requests passed on and replies passed back, harmed or not."""

import select
import socket
import struct
import threading
from contextlib import suppress

from .cutting_harms import Harm, is_whole, offset_of

_NO_HARM = Harm("delay_request")
_RESET = struct.pack("ii", 1, 0)
_PIECE = 65_536
_PATIENCE = 3.0


class Link(threading.Thread):
    """One connection of a client through the proxy, and the harm that it suffers."""

    def __init__(self, desk, client, service, harm):
        super().__init__(daemon=True)
        self._desk = desk
        self._client = client
        self._address = service
        self._service = None
        self._harm = harm
        self._passage = None
        self._lock = threading.Lock()
        self._is_idle = self._is_last = self._client_left = False
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def drop(self):
        for link in (self._client, self._service):
            if link is not None:
                with suppress(OSError):  # the other side was faster
                    link.shutdown(socket.SHUT_RDWR)

    def end_soon(self):
        """End it now if it is idle, else behind the reply that it is busy with."""
        with self._lock:
            self._is_last = True
            if self._is_idle:
                self.drop()

    def run(self):
        """Pass on request after request until either side ends it."""
        try:
            if self._harm is not None:
                self._cut(reset=self._harm.reset)
            while self._awaits_request():
                self._passage = self._desk.begun()
                self._pass(self._passage)
                self._desk.over(self._passage)
            self._outlast()
        except OSError:
            pass  # one side is gone, and so is the other in a moment
        finally:
            self._client.close()
            if self._service is not None:
                self._service.close()
            if self._passage is not None:
                self._desk.over(self._passage)
            self._desk.left(self)

    def _awaits_request(self):
        """Whether a request begins, rather than that either side ends the connection."""
        with self._lock:
            if not self._is_last and not self._client_left:
                self._is_idle = True
        if self._is_idle:
            links = [self._client, *([self._service] if self._service else [])]
            ready, _, _ = select.select(links, [], [])
            with self._lock:
                self._is_idle = False
            if self._client in ready:
                return bool(self._client.recv(1, socket.MSG_PEEK))
        self._cut(reset=False)
        return False

    def _pass(self, passage):
        harm = passage.harm or _NO_HARM
        offset = self._receive(passage, harm)
        if offset is None:
            return
        if harm.kind == "swallow":
            self._desk.over(passage)
            self._outlast()
            return
        if harm.kind == "delay_request" and not self._desk.pause(harm.seconds):
            return
        self._forward(passage, offset)
        if harm.kind == "cut_request":
            self._cut(reset=harm.reset)
        if not passage.reached_service:
            return
        for piece in self._pieces(passage):
            if harm.kind == "delay_request":
                self._deliver(passage, piece)
        self._answer(passage, harm)

    def _receive(self, passage, harm):
        at = harm.at if harm.kind == "cut_request" else "all"
        while (end := offset_of(at, passage.request)) is None or len(passage.request) < end:
            data = self._client.recv(_PIECE)
            if not data:
                self._client_left = True
                return None
            passage.request += data
        return end

    def _forward(self, passage, end):
        if self._service is None:
            self._service = socket.create_connection(self._address)
            self._service.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._service.sendall(passage.request[:end])
        passage.forwarded = end

    def _pieces(self, passage):
        """The service's reply as it comes, to its end or the connection's."""
        assert self._service is not None
        watched = [self._service, *([] if self._client_left else [self._client])]
        while not is_whole(passage.reply):
            ready, _, _ = select.select(watched, [], [], _PATIENCE if self._client_left else None)
            if self._client in ready:
                watched.remove(self._client)  # it left, or what it wants comes after this
                self._client_left = self._has_left()
            if self._service in ready:
                piece = self._service.recv(_PIECE)
                if not piece:
                    return
                passage.reply += piece
                yield piece
            if not ready:
                return

    def _answer(self, passage, harm):
        """Give the client of a reply that was read what the harm leaves of it."""
        reply = passage.reply
        if harm.kind == "withhold":
            self._desk.over(passage)
            self._outlast()
        elif harm.kind == "cut_reply":
            self._deliver(passage, reply[: offset_of(harm.at, reply)])
            self._cut(reset=harm.reset)
        elif harm.kind == "trickle":
            for index in range(len(reply)):
                if self._client_left or not self._desk.pause(harm.seconds):
                    return
                self._deliver(passage, reply[index : index + 1])
        elif harm.kind == "delay_reply" and self._desk.pause(harm.seconds):
            self._deliver(passage, reply)
        if not is_whole(reply):
            self._cut(reset=False)

    def _deliver(self, passage, data):
        if not self._client_left and select.select([self._client], [], [], 0)[0]:
            self._client_left = self._has_left()
        if self._client_left:
            return
        try:
            self._client.sendall(data)
        except OSError:
            self._client_left = True
        else:
            passage.delivered += len(data)

    def _cut(self, *, reset):
        self._is_last = True
        if self._client_left:
            return
        if not reset:
            self._client.shutdown(socket.SHUT_WR)
            return
        with suppress(BlockingIOError):
            self._note(self._client.recv(_PIECE, socket.MSG_DONTWAIT))
        self._client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        self._client.close()
        self._client_left = True

    def _outlast(self):
        """Say no more, and note what comes until the client ends the connection."""
        said = b""
        try:
            while not self._client_left:
                data = self._client.recv(_PIECE)
                said += data
                self._client_left = not data
        finally:
            self._note(said)

    def _note(self, said):
        """Note bytes that go nowhere: the rest of the request that was cut, or one more."""
        if self._passage is not None and not is_whole(self._passage.request):
            self._passage.request += said
        elif said:
            self._desk.stray(said)

    def _has_left(self):
        try:
            return not self._client.recv(1, socket.MSG_PEEK)
        except OSError:
            return True
