"""A hook that raises, hangs or is cut short changes nothing of what becomes of a call."""

import logging
import traceback

import anyio
import anyio.lowlevel
import pytest

from ferry_sdk import AsyncFerry, Ferry, RequestTimeoutError
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


def test_a_failing_hook_is_told_of_loudly_once(any_clients, make_client, caplog):
    caplog.set_level(logging.DEBUG)
    hook = afailing if any_clients.is_async else failing
    ferry = make_client(event_hooks={"request": [hook], "outcome": [hook]})
    ferry.catalogue.ports()
    ferry.with_options(deadline=20).catalogue.ports()
    (record,) = warnings_of(caplog)
    assert "failing failed in catalogue.ports: ZeroDivisionError" in record.getMessage()
    assert record.exc_info is not None
    frames = traceback.extract_tb(record.exc_info[2])
    assert {frame.filename for frame in frames} & {__file__}
    assert not [frame for frame in frames if "/ferry_sdk/" in frame.filename]
    quiet = [one for one in caplog.records if "hook" in one.getMessage() and one is not record]
    assert [one.levelno for one in quiet] == [logging.DEBUG] * 3


def test_an_async_hook_that_hangs_is_left_after_a_while(
    portal, ferry_sandbox, caplog, monkeypatch, booking_id, event_log
):
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


ENDED = [
    ("request", "not_sent", None),
    ("response", "unknown", "may have happened"),
    ("outcome", "done", "was done when it was interrupted"),
]


@pytest.mark.parametrize(("name", "state", "said"), ENDED)
def test_a_write_that_is_cancelled_in_a_hook_is_on_record_as_what_it_is(
    portal, ferry_sandbox, caplog, monkeypatch, noting, booking_id, name, state, said
):
    monkeypatch.setattr("ferry_sdk._engine.hook_runner.LONGEST", 20.0)

    async def main():
        with anyio.CancelScope() as scope:

            async def hook(_):
                scope.cancel()
                await anyio.sleep(15)

            known = {"base_url": ferry_sandbox.base_url, "journal": noting}
            ferry = AsyncFerry(ferry_sandbox.token, **known, event_hooks={name: [hook]})
            await ferry.bookings.confirm(booking_id)
        assert scope.cancelled_caught
        await ferry.aclose()

    ferry_sandbox.counters.reset()
    portal.call(main)
    assert noting.states == [state]
    assert bool(ferry_sandbox.counters.effects_of("bookings.confirm")) == (state != "not_sent")
    warned = [record.getMessage() for record in warnings_of(caplog)]
    assert len(warned) == (said is not None)
    assert all(str(said) in words for words in warned)


def test_an_interruption_goes_on_and_an_awaitable_is_told_of(ferry_sandbox, event_log, caplog):
    def interrupted(_):
        raise KeyboardInterrupt

    awaitable = lambda event: afailing(event)  # noqa: E731, PLW0108 -- not seen to be async
    hooks = {**event_log.hooks, "request": [event_log.events.append, awaitable, interrupted]}
    with (
        Ferry(ferry_sandbox.token, base_url=ferry_sandbox.base_url, event_hooks=hooks) as ferry,
        pytest.raises(KeyboardInterrupt),
    ):
        ferry.bookings.confirm("b-1")
    assert event_log.kinds == ["request", "response", "outcome"]
    told = event_log.outcome
    assert (told.outcome, told.problem) == ("not_sent", "KeyboardInterrupt")
    (record,) = warnings_of(caplog)
    assert "ConfigurationError" in record.getMessage()
