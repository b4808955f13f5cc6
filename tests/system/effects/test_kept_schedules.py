"""Schedules that were worth keeping, each with what the client has to say in it."""

from dataclasses import replace

import pytest

from tests.support.cutting_harms import Harm
from tests.support.tiers import LONG
from tests.system.effects.exploring import STRETCHES
from tests.system.effects.judging import SOFT, Judgement
from tests.system.effects.running import run
from tests.system.effects.schedules import Schedule, Trouble

pytestmark = pytest.mark.usefixtures("no_leftovers")

KEPT = {
    "nobody listens": (Schedule("bookings.create", (Harm("refuse"),)), "not_sent"),
    "nobody listens for a moment": (
        Schedule("bookings.create", (Harm("refuse", seconds=0.05),), deadline=5, max_retries=9),
        "done",
    ),
    "nobody answers": (Schedule("bookings.confirm", (Harm("unreachable"),)), "not_sent"),
    "nobody listens after it was turned away": (
        Schedule(
            "bookings.create",
            (Harm("refuse", after=1),),
            (Trouble("rate_limited", "bookings.create", details={"retry_after": 1}),),
            deadline=3,
        ),
        "not_sent",
    ),
    "turned away, then let in": (
        Schedule(
            "tickets.mark_paid",
            troubles=(Trouble("rate_limited", "tickets.mark_paid", details={"retry_after": 0}),),
            deadline=5,
        ),
        "done",
    ),
    "a kept connection is reset as the request comes": (
        Schedule("bookings.create", (Harm("cut_request", reset=True),), is_warm=True),
        "unknown",
    ),
    "a kept connection ends as the request comes": (
        Schedule("bookings.create", (Harm("cut_request"),), is_warm=True),
        "unknown",
    ),
    "the connection closes before a byte was read": (
        Schedule("bookings.cancel", (Harm("close"),)),
        "unknown",
    ),
    "all but the last byte arrives": (
        Schedule("bookings.create", (Harm("cut_request", "last"),)),
        "unknown",
    ),
    "the reply of a creation is lost": (
        Schedule("bookings.create", (Harm("cut_reply"),), is_pickled=True),
        "unknown",
    ),
    "the reply of a confirmation is lost": (
        Schedule("bookings.confirm", (Harm("cut_reply"),), deadline=5),
        "read_back",
    ),
    "the reply of a tool is lost": (
        Schedule("mcp.cancel_ticket", (Harm("cut_reply", "body"),), is_warm=True, deadline=5),
        "read_back",
    ),
    "a payment is shown by its booking": (
        Schedule("tickets.mark_paid", (Harm("cut_reply"),), is_guarded=True, deadline=5),
        "read_back",
    ),
    "a payment is shown by nothing": (
        Schedule("tickets.mark_paid", (Harm("cut_reply"),)),
        "unknown",
    ),
    "it is done after its caller gave up": (
        Schedule("bookings.confirm", (Harm("delay_request", seconds=0.6),), is_pickled=True),
        "unknown",
    ),
    "it is done while its caller looks": (
        Schedule(
            "bookings.confirm", (Harm("delay_request", seconds=0.3),), deadline=5, timeout=0.1
        ),
        "read_back",
    ),
    "nothing comes back ever": (
        Schedule("bookings.cancel", (Harm("withhold", times=None),)),
        "unknown",
    ),
    "the headers trickle": (
        Schedule("bookings.confirm", (Harm("trickle", seconds=0.05, times=None),)),
        "unknown",
    ),
    "the look before fails": (
        Schedule("bookings.confirm", (Harm("swallow"),), is_guarded=True),
        "not_sent",
    ),
    "the handshake fails": (
        Schedule("mcp.create_booking", (Harm("cut_reply", times=None),)),
        "not_sent",
    ),
    "the session is gone, and nothing is lost": (
        Schedule(
            "mcp.confirm_booking",
            troubles=(Trouble("session_expired", "mcp.confirm_booking"),),
            is_warm=True,
            deadline=5,
        ),
        "done",
    ),
    "the stream ends before the reply": (
        Schedule(
            "mcp.create_booking",
            troubles=(
                Trouble(
                    "mcp_envelope",
                    "mcp.create_booking",
                    details={"reply": "sse", "ended_early": True},
                ),
            ),
        ),
        "unknown",
    ),
    "two at once, and the reply is lost": (
        Schedule("bookings.confirm", (Harm("cut_reply"),), callers=2, deadline=5),
        "read_back",
    ),
    "it failed, it says, and it was done": (
        Schedule(
            "tickets.cancel",
            troubles=(Trouble("server_error_after", "tickets.cancel"),),
            deadline=5,
        ),
        "read_back",
    ),
    "its refusal cannot be read": (
        Schedule(
            "bookings.create",
            troubles=(Trouble("not_json", "bookings.create", details={"status": 200}),),
            token="stale",
        ),
        "unknown",
    ),
    "it was done before": (
        Schedule("bookings.confirm", is_repeated=True, is_recorded=True, deadline=5),
        "rejected",
    ),
    "it was done before, as a tool says": (
        Schedule("mcp.cancel_ticket", is_repeated=True, deadline=5),
        "rejected",
    ),
    "it was done before, and the look before shows it": (
        Schedule("bookings.cancel", is_repeated=True, is_guarded=True, deadline=5),
        "not_sent",
    ),
    "it was done before, and the refusal is lost": (
        Schedule("tickets.cancel", (Harm("cut_reply"),), is_repeated=True, deadline=5),
        "read_back",
    ),
    "a redirect": (
        Schedule("bookings.create", troubles=(Trouble("redirect", "bookings.create"),)),
        "unknown",
    ),
    "the token is refused": (
        Schedule("bookings.create", troubles=(Trouble("unauthorized", "bookings.create"),)),
        "rejected",
    ),
    "the token is refused and renewed": (
        Schedule("bookings.create", token="stale", deadline=5),
        "done",
    ),
}


@pytest.mark.parametrize(
    ("name", "is_async"),
    [
        pytest.param(
            *(name, is_async),
            id=f"{name}-{'async' if is_async else 'sync'}",
            marks=() if index % 4 == 2 * is_async else LONG,
        )
        for index, name in enumerate(KEPT)
        for is_async in (False, True)
    ],
)
def test_a_schedule_worth_keeping(world, record_property, name, is_async):
    kept, expected = KEPT[name]
    violations = []
    states = set()
    # A slow machine may use up the deadline before anything is sent.
    for factor in STRETCHES:
        schedule = replace(kept, is_async=is_async).stretch(factor)
        evidence = run(world, schedule)
        record_property("schedules of the effect test run", 1)
        violations = Judgement(schedule, evidence).violations()
        states = {state_of(outcome) for outcome in evidence.outcomes}
        is_late = states == {"not_sent"} or any(one.startswith(SOFT) for one in violations)
        if (states == {expected} and not violations) or not is_late:
            break
    assert violations == []
    assert states == {expected}


def state_of(outcome):
    if outcome.error is not None:
        return getattr(outcome.error, "outcome", repr(outcome.error))
    return "read_back" if getattr(outcome.value, "read_back", False) else "done"
