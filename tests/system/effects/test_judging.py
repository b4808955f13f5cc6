"""The judge of schedules believes a client that tells the truth, and finds out each lie."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from ferry_sdk import ConnectionFailedError, OutcomeUnknownError, RateLimitError, RequestDigest
from ferry_sdk.models.bookings import BookingConfirmation
from ferry_sdk.sandbox.counters import Effect
from ferry_sdk.types import Attempt
from tests.support.cutting_harms import Passage
from tests.system.effects.judging import Evidence, Judgement, Outcome
from tests.system.effects.schedules import Schedule
from tests.system.effects.world import Subject

REFUSAL = '{"error": true, "code": "CONFLICT", "message": "no"}'
CONFIRM = Schedule("bookings.confirm")
EFFECT = Effect("bookings.confirm", "b-1", datetime(2026, 5, 1, 12, tzinfo=UTC))
SENT = (Attempt(sent=True, operation="bookings.confirm"),)


def passage(status=None, body="", correlation_id="corr-1"):
    head = f"POST /api/booking/confirm HTTP/1.1\r\nx-client-correlation-id: {correlation_id}\r\n"
    data = f"{head}Content-Length: 2\r\n\r\n{{}}".encode()
    head = f"HTTP/1.1 {status} Said\r\nContent-Length: {len(body)}\r\n\r\n"
    reply = b"" if status is None else f"{head}{body}".encode()
    return Passage(data, len(data), reply, len(reply), is_over=True)


def evidence(outcome, *passages, effects=0, **more):
    seen = tuple(one if isinstance(one, Passage) else passage(one) for one in passages)
    known = {"effects": (EFFECT,) * effects, "passages": seen, "accepted": 1, "outcomes": [outcome]}
    return Evidence(Subject([], "b-1", "t-1"), **known | more)


def failure(outcome, attempts=SENT):
    digest = RequestDigest("POST", "/api/booking/confirm", "d-1")
    error = {
        "unknown": OutcomeUnknownError("it may have happened", request=digest),
        "not_sent": ConnectionFailedError("refused"),
        "rejected": RateLimitError("no", status_code=409),
    }[outcome]
    error.correlation_id, error.attempts = "corr-1", attempts
    return Outcome(error=error, seconds=0.1, attempts=attempts)


def success(booking_id="b-1", *, read_back=False):
    names = {"ticket_id": "t-1", "ticket_number": None}
    value = BookingConfirmation(
        booking_id=booking_id, status="confirmed", read_back=read_back, **names
    )
    return Outcome(value, seconds=0.1)


UNKNOWN = failure("unknown")
NOT_SENT = failure("not_sent")
REJECTED = failure("rejected")
BACK = success(read_back=True)
DONE = evidence(success(), 201, effects=1)
OPEN = {"1": "unknown"}
TRUTHS = {
    "done": DONE,
    "read back": evidence(BACK, None, effects=1),
    "unknown and done": evidence(UNKNOWN, None, effects=1),
    "unknown and not done": evidence(UNKNOWN, None),
    "unknown and it failed, it says": evidence(UNKNOWN, passage(503, REFUSAL)),
    "unknown and the refusal cannot be read": evidence(UNKNOWN, passage(200, REFUSAL[:-1])),
    "rejected in a reply of success": evidence(REJECTED, passage(200, REFUSAL)),
    "not sent": evidence(failure("not_sent", ())),
    "turned away, then not sent": evidence(NOT_SENT, 429),
    "rejected": evidence(REJECTED, 409),
    "turned away, then done": evidence(success(), 429, 201, effects=1),
}
LIES = {
    "done, and it was not": evidence(success(), 201),
    "done, and to another": evidence(success("b-2"), 201, effects=1),
    "done twice": evidence(success(), 201, 201, effects=2),
    "not sent, and it arrived": evidence(NOT_SENT, None),
    "not sent, and it was done": evidence(NOT_SENT, None, effects=1),
    "not sent, and it was cut short": evidence(NOT_SENT, Passage(passage().request[:40])),
    "rejected, and it was done": evidence(REJECTED, 409, effects=1),
    "rejected, and nobody refused it": evidence(REJECTED, 503),
    "rejected, and it was never sent": evidence(failure("rejected", ())),
    "unknown, and it was never sent": evidence(failure("unknown", ())),
    "unknown, and it was refused": evidence(UNKNOWN, 409),
    "sent again after a lost reply": evidence(success(), None, 201, effects=1),
    "sent again after a 503": evidence(success(), 503, 201, effects=1),
    "read back needlessly": evidence(BACK, 201, effects=1),
    "an attempt that is missing": evidence(failure("unknown", ()), None),
    "another error": evidence(Outcome(error=RuntimeError("oops"), seconds=0.1), None),
    "late": evidence(replace(success(), seconds=0.7), 201, effects=1),
    "another effect": replace(DONE, effects=(EFFECT, replace(EFFECT, operation="bookings.cancel"))),
    "a caller without a result": replace(DONE, outcomes=[]),
    "a warning": replace(DONE, noise=["unclosed socket"]),
    "not on record": replace(DONE, records={}),
    "on record as something else": replace(DONE, records=OPEN),
    "recovered, and not on record": evidence(
        UNKNOWN, None, effects=1, recovered=[BACK], records=OPEN, records_after=OPEN
    ),
    "recovered, and it was not done": evidence(UNKNOWN, None, recovered=[BACK]),
    "not recovered, and done": evidence(UNKNOWN, None, effects=1, recovered=[UNKNOWN]),
    "recovery raised something else": evidence(UNKNOWN, None, recovered=[NOT_SENT]),
}


@pytest.mark.parametrize("known", TRUTHS.values(), ids=TRUTHS)
def test_truth_violates_nothing(known):
    assert Judgement(CONFIRM, known).violations() == []


@pytest.mark.parametrize("known", LIES.values(), ids=LIES)
def test_lie_is_a_violation(known):
    assert Judgement(CONFIRM, known).violations() != []


OTHER = passage(201, correlation_id="corr-2")
"""The exchange of a second caller."""


def test_second_guarded_caller_may_send_nothing():
    schedule = replace(CONFIRM, callers=2, is_guarded=True)
    outcomes = [success(), failure("not_sent", ())]
    known = evidence(None, OTHER, effects=1, outcomes=outcomes)
    assert Judgement(schedule, known).violations() == []


def test_two_tasks_share_one_request():
    schedule = replace(CONFIRM, callers=2, is_async=True)
    known = evidence(None, 201, OTHER, effects=1, outcomes=[success(), success()])
    assert Judgement(schedule, known).violations() != []


@pytest.fixture
def unsent_read():
    """The evidence of a read whose outcome is unknown, though it had no attempt."""
    error = ConnectionFailedError("refused", outcome="unknown")
    return evidence(Outcome(error=error, seconds=0.1, attempts=()), accepted=0)


def test_read_that_never_left_is_not_sent(unsent_read):
    assert Judgement(Schedule("bookings.get"), unsent_read).violations() != []


def test_read_on_an_accepted_connection_is_unknown(unsent_read):
    known = replace(unsent_read, accepted=1)
    assert Judgement(Schedule("bookings.get"), known).violations() == []
