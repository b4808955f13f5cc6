"""A client closed while calls are in flight: nothing hangs, and nobody is left guessing."""

import logging
from contextlib import suppress

import anyio
import httpcore
import pytest

import ferry_sdk as sdk
from ferry_sdk import ConfigurationError, ConnectionFailedError, Ferry, OutcomeUnknownError
from tests.backend.descriptors import connections_to
from tests.backend.gathering import UnderWay, at_once, eventually
from tests.support.exchanges import caught
from tests.support.hold import Hold
from tests.transport.calls import CONFIRM, CREATE, READ
from tests.transport.scripted import Service, hang, in_turn, read_request

pytestmark = pytest.mark.own_http_client(reason="a caller's own client is the caller's to close")

SOON = 5.0
"""Seconds after which a call that was cut off has hung."""


@pytest.fixture(params=[None, 30], ids=["no deadline", "deadline"])
def deadline(request):
    return request.param


@pytest.fixture(autouse=True)
def _logged(caplog):
    caplog.set_level(logging.INFO, "ferry_sdk")


def cut_off(call):
    outcome = call.outcome()
    assert outcome.seconds < SOON * 2
    assert isinstance(outcome.error, sdk.FerryError), outcome
    return outcome.error


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        pytest.param(READ, sdk.FerryError, id="read"),
        pytest.param(CREATE, OutcomeUnknownError, id="creation"),
        pytest.param(CONFIRM, OutcomeUnknownError, id="confirmation"),
    ],
)
def test_calls_in_flight_end_at_once(any_clients, deadline, call, kind):
    with Service(in_turn(read_request, hang)) as service:
        ferry = any_clients("t", base_url=service.url, deadline=deadline)
        count = 1 if call is CONFIRM else 3  # others would join it, sooner or later
        calls = [UnderWay(lambda: call.make(ferry)) for _ in range(count)]
        eventually(lambda: len(service.asked) == count)
        closed = UnderWay(ferry.close).outcome()
        assert closed.error is None
        assert closed.seconds < SOON
        for one in calls:
            assert isinstance(cut_off(one), kind)
        eventually(lambda: not connections_to(service.url), SOON)


def ends_of(calls):
    """Return the outcome that each of the calls reports."""
    return [cut_off(call).outcome for call in calls]


def test_a_call_that_connects_ends(any_clients, deadline):
    with Service(hang) as service:
        # A handshake of TLS is given up in its own time, as closing does not wake it.
        ferry = any_clients("t", base_url=service.secure_url, deadline=deadline, timeout=0.5)
        call = UnderWay(lambda: CONFIRM.make(ferry))
        eventually(lambda: connections_to(service.url))
        ferry.close()
        assert ends_of([call]) == ["not_sent"]


def test_calls_that_wait_for_an_mcp_handshake_end(new_client, ferry_sandbox, booking_id, deadline):
    ferry = new_client(deadline=deadline)
    hold = Hold(ferry_sandbox, "mcp.initialize")
    calls = at_once(*[lambda: ferry.mcp.confirm_booking(booking_id)] * 2)
    eventually(lambda: hold.held)
    ferry.close()
    assert ends_of(calls) == ["not_sent"] * 2


def test_calls_that_joined_another_end(new_client, ferry_sandbox, booking_id, joined, deadline):
    ferry = new_client(deadline=deadline)
    hold = Hold(ferry_sandbox, "bookings.confirm")
    calls = at_once(*[lambda: ferry.bookings.confirm(booking_id)] * 3)
    eventually(lambda: hold.held and len(joined) == 2)
    ferry.close()
    assert ends_of(calls) == ["unknown"] * 3


def test_calls_that_pause_end(new_client, ferry_sandbox, booking_id, caplog, deadline):
    ferry = new_client(deadline=deadline)
    ferry_sandbox.faults.add("rate_limited", "*", times=None, retry_after=20)
    view = ferry.with_options(language="fr")
    reads = (ferry.catalogue.ports, view.catalogue.ports, view.catalogue.ports)
    calls = at_once(lambda: ferry.bookings.confirm(booking_id), *reads)
    eventually(lambda: caplog.text.count("next attempt") == 4)
    ferry.close()
    for call in calls:
        error = cut_off(call)
        assert isinstance(error, ConfigurationError)
        assert "the client is closed" in str(error)
        assert error.outcome == "rejected"
        assert [attempt.status_code for attempt in error.attempts] == [429]


def test_closing_leaves_a_write_in_doubt(new_client, ferry_sandbox, booking_id, journal, caplog):
    ferry = new_client(journal=journal)
    ferry_sandbox.faults.add("lose_reply", "bookings.confirm")
    ferry_sandbox.faults.add("rate_limited", "bookings.get", times=None, retry_after=20)
    call = UnderWay(lambda: ferry.bookings.confirm(booking_id))
    eventually(lambda: "next attempt" in caplog.text)
    ferry.close()
    assert isinstance(cut_off(call), OutcomeUnknownError)
    assert [entry.state for entry in journal.unresolved()] == ["unknown"]


def test_closing_in_another_event_loop_ends_calls(ferry_sandbox, portal, caplog):
    ferry = sdk.AsyncFerry(ferry_sandbox.token, base_url=ferry_sandbox.base_url)
    ferry_sandbox.faults.add("rate_limited", "*", times=None, retry_after=50)
    call = portal.start_task_soon(ferry.catalogue.ports)
    eventually(lambda: "next attempt" in caplog.text)
    anyio.run(ferry.aclose)
    assert "the client is closed" in str(call.exception(SOON))
    portal.call(ferry.aclose)


def test_closing_a_view_closes_nothing(new_client):
    ferry = new_client()
    ferry.with_options(language="fr").close()
    assert ferry.catalogue.vehicle_types()


@pytest.mark.parametrize("has_called", [True, False])
def test_later_calls_are_refused(new_client, ferry_sandbox, has_called):
    ferry = new_client()
    view = ferry.with_options(language="fr")
    if has_called:
        assert ferry.catalogue.vehicle_types()
    ferry.close()
    ferry.close()
    ferry_sandbox.counters.reset()
    for one in (ferry, view):
        for call in (READ.make, CONFIRM.make, CREATE.make, lambda ferry: ferry.mcp.ports()):
            error = caught(ConfigurationError, call, one)
            assert "the client is closed" in str(error)
            assert error.outcome == "not_sent"
    assert not ferry_sandbox.counters.requests


def test_a_block_that_fails_closes_the_client(ferry_sandbox):
    ferry = Ferry(ferry_sandbox.token, base_url=ferry_sandbox.base_url)
    with suppress(ZeroDivisionError), ferry:
        ferry.catalogue.vehicle_types()
        raise ZeroDivisionError
    assert not connections_to(ferry_sandbox.base_url)
    caught(ConfigurationError, ferry.catalogue.vehicle_types)


def test_clients_can_close_during_calls(new_client, ferry_sandbox):
    for _ in range(6):
        ferry = new_client(max_retries=1)

        def call(ferry=ferry):
            with suppress(ConfigurationError, ConnectionFailedError):
                while True:
                    ferry.catalogue.vehicle_types()

        calls = at_once(*[call] * 6)
        eventually(lambda: ferry_sandbox.counters.requests["catalogue.vehicle_types"] > 6)
        ferry_sandbox.counters.reset()
        ferry.close()
        for one in calls:
            one.value()
    eventually(lambda: not connections_to(ferry_sandbox.base_url), SOON)


def test_closing_stops_a_write_that_was_not_sent(monkeypatch):
    connect = httpcore.SyncBackend.connect_tcp

    def connect_and_close(*where):
        stream = connect(*where)
        ferry.close()
        return stream

    monkeypatch.setattr(httpcore.SyncBackend, "connect_tcp", connect_and_close)
    with Service(in_turn(read_request, hang)) as service:
        ferry = Ferry("t", base_url=service.url, max_retries=0)
        error = caught(ConnectionFailedError, CREATE.make, ferry)
        assert (error.outcome, service.asked) == ("not_sent", [])
    assert "the client was closed during the call" in str(error)
