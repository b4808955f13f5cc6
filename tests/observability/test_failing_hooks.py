"""A hook that raises, hangs or is cut short changes nothing of what becomes of a call."""

import logging
import traceback
from contextlib import suppress

import anyio
import anyio.lowlevel
import pytest

from ferry_sdk import AsyncFerry, Ferry, FerryError, RequestTimeoutError
from tests.observability.conftest import NAMES


def warnings_of(caplog):
    own = [record for record in caplog.records if record.name == "ferry_sdk"]
    return [record for record in own if record.levelno >= logging.WARNING]


def failing(_):
    raise ZeroDivisionError("the monitoring is down")


async def afailing(_):
    await anyio.lowlevel.checkpoint()
    failing(_)


@pytest.mark.parametrize("kind", [ZeroDivisionError, StopIteration, RequestTimeoutError])
@pytest.mark.parametrize("name", NAMES)
def test_a_failing_hook_costs_no_confirmation(
    make_client, event_log, ferry_sandbox, booking_id, name, kind
):
    def hook(_):
        raise kind("no")

    hooks = {**event_log.hooks, name: [hook, event_log.events.append]}
    ferry_sandbox.counters.reset()
    ferry_sandbox.faults.add("rate_limited", "bookings.confirm", retry_after=0)
    ferry_sandbox.faults.add("lose_reply", "bookings.confirm")
    assert make_client(event_hooks=hooks).bookings.confirm(booking_id).read_back
    assert len(ferry_sandbox.counters.effects_of("bookings.confirm")) == 1
    both = ["request", "response"]
    assert event_log.kinds == [*both, "retry", *both, *both, "outcome"]


@pytest.fixture
def hook_records(any_clients, make_client, caplog):
    """The records of a client whose hooks for the request and the outcome fail in two calls.

    Returns:
        The warnings, and all other records of hooks.
    """
    caplog.set_level(logging.DEBUG)
    hook = afailing if any_clients.is_async else failing
    ferry = make_client(event_hooks={"request": [hook], "outcome": [hook]})
    ferry.catalogue.ports()
    ferry.with_options(deadline=20).catalogue.ports()
    warnings = warnings_of(caplog)
    others = [record for record in caplog.records if record not in warnings]
    return warnings, [record for record in others if "hook" in record.getMessage()]


def test_a_failing_hook_is_warned_of_once(hook_records):
    (warning,), others = hook_records
    assert "failing failed in catalogue.ports: ZeroDivisionError" in warning.getMessage()
    assert [record.levelno for record in others] == [logging.DEBUG] * 3


def test_a_warning_shows_the_hooks_frames_only(hook_records):
    (warning,), _ = hook_records
    assert warning.exc_info is not None
    files = {frame.filename for frame in traceback.extract_tb(warning.exc_info[2])}
    assert __file__ in files
    assert [file for file in files if "/ferry_sdk/" in file] == []


def test_a_hanging_hook_is_left(portal, ferry_sandbox, caplog, monkeypatch, booking_id, event_log):
    monkeypatch.setattr("ferry_sdk._engine.hook_runner.LONGEST", 0.1)
    hooks = {"response": [lambda _: anyio.sleep(60)], "outcome": [event_log.events.append]}
    settings = {"base_url": ferry_sandbox.base_url, "deadline": 20, "event_hooks": hooks}

    async def main():
        async with AsyncFerry(ferry_sandbox.token, **settings) as ferry:
            with anyio.fail_after(15):
                return await ferry.bookings.confirm(booking_id)

    assert not portal.call(main).read_back
    assert event_log.outcome.outcome == "done"
    (record,) = warnings_of(caplog)
    assert "RequestTimeoutError" in record.getMessage()


@pytest.fixture
def confirm_and_cancel(portal, ferry_sandbox, monkeypatch, noting, booking_id):
    """Confirms a booking with a hook that cancels the call."""
    monkeypatch.setattr("ferry_sdk._engine.hook_runner.LONGEST", 20.0)

    async def main(name):
        with anyio.CancelScope() as scope:

            async def hook(_):
                scope.cancel()
                await anyio.sleep(15)

            ferry = AsyncFerry(
                ferry_sandbox.token,
                base_url=ferry_sandbox.base_url,
                journal=noting,
                event_hooks={name: [hook]},
            )
            await ferry.bookings.confirm(booking_id)
        assert scope.cancelled_caught
        await ferry.aclose()

    ferry_sandbox.counters.reset()
    return lambda name: portal.call(main, name)


@pytest.mark.parametrize(
    ("name", "state", "warning"),
    [
        pytest.param("request", "not_sent", None, id="before it is sent"),
        pytest.param("response", "unknown", "may have happened", id="after the reply"),
        pytest.param("outcome", "done", "was done when it was interrupted", id="at the end"),
    ],
)
def test_a_write_cancelled_in_a_hook_is_recorded(
    confirm_and_cancel, ferry_sandbox, caplog, noting, name, state, warning
):
    confirm_and_cancel(name)
    assert noting.states == [state]
    assert bool(ferry_sandbox.counters.effects_of("bookings.confirm")) == (state != "not_sent")
    warnings = [record.getMessage() for record in warnings_of(caplog)]
    if warning is None:
        assert warnings == []
    else:
        (text,) = warnings
        assert warning in text


def confirm_with_hooks(ferry_sandbox, hooks):
    settings = {"base_url": ferry_sandbox.base_url, "event_hooks": hooks}
    with Ferry(ferry_sandbox.token, **settings) as ferry:
        ferry.bookings.confirm("b-1")


def test_an_interruption_in_a_hook_goes_on(ferry_sandbox, event_log):
    def interrupt(_):
        raise KeyboardInterrupt

    hooks = {**event_log.hooks, "request": [event_log.events.append, interrupt]}
    with pytest.raises(KeyboardInterrupt):
        confirm_with_hooks(ferry_sandbox, hooks)
    assert event_log.kinds == ["request", "response", "outcome"]
    outcome = event_log.outcome
    assert (outcome.outcome, outcome.problem) == ("not_sent", "KeyboardInterrupt")


def test_a_sync_client_warns_of_an_awaitable(ferry_sandbox, caplog):
    def return_awaitable(event):  # it is not seen to be async
        return afailing(event)

    with suppress(FerryError):
        confirm_with_hooks(ferry_sandbox, {"request": [return_awaitable]})
    (record,) = warnings_of(caplog)
    assert "ConfigurationError" in record.getMessage()
