import socket
import threading
import time
from contextlib import closing, suppress

import pytest

from tests.support.cutting import CuttingProxy
from tests.support.cutting_harms import POSITIONS, Harm, offset_of
from tests.system.effects.ends import ANSWER, REQUEST, Caller, Service


@pytest.fixture
def service():
    with closing(Service()) as made:
        yield made


@pytest.fixture
def proxy(service):
    with CuttingProxy(service.port) as made:
        yield made


@pytest.fixture
def caller(proxy):
    with closing(Caller(proxy)) as made:
        yield made


def test_what_no_order_harms_passes_on_one_connection(proxy, service, caller):
    for _ in range(3):
        caller.say()
        assert caller.hear(len(ANSWER)) == ANSWER
    assert proxy.settle()
    assert [bytes(seen) for seen in service.seen] == [REQUEST * 3]
    assert proxy.accepted == 1
    for passage in proxy.passages:
        assert passage.request == REQUEST
        assert passage.reply == ANSWER
        assert passage.reached_service
        assert passage.was_answered


def test_a_request_that_comes_in_pieces_passes(proxy, caller):
    for index in range(len(REQUEST)):
        caller.say(REQUEST[index : index + 1])
    assert caller.hear(len(ANSWER)) == ANSWER
    assert proxy.passages[0].reached_service


@pytest.mark.parametrize("reset", [False, True], ids=["orderly", "reset"])
@pytest.mark.parametrize("at", POSITIONS)
def test_a_request_is_cut_where_ordered(proxy, service, caller, at, reset):
    proxy.order(Harm("cut_request", at, reset))
    caller.say()
    assert (caller.read_until_reset() if reset else caller.hear()) == b""
    caller.close()
    assert proxy.settle()
    proxy.clear()
    (passage,) = proxy.passages
    assert passage.forwarded == offset_of(at, REQUEST)
    assert passage.reached_service is (at == "all")
    assert passage.delivered == 0
    assert (passage.reply == ANSWER) is (at == "all")
    assert REQUEST.startswith(passage.request[:1])
    assert service.got(REQUEST[: passage.forwarded])


@pytest.mark.parametrize("reset", [False, True], ids=["orderly", "reset"])
@pytest.mark.parametrize("at", POSITIONS)
def test_a_reply_is_cut_where_ordered(proxy, service, caller, at, reset):
    proxy.order(Harm("cut_reply", at, reset))
    caller.say()
    heard = caller.read_until_reset() if reset else caller.hear()
    assert heard == ANSWER[: offset_of(at, ANSWER)]
    (passage,) = proxy.passages
    assert passage.delivered == len(heard)
    assert passage.was_answered is (at == "all")
    assert passage.reached_service
    assert service.got(REQUEST)


def test_the_positions_follow_one_another():
    for message in (REQUEST, ANSWER):
        offsets = [offset_of(at, message) for at in POSITIONS]
        assert offsets == sorted({*offsets}), "every position is behind the one before"
        assert offsets[0] == 0
        assert offsets[-1] == len(message)
        assert message[: offsets[3]].endswith(b"\r\n\r\n")


def test_a_chunked_reply_passes_whole(proxy, service):
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    service.answer = head + b"3\r\nabc\r\n0\r\n\r\n"
    with closing(Caller(proxy)) as caller:
        caller.say()
        assert caller.hear(len(service.answer)) == service.answer
    assert proxy.settle()
    assert proxy.passages[0].was_answered


@pytest.mark.parametrize("reset", [False, True], ids=["orderly", "reset"])
def test_a_connection_is_closed_as_soon_as_it_is_accepted(proxy, service, reset):
    proxy.order(Harm("close", reset=reset))
    # A reset may be as early as the end of the attempt to connect, and is reported only once.
    with suppress(ConnectionError), closing(Caller(proxy)) as caller:
        caller.say()
        assert (caller.read_until_reset() if reset else caller.hear()) == b""
    with closing(Caller(proxy)) as caller:
        caller.say()
        assert caller.hear(len(ANSWER)) == ANSWER
    proxy.clear()
    assert proxy.accepted == 2
    assert service.got(REQUEST)
    assert sum(passage.forwarded for passage in proxy.passages) == len(REQUEST)


def test_a_kept_alive_connection_closes_when_the_next_request_comes(proxy, service, caller):
    proxy.order(Harm("cut_request", "nothing", reset=True, after=1))
    caller.say()
    assert caller.hear(len(ANSWER)) == ANSWER
    assert caller.hears_nothing_for(0.1), "it is open until then"
    caller.say()
    assert caller.read_until_reset() == b""
    first, second = proxy.passages
    assert first.was_answered
    assert second.request
    assert second.forwarded == 0
    assert service.got(REQUEST)


def test_a_refused_connection_is_refused_by_the_system(proxy, service):
    proxy.order(Harm("refuse"))
    for _ in range(3):
        with pytest.raises(ConnectionRefusedError):
            Caller(proxy)
    assert proxy.accepted == 0
    proxy.clear()
    with closing(Caller(proxy)) as caller:
        caller.say()
        assert caller.hear(len(ANSWER)) == ANSWER
    assert service.got(REQUEST)


def test_connections_are_refused_for_a_while(proxy):
    proxy.order(Harm("refuse", seconds=0.8))  # the machine may be busy until it is tried
    with pytest.raises(ConnectionRefusedError):
        Caller(proxy)
    until = time.monotonic() + 10
    while time.monotonic() < until:
        with suppress(ConnectionRefusedError), closing(Caller(proxy)) as caller:
            caller.say()
            assert caller.hear(len(ANSWER)) == ANSWER
            return
        time.sleep(0.02)
    pytest.fail("it is still refused")


def test_the_door_shuts_behind_so_many_requests(proxy, service, caller):
    proxy.order(Harm("refuse", after=2))
    caller.say()
    assert caller.hear(len(ANSWER)) == ANSWER
    with closing(Caller(proxy)) as other:
        assert other.hears_nothing_for(0.05)
        caller.say()
        assert caller.hear() == ANSWER, "the reply, then the end"
        assert other.hear() == b"", "an idle connection ends too"
    with pytest.raises(ConnectionRefusedError):
        Caller(proxy)
    assert service.got(REQUEST * 2)


def test_an_attempt_to_connect_gets_no_answer(proxy):
    proxy.order(Harm("unreachable"))
    port = int(proxy.base_url.rpartition(":")[2])
    with pytest.raises(TimeoutError):
        socket.create_connection(("127.0.0.1", port), timeout=0.3)
    proxy.clear()
    with closing(Caller(proxy)) as caller:
        caller.say()
        assert caller.hear(len(ANSWER)) == ANSWER


def test_a_request_is_swallowed(proxy, service, caller):
    proxy.order(Harm("swallow", times=None))
    caller.say()
    assert caller.hears_nothing_for(0.2)
    assert proxy.settle()
    assert proxy.passages[0].request == REQUEST
    assert proxy.passages[0].forwarded == 0
    assert service.got(b"")


def test_a_reply_is_withheld(proxy, service, caller):
    proxy.order(Harm("withhold"))
    caller.say()
    assert caller.hears_nothing_for(0.2)
    assert proxy.settle()
    assert proxy.passages[0].reply == ANSWER
    assert proxy.passages[0].delivered == 0
    assert service.got(REQUEST)


def test_a_delayed_request_goes_on_though_its_client_has_left(proxy, service, caller):
    proxy.order(Harm("delay_request", seconds=0.2))
    caller.say()
    caller.close()
    assert service.got(REQUEST)
    assert proxy.is_deserted()
    assert proxy.passages[0].reply == ANSWER
    assert not proxy.passages[0].was_answered


@pytest.mark.parametrize("is_request", [True, False])
def test_a_request_or_its_reply_is_delayed(proxy, service, caller, is_request):
    proxy.order(Harm("delay_request" if is_request else "delay_reply", seconds=0.3))
    began = time.monotonic()
    caller.say()
    assert service.got(REQUEST)
    assert not is_request or time.monotonic() - began >= 0.3
    assert caller.hear(len(ANSWER)) == ANSWER
    assert time.monotonic() - began >= 0.3


def test_a_reply_trickles_byte_by_byte_headers_too(proxy, caller):
    proxy.order(Harm("trickle", seconds=0.005))
    began = time.monotonic()
    caller.say()
    assert caller.hear(len(ANSWER)) == ANSWER
    assert time.monotonic() - began > 0.005 * (len(ANSWER) - 1)


def test_orders_let_pass_and_strike_as_often_as_ordered(proxy):
    proxy.order(Harm("cut_reply", after=1, times=2))
    heard = []
    for _ in range(4):
        with closing(Caller(proxy)) as caller:
            caller.say()
            heard.append(caller.hear(len(ANSWER)))
    assert heard == [ANSWER, b"", b"", ANSWER]


def test_what_is_forgotten_leaves_nothing_behind(proxy, service):
    proxy.order(Harm("delay_request", seconds=60, times=None))
    with closing(Caller(proxy)) as caller:
        caller.say()
        assert caller.hears_nothing_for(0.1)
        proxy.forget()
        with suppress(ConnectionError):
            assert caller.hear() == b""
    assert service.got(b""), "it was on its way, and is dropped"
    assert proxy.passages == ()
    assert proxy.accepted == 0


def test_a_reply_without_its_end_is_on_its_way_until_the_client_leaves(
    proxy, service, caller, monkeypatch
):
    monkeypatch.setattr("tests.support.cutting_links._PATIENCE", 0.2)
    service.answer = ANSWER[:-1]
    caller.say()
    assert caller.hear(len(ANSWER) - 1) == ANSWER[:-1]
    assert not proxy.settle(0.1)
    caller.close()
    assert proxy.is_deserted()
    assert proxy.settle()
    assert not proxy.passages[0].was_answered


def test_the_end_of_a_proxy_leaves_no_thread(service):
    before = threading.active_count()
    with CuttingProxy(service.port) as proxy, closing(Caller(proxy)) as caller:
        caller.say()
        assert caller.hear(len(ANSWER)) == ANSWER
    until = time.monotonic() + 5
    while threading.active_count() > before + 1 and time.monotonic() < until:
        time.sleep(0.01)
    assert threading.active_count() <= before + 1, "but for the service's own connection"
