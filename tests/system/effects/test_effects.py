"""Generated schedules of trouble, each judged by what the service itself counted."""

from dataclasses import replace

import pytest

from tests.support.cutting_harms import Harm
from tests.support.tiers import LONG, mostly_long
from tests.system.effects.judging import SOFT, Judgement
from tests.system.effects.running import STRETCHES, explore, run
from tests.system.effects.schedules import GROUPS, Schedule, Trouble

EACH = 16
pytestmark = pytest.mark.usefixtures("no_leftovers")


@pytest.mark.parametrize("part", mostly_long([range(1), range(1, 8), range(8, EACH)], ids=str))
@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize(
    "index", range(len(GROUPS)), ids=[group[0] if len(group) == 1 else "reads" for group in GROUPS]
)
def test_schedule_violates_no_promise(world, record_property, index, is_async, part):
    numbers = [(2 * index + is_async) * EACH + number for number in part]
    ran, findings = explore(world, GROUPS[index], numbers, is_async=is_async)
    record_property("schedules of the effect test run", ran)
    assert not findings, "\n".join(map(str, findings))


CREATE, CONFIRM, PAY = "bookings.create", "bookings.confirm", "tickets.mark_paid"
CANCEL, CANCEL_TICKET = "bookings.cancel", "tickets.cancel"
LOST = Harm("cut_reply")


def kept(says, operation, *harms, fault=None, details=None, **more):
    """What the client says in the end, and the schedule; a fault is one of the call's own."""
    troubles = () if fault is None else (Trouble(fault, operation, details=details or {}),)
    return says, Schedule(operation, harms, troubles, **more)


KEPT = {
    "nobody listens": kept("not_sent", CREATE, Harm("refuse")),
    "nobody listens for a moment": kept(
        "done", CREATE, Harm("refuse", seconds=0.05), deadline=5, max_retries=9
    ),
    "nobody answers": kept("not_sent", CONFIRM, Harm("unreachable")),
    "nobody listens after it was turned away": kept(
        "not_sent",
        CREATE,
        Harm("refuse", after=1),
        fault="rate_limited",
        details={"retry_after": 1},
        deadline=3,
    ),
    "turned away, then let in": kept(
        "done", PAY, fault="rate_limited", details={"retry_after": 0}, deadline=5
    ),
    "a kept connection is reset as the request comes": kept(
        "unknown", CREATE, Harm("cut_request", reset=True), is_warm=True
    ),
    "a kept connection ends": kept("unknown", CREATE, Harm("cut_request"), is_warm=True),
    "the connection closes before a byte was read": kept("unknown", CANCEL, Harm("close")),
    "all but the last byte arrives": kept("unknown", CREATE, Harm("cut_request", "last")),
    "the reply of a creation is lost": kept("unknown", CREATE, LOST, is_pickled=True),
    "the reply of a confirmation is lost": kept("read_back", CONFIRM, LOST, deadline=5),
    "the reply of a tool is lost": kept(
        "read_back", "mcp.cancel_ticket", Harm("cut_reply", "body"), is_warm=True, deadline=5
    ),
    "its booking shows a payment": kept("read_back", PAY, LOST, is_guarded=True, deadline=5),
    "nothing shows a payment": kept("unknown", PAY, LOST),
    "it is done after its caller gave up": kept(
        "unknown", CONFIRM, Harm("delay_request", seconds=0.6), is_pickled=True
    ),
    "it is done while its caller looks": kept(
        "read_back", CONFIRM, Harm("delay_request", seconds=0.3), deadline=5, timeout=0.1
    ),
    "nothing comes back ever": kept("unknown", CANCEL, Harm("withhold", times=None)),
    "the headers trickle": kept("unknown", CONFIRM, Harm("trickle", seconds=0.05, times=None)),
    "the look before fails": kept("not_sent", CONFIRM, Harm("swallow"), is_guarded=True),
    "the handshake fails": kept("not_sent", "mcp.create_booking", Harm("cut_reply", times=None)),
    "the session is gone": kept(
        "done", "mcp.confirm_booking", fault="session_expired", is_warm=True, deadline=5
    ),
    "the stream ends before the reply": kept(
        "unknown",
        "mcp.create_booking",
        fault="mcp_envelope",
        details={"reply": "sse", "ended_early": True},
    ),
    "two at once": kept("read_back", CONFIRM, LOST, callers=2, deadline=5),
    "it failed, it says, and it was done": kept(
        "read_back", CANCEL_TICKET, fault="server_error_after", deadline=5
    ),
    "its refusal cannot be read": kept(
        "unknown", CREATE, fault="not_json", details={"status": 200}, token="stale"
    ),
    "done before": kept("rejected", CONFIRM, is_repeated=True, is_recorded=True, deadline=5),
    "done before, by a tool": kept("rejected", "mcp.cancel_ticket", is_repeated=True, deadline=5),
    "it was done before, and the look before shows it": kept(
        "not_sent", CANCEL, is_repeated=True, is_guarded=True, deadline=5
    ),
    "it was done before, and the refusal is lost": kept(
        "read_back", CANCEL_TICKET, LOST, is_repeated=True, deadline=5
    ),
    "a redirect": kept("unknown", CREATE, fault="redirect"),
    "the token is refused": kept("rejected", CREATE, fault="unauthorized"),
    "the token is refused and renewed": kept("done", CREATE, token="stale", deadline=5),
}


@pytest.mark.parametrize(
    ("name", "is_async"),
    [
        pytest.param(name, is_async, marks=() if index % 4 == 2 * is_async else LONG)
        for index, name in enumerate(KEPT)
        for is_async in (False, True)
    ],
)
def test_kept_schedule_ends_as_recorded(world, record_property, name, is_async):
    expected, kept_one = KEPT[name]
    # A slow machine may use up the deadline before anything is sent.
    for factor in STRETCHES:
        schedule = replace(kept_one, is_async=is_async).stretch(factor)
        evidence = run(world, schedule)
        record_property("schedules of the effect test run", 1)
        violations = Judgement(schedule, evidence).violations()
        states = {state_of(outcome) for outcome in evidence.outcomes}
        is_late = states == {"not_sent"} or any(one.startswith(SOFT) for one in violations)
        if (states == {expected} and not violations) or not is_late:
            break
    assert (violations, states) == ([], {expected})


def state_of(outcome):
    if outcome.error is not None:
        return getattr(outcome.error, "outcome", repr(outcome.error))
    return "read_back" if getattr(outcome.value, "read_back", False) else "done"
