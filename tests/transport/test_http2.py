"""HTTP/2: a stream that was begun was sent, whatever became of the connection."""

import ssl
import threading
import time

import pytest
from h2.errors import ErrorCodes

from ferry_sdk import FerryError, OutcomeUnknownError
from tests.transport.calls import ABANDONED_BODY, CREATE, READ, is_sent_once, is_tried_again, sent
from tests.transport.http2_peer import Peer, over_http2
from tests.transport.scripted import Service, over_tls

pytestmark = pytest.mark.filterwarnings(ABANDONED_BODY)


@pytest.fixture(scope="session")
def many(authority):
    """TLS of a service that speaks HTTP/2."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("localhost").configure_cert(context)
    context.set_alpn_protocols(["h2"])
    return context


def together(ferry, *calls):
    """What the calls end with, made at the same time."""
    ends = []

    def made(call):
        try:
            ends.append(call.make(ferry))
        except FerryError as error:
            ends.append(error)

    threads = [threading.Thread(target=made, args=(call,)) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return ends


def test_an_answer(caller, any_call, many):
    with Service(over_http2(many)) as service:
        raw = any_call.make(caller.ferry(service.secure_url, http2=True))
        assert sent(raw.attempts) == [True]
        assert service.asked == [any_call.line]


def test_no_handshake(caller, any_call, many, untrusted):
    with Service(over_tls(untrusted), over_http2(many)) as service:
        ferry = caller.ferry(service.secure_url, http2=True)
        is_tried_again(caller, any_call, ferry, service)


def reset_by(code):
    def refused(peer):
        peer.refuse(peer.request() or 0, code)
        peer.serve()

    return refused


@pytest.mark.parametrize(
    ("fault", "seen"),
    [
        pytest.param(Peer.begun, 0, id="cut as it begins"),
        pytest.param(Peer.request, 1, id="cut when it is whole"),
        # that nothing was done with it is not said in a way that reaches us
        pytest.param(reset_by(ErrorCodes.REFUSED_STREAM), 1, id="refused"),
        pytest.param(reset_by(ErrorCodes.INTERNAL_ERROR), 1, id="reset"),
        pytest.param(lambda peer: peer.go_away(0), 0, id="sent away at once"),
    ],
)
def test_a_stream(caller, any_call, fault, seen, many):
    with Service(over_http2(many, fault), over_http2(many)) as service:
        ferry = caller.ferry(service.secure_url, http2=True)
        is_sent_once(caller, any_call, ferry, service, seen=seen)


def test_a_stream_that_was_promised_not_to_be_looked_at_moves_on(caller, any_call, many):
    def sent_away(peer):
        first = peer.request() or 0
        peer.answer(first)
        peer.request()
        peer.go_away(first)
        peer.request()

    with Service(over_http2(many, sent_away), over_http2(many)) as service:
        ferry = caller.ferry(service.secure_url, http2=True)
        READ.make(ferry)
        raw = any_call.make(ferry)
        assert sent(raw.attempts) == [True]
        assert service.asked == [READ.line, any_call.line]


def test_a_connection_that_is_cut_under_two_streams(caller, many):
    def cut_under_both(peer):
        peer.answer(peer.request() or 0)
        peer.request()
        peer.request()

    with Service(over_http2(many, cut_under_both), over_http2(many)) as service:
        ferry = caller.ferry(service.secure_url, http2=True)
        READ.make(ferry)
        ends = together(ferry, CREATE, CREATE)
        assert [type(end) for end in ends] == [OutcomeUnknownError] * 2
        assert [sent(end.attempts) for end in ends] == [[True]] * 2
        assert service.asked == [READ.line, CREATE.line, CREATE.line]


def test_of_two_streams_the_one_that_was_promised_not_to_be_looked_at_moves_on(caller, many):
    def one_sent_away(peer):
        peer.answer(peer.request() or 0)
        first, _ = peer.request() or 0, peer.request()
        peer.answer(first)
        peer.go_away(first)
        peer.request()

    with Service(over_http2(many, one_sent_away), over_http2(many)) as service:
        ferry = caller.ferry(service.secure_url, http2=True)
        READ.make(ferry)
        ends = together(ferry, CREATE, CREATE)
        assert [sent(end.attempts) for end in ends] == [[True]] * 2
        assert service.asked == [READ.line, CREATE.line, CREATE.line]


def test_a_stream_that_waits_for_its_turn_on_a_connection_that_is_cut(caller, many):
    def one_at_a_time(peer):
        peer.allow(1)
        peer.answer(peer.request() or 0)
        peer.request()
        time.sleep(0.1)

    with Service(over_http2(many, one_at_a_time), over_http2(many)) as service:
        ferry = caller.ferry(service.secure_url, http2=True)
        READ.make(ferry)
        ends = together(ferry, CREATE, CREATE)
        # whether a turn that came too late was used cannot be told, so it counts as sent
        assert [sent(end.attempts) for end in ends] == [[True]] * 2
        assert OutcomeUnknownError in {type(end) for end in ends}
