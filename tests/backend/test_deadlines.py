"""A deadline holds wherever else a call waits, and says what became of it."""

import subprocess
import sys
import threading
from contextlib import ExitStack
from functools import partial

import anyio
import anyio.to_thread
import httpx
import pytest

from ferry_sdk import (
    AsyncFerry,
    ConfigurationError,
    Ferry,
    OutcomeUnknownError,
    RequestTimeoutError,
)
from tests.backend.gathering import UnderWay, eventually
from tests.backend.hurry import DEADLINE, LATE, TRIES, confirm, in_time, is_right, read, threads_end
from tests.support.hold import Hold
from tests.support.tiers import mostly_long

pytestmark = pytest.mark.usefixtures("warm")


@pytest.mark.parametrize("fault", ["rate_limited", "server_error"])
def test_pauses_between_attempts(new_client, ferry_sandbox, monkeypatch, fault):
    monkeypatch.setattr("ferry_sdk._engine.retry._retry_delay", lambda _: 0.1)
    ferry_sandbox.faults.add(fault, "catalogue.vehicle_types", times=None)
    ferry = new_client(deadline=DEADLINE, max_retries=1000)
    error = in_time(lambda: read(ferry))
    assert len(error.attempts) >= 2


def test_a_pause_asked_for_that_is_longer_is_not_made(new_client, ferry_sandbox):
    ferry_sandbox.faults.add("rate_limited", "catalogue.vehicle_types", times=None, retry_after=5)
    outcome = UnderWay(lambda: read(new_client(deadline=4))).outcome()
    assert getattr(outcome.error, "retry_after", None) == 5
    assert outcome.seconds < 4


def test_the_lock_of_a_handshake_that_another_call_makes(new_client, ferry_sandbox, booking_id):
    ferry = new_client()
    hold = Hold(ferry_sandbox, "mcp.initialize")
    slow = UnderWay(ferry.mcp.countries)
    eventually(lambda: hold.held)
    hurried = ferry.with_options(deadline=DEADLINE)
    is_right(confirm, in_time(lambda: hurried.mcp.confirm_booking(booking_id)), "not_sent")
    assert not slow.is_over
    hold.release()
    assert slow.value()
    assert not ferry_sandbox.counters.requests["mcp.confirm_booking"]


def test_a_handshake_of_mcp_that_takes_too_long(new_client, ferry_sandbox, booking_id):
    ferry_sandbox.faults.add("delay_before", "mcp.initialize", seconds=20, times=None)
    ferry = new_client(deadline=DEADLINE)
    is_right(confirm, in_time(lambda: ferry.mcp.confirm_booking(booking_id)), "not_sent")
    assert not ferry_sandbox.counters.requests["mcp.confirm_booking"]
    threads_end()


def test_a_token_that_does_not_come(ferry_sandbox, portal):
    ferry = AsyncFerry(lambda: anyio.sleep(30), base_url=ferry_sandbox.base_url, deadline=DEADLINE)
    for call in (ferry.catalogue.vehicle_types, partial(ferry.bookings.confirm, "b-1")):
        error = in_time(partial(portal.call, call))
        assert type(error) is RequestTimeoutError
        assert error.outcome == "not_sent"
    portal.call(ferry.aclose)


def test_a_token_that_another_call_asks_for(ferry_sandbox, any_clients):
    asked, gate = threading.Event(), threading.Event()

    def token():
        asked.set()
        gate.wait(20)
        return ferry_sandbox.token

    async def atoken():
        return await anyio.to_thread.run_sync(token)

    ferry = any_clients(atoken if any_clients.is_async else token, base_url=ferry_sandbox.base_url)
    slow = UnderWay(lambda: read(ferry))
    assert asked.wait(20)
    hurried = ferry.with_options(deadline=DEADLINE)
    is_right(confirm, in_time(lambda: confirm(hurried)), "not_sent")
    gate.set()
    assert slow.value()


@pytest.mark.parametrize(
    "fault", mostly_long(["server_error", "delay_before", "not_json"], short=2)
)
def test_reading_back(new_client, ferry_sandbox, new_booking, fault):
    ferry = new_client(deadline=2 * DEADLINE)
    details = {"seconds": 20} if fault == "delay_before" else {}

    def once():
        ferry_sandbox.faults.clear()
        booking_id = new_booking()
        ferry_sandbox.faults.add("lose_reply", "bookings.confirm")
        ferry_sandbox.faults.add(fault, "bookings.get", times=None, **details)
        return timed(lambda: ferry.bookings.confirm(booking_id))

    for _ in range(TRIES):
        seconds, error = once()
        if error.outcome == "not_sent":  # a busy machine left no time to send it
            continue
        assert type(error) is OutcomeUnknownError
        assert len(ferry_sandbox.counters.effects) == 1
        if seconds <= 2 * DEADLINE + LATE:
            break
    else:
        raise AssertionError(f"{seconds:.2f} s, time and again")
    threads_end()


def timed(call):
    outcome = UnderWay(call).outcome()
    return outcome.seconds, outcome.error


def test_an_effect_that_is_never_seen(new_client, ferry_sandbox):
    ferry = new_client(deadline=2 * DEADLINE)
    ferry_sandbox.faults.add("cut_before", "bookings.confirm", times=None)
    error = in_time(lambda: confirm(ferry), 2 * DEADLINE, outcome="unknown")
    assert type(error) is OutcomeUnknownError


def test_what_is_in_time_is_not_disturbed(new_client, ferry_sandbox, booking_id):
    ferry = new_client(deadline=20)
    assert read(ferry)
    assert ferry.bookings.confirm(booking_id).booking_id == booking_id
    connections = ferry_sandbox.counters.connections
    for _ in range(5):
        assert read(ferry)
    assert ferry_sandbox.counters.connections == connections
    threads_end()


TOO_LARGE = 2**46


@pytest.mark.parametrize("with_journal", [False, True])
@pytest.mark.parametrize("http_client", [None, httpx.Client])
def test_where_no_thread_can_be_started_a_call_with_a_deadline_is_not_sent(
    ferry_sandbox, booking_id, journal, http_client, with_journal
):
    with ExitStack() as stack:
        ferry = stack.enter_context(
            Ferry(
                ferry_sandbox.token,
                base_url=ferry_sandbox.base_url,
                deadline=20,
                http_client=http_client and stack.enter_context(http_client()),
                journal=journal if with_journal else None,
            )
        )
        for call in (lambda: read(ferry), lambda: ferry.bookings.confirm(booking_id)):
            threading.stack_size(TOO_LARGE)  # no thread has so much memory
            try:
                with pytest.raises(ConfigurationError, match=r"^deadline: ") as caught:
                    call()
            finally:
                threading.stack_size(0)
            assert caught.value.outcome == "not_sent"
        assert not ferry_sandbox.counters.requests["bookings.confirm"]
        assert not journal.unresolved()
        assert ferry.bookings.confirm(booking_id).booking_id == booking_id


def test_where_no_thread_can_be_started_an_async_write_is_on_record_all_the_same(
    ferry_sandbox, booking_id, journal, portal, monkeypatch
):
    start = threading.Thread.start

    def refuse(thread):
        if thread.name == "ferry_sdk call":
            raise RuntimeError("can't create new thread at interpreter shutdown")
        start(thread)

    async def confirm_it():
        async with AsyncFerry(
            ferry_sandbox.token, base_url=ferry_sandbox.base_url, deadline=20, journal=journal
        ) as ferry:
            return (await ferry.bookings.confirm(booking_id)).booking_id

    monkeypatch.setattr(threading.Thread, "start", refuse)
    assert portal.call(confirm_it) == booking_id
    assert not journal.unresolved()


AT_THE_END = """
import atexit
from ferry_sdk import Ferry, FerryError

ferry = Ferry({token!r}, base_url={base_url!r}, deadline=20)
assert ferry.catalogue.vehicle_types()

@atexit.register
def late():
    for call in (ferry.catalogue.vehicle_types, lambda: ferry.bookings.confirm({booking_id!r})):
        try:
            call()
            print("done")
        except FerryError as error:
            print(error.outcome)
"""


def test_at_the_end_of_the_interpreter_a_call_is_made_or_not_sent(ferry_sandbox, booking_id):
    program = AT_THE_END.format(
        token=ferry_sandbox.token, base_url=ferry_sandbox.base_url, booking_id=booking_id
    )
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=50
    )
    assert not ended.stderr
    confirmed = "done" if ferry_sandbox.counters.requests["bookings.confirm"] else "not_sent"
    assert ended.stdout.split() in (["done", confirmed], ["not_sent", confirmed])
