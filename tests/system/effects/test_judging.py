"""The judge of schedules believes a client that tells the truth, and finds out each lie."""

from dataclasses import replace
from datetime import datetime, timezone

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
EFFECT = Effect("bookings.confirm", "b-1", datetime(2026, 5, 1, 12, tzinfo=timezone.utc))
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


UNKNOWN, NOT_SENT, REJECTED = failure("unknown"), failure("not_sent"), failure("rejected")
BACK, DONE = success(read_back=True), evidence(success(), 201, effects=1)
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


def test_lies_are_found_out_of_one_caller_and_of_two_and_a_read_that_never_left_says_so():
    for case, known in TRUTHS.items():
        assert (case, Judgement(CONFIRM, known).violations()) == (case, [])
    for case, known in LIES.items():
        assert Judgement(CONFIRM, known).violations(), case
    other = passage(201, correlation_id="corr-2")
    one_failed = [success(), failure("not_sent", ())]
    looked = replace(CONFIRM, callers=2, is_guarded=True)
    known = evidence(None, other, effects=1, outcomes=one_failed)
    assert Judgement(looked, known).violations() == []
    tasks = replace(CONFIRM, callers=2, is_async=True)
    two_requests = evidence(None, 201, other, effects=1, outcomes=[success(), success()])
    assert Judgement(tasks, two_requests).violations() != []
    error = ConnectionFailedError("refused", outcome="unknown")
    never = evidence(Outcome(error=error, seconds=0.1, attempts=()), accepted=0)
    assert Judgement(Schedule("bookings.get"), never).violations() != []
    assert Judgement(Schedule("bookings.get"), replace(never, accepted=1)).violations() == []
