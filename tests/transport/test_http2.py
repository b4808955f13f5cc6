"""HTTP/2: a stream that was begun was sent, whatever became of the connection."""

import pytest
from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.errors import ErrorCodes
from h2.events import ConnectionTerminated, RequestReceived, StreamEnded
from hyperframe.frame import GoAwayFrame

from tests.transport.calls import ABANDONED_BODY, READ, is_sent_once, is_tried_again, sent
from tests.transport.conftest import of_a_server
from tests.transport.scripted import Service, answer_to, over_tls

pytestmark = pytest.mark.filterwarnings(ABANDONED_BODY)


class Peer:
    """A service of HTTP/2 on one connection."""

    def __init__(self, connection):
        self._connection = connection
        self._lines: dict[int, str] = {}
        self._whole: list[int] = []
        self._state = H2Connection(H2Configuration(client_side=False, header_encoding="utf-8"))
        self._state.initiate_connection()
        self._flush()

    def begun(self):
        """Wait until a request begins."""
        while not self._lines and self._read():
            pass

    def request(self):
        """Return the stream of the next request, read whole; 0 if the client closes instead."""
        while not self._whole:
            if not self._read():
                return 0
        stream = self._whole.pop(0)
        self._connection.service.asked.append(self._lines[stream])
        return stream

    def answer(self, stream):
        self._state.send_headers(stream, [(":status", "200"), ("content-type", "application/json")])
        self._state.send_data(stream, answer_to(self._lines[stream]), end_stream=True)
        self._flush()

    def go_away(self, last):
        """Promise that nothing was done after a stream, and that nothing will be."""
        for stream, line in self._lines.items():
            if stream > last:
                self._connection.service.asked.remove(line)
        frame = GoAwayFrame(0, last_stream_id=last, error_code=0)
        self._connection.socket.sendall(frame.serialize())

    def serve(self):
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
    return over_tls(context, lambda connection: follow(Peer(connection)))


@pytest.fixture(scope="session")
def many(authority):
    context = of_a_server(authority, "localhost")
    context.set_alpn_protocols(["h2"])
    return context


def test_a_handshake_that_fails(caller, any_call, many, untrusted):
    with Service(over_tls(untrusted), over_http2(many)) as service:
        is_tried_again(caller, any_call, caller.ferry(service.secure_url, http2=True), service)


def reset_by(code):
    def refused(peer):
        peer._state.reset_stream(peer.request(), error_code=code)
        peer._flush()
        peer.serve()

    return refused


@pytest.mark.parametrize(
    ("fault", "seen"),
    [
        pytest.param(Peer.begun, 0, id="cut as it begins"),
        pytest.param(lambda peer: peer.go_away(0), 0, id="sent away at once"),
        pytest.param(Peer.request, 1, id="cut when it is whole"),
        # Its code says that nothing was done, but the HTTP library does not pass it on.
        pytest.param(reset_by(ErrorCodes.REFUSED_STREAM), 1, id="refused"),
        pytest.param(reset_by(ErrorCodes.INTERNAL_ERROR), 1, id="reset"),
    ],
)
def test_a_stream_that_fails(caller, any_call, fault, seen, many):
    with Service(over_http2(many, fault), over_http2(many)) as service:
        ferry = caller.ferry(service.secure_url, http2=True)
        is_sent_once(caller, any_call, ferry, service, seen=seen)


def test_a_stream_promised_unread_moves_on(caller, any_call, many):
    def sent_away(peer):
        first = peer.request()
        peer.answer(first)
        peer.request()
        peer.go_away(first)
        peer.request()

    with Service(over_http2(many, sent_away), over_http2(many)) as service:
        ferry = caller.ferry(service.secure_url, http2=True)
        READ.make(ferry)
        assert sent(any_call.make(ferry).attempts) == [True]
        assert service.asked == [READ.line, any_call.line]
