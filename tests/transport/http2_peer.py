"""HTTP/2 as a scripted service speaks it."""

from __future__ import annotations

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import ConnectionTerminated, RequestReceived, StreamEnded
from h2.settings import SettingCodes
from hyperframe.frame import GoAwayFrame

from tests.transport.scripted import answer_to, in_turn


class Peer:
    """The service's end of a connection of many streams."""

    def __init__(self, connection):
        self._connection = connection
        self._lines: dict[int, str] = {}
        self._whole: list[int] = []
        self._state = H2Connection(H2Configuration(client_side=False, header_encoding="utf-8"))
        self._state.initiate_connection()
        self._flush()

    def begun(self):
        """The stream of the next request that begins; None where the client closes instead."""
        seen = len(self._lines)
        while len(self._lines) == seen:
            if not self._read():
                return None
        return max(self._lines)

    def request(self):
        """The stream of the next request, read whole; None where the client closes instead."""
        while not self._whole:
            if not self._read():
                return None
        stream = self._whole.pop(0)
        self._connection.service.asked.append(self._lines[stream])
        return stream

    def answer(self, stream):
        """Answer a request."""
        self._state.send_headers(stream, [(":status", "200"), ("content-type", "application/json")])
        self._state.send_data(stream, answer_to(self._lines[stream]), end_stream=True)
        self._flush()

    def refuse(self, stream, code):
        """Reset a stream."""
        self._state.reset_stream(stream, error_code=code)
        self._flush()

    def go_away(self, last):
        """Promise that nothing after that stream is or will be done."""
        for stream, line in self._lines.items():
            if stream > last:
                self._connection.service.asked.remove(line)
        frame = GoAwayFrame(0, last_stream_id=last, error_code=0)
        self._connection.socket.sendall(frame.serialize())

    def allow(self, streams):
        """Let the client have so many streams at a time."""
        self._state.update_settings({SettingCodes.MAX_CONCURRENT_STREAMS: streams})
        self._flush()

    def serve(self):
        """Answer everything."""
        while stream := self.request():
            self.answer(stream)

    def _read(self):
        received = self._connection.receive()
        for event in self._state.receive_data(received) if received else ():
            if isinstance(event, RequestReceived):
                headers = dict(event.headers)
                self._lines[event.stream_id] = f"{headers[':method']} {headers[':path']}"
            elif isinstance(event, StreamEnded):
                self._whole.append(event.stream_id)
            elif isinstance(event, ConnectionTerminated):
                return False
        self._flush()
        return bool(received)

    def _flush(self):
        self._connection.socket.sendall(self._state.data_to_send())


def over_http2(context, follow=Peer.serve):
    """What is done on a connection of HTTP/2."""
    return in_turn(
        lambda connection: connection.secure(context), lambda connection: follow(Peer(connection))
    )
