from dataclasses import replace
from datetime import datetime, timezone

from ferry_sdk import ConnectionFailedError, OutcomeUnknownError, RateLimitError, RequestDigest
from ferry_sdk.models.bookings import BookingConfirmation
from ferry_sdk.sandbox.counters import Effect
from ferry_sdk.types import Attempt
from tests.support.cutting_harms import POSITIONS, Passage, offset_of
from tests.support.tables import each
from tests.system.effects.calling import Subject
from tests.system.effects.evidence import Evidence, Outcome
from tests.system.effects.judging import Judgement
from tests.system.effects.schedules import Schedule

CALL = "corr-1"
REFUSAL = '{"error": true, "code": "CONFLICT", "message": "no"}'
CONFIRM = Schedule("bookings.confirm")
SUBJECT = Subject([], "b-1", "t-1")
EFFECT = Effect("bookings.confirm", "b-1", datetime(2026, 5, 1, 12, tzinfo=timezone.utc))
SENT = (Attempt(sent=True, operation="bookings.confirm"),)


def request(correlation_id=CALL):
    head = f"POST /api/booking/confirm HTTP/1.1\r\nx-client-correlation-id: {correlation_id}\r\n"
    return f"{head}Content-Length: 2\r\n\r\n{{}}".encode()


def passage(status=None, body="", *, correlation_id=CALL):
    """The request, answered with the status or not at all."""
    data = request(correlation_id)
    head = f"HTTP/1.1 {status} Said\r\nContent-Length: {len(body)}\r\n\r\n"
    reply = b"" if status is None else f"{head}{body}".encode()
    return Passage(data, len(data), reply, len(reply), is_over=True)


def evidence(outcome, *passages, effects=0):
    return Evidence(
        SUBJECT, outcomes=[outcome], effects=(EFFECT,) * effects, passages=passages, accepted=1
    )


def failure(error, attempts=SENT):
    error.correlation_id = CALL
    error.attempts = attempts
    return Outcome(error=error, seconds=0.1, attempts=attempts)


def success(booking_id="b-1", *, read_back=False):
    value = BookingConfirmation(
        booking_id=booking_id,
        status="confirmed",
        ticket_id="t-1",
        ticket_number=None,
        read_back=read_back,
    )
    return Outcome(value, seconds=0.1)


def unknown():
    digest = RequestDigest("POST", "/api/booking/confirm", "d-1")
    return OutcomeUnknownError("it may have happened", request=digest)


def not_sent():
    return ConnectionFailedError("refused")


def rejected(status=409):
    return RateLimitError("no", status_code=status)


DONE = evidence(success(), passage(201), effects=1)
TRUTHS = {
    "done": DONE,
    "read back": evidence(success(read_back=True), passage(), effects=1),
    "unknown and done": evidence(failure(unknown()), passage(), effects=1),
    "unknown and not done": evidence(failure(unknown()), passage()),
    "unknown and it failed, it says": evidence(failure(unknown()), passage(503, REFUSAL)),
    "unknown and the refusal cannot be read": evidence(
        failure(unknown()), passage(200, REFUSAL[:-1])
    ),
    "rejected in a reply of success": evidence(failure(rejected()), passage(200, REFUSAL)),
    "not sent": evidence(failure(not_sent(), ())),
    "turned away, then not sent": evidence(failure(not_sent()), passage(429)),
    "rejected": evidence(failure(rejected()), passage(409)),
    "turned away, then done": evidence(success(), passage(429), passage(201), effects=1),
}
LIES = {
    "done, and it was not": evidence(success(), passage(201)),
    "done, and to another": evidence(success("b-2"), passage(201), effects=1),
    "done twice": evidence(success(), passage(201), passage(201), effects=2),
    "not sent, and it arrived": evidence(failure(not_sent()), passage()),
    "not sent, and it was done": evidence(failure(not_sent()), passage(), effects=1),
    "not sent, and it was cut short": evidence(
        failure(not_sent()), Passage(request()[:40], 0, is_over=True)
    ),
    "rejected, and it was done": evidence(failure(rejected()), passage(409), effects=1),
    "rejected, and nobody refused it": evidence(failure(rejected()), passage(503)),
    "rejected, and it was never sent": evidence(failure(rejected(), ())),
    "unknown, and it was never sent": evidence(failure(unknown(), ())),
    "unknown, and it was refused": evidence(failure(unknown()), passage(409)),
    "sent again after a lost reply": evidence(success(), passage(), passage(201), effects=1),
    "sent again after a 503": evidence(success(), passage(503), passage(201), effects=1),
    "read back needlessly": evidence(success(read_back=True), passage(201), effects=1),
    "an attempt that is missing": evidence(failure(unknown(), ()), passage()),
    "another error": evidence(Outcome(error=RuntimeError("oops"), seconds=0.1), passage()),
    "late": evidence(replace(success(), seconds=0.7), passage(201), effects=1),
    "something else was done": replace(
        DONE,
        effects=(EFFECT, replace(EFFECT, operation="bookings.cancel")),
    ),
    "a caller without a result": replace(DONE, outcomes=[]),
    "a warning": replace(DONE, noise=["unclosed socket"]),
    "not on record": replace(DONE, records={}),
    "on record as something else": replace(DONE, records={"1": "unknown"}),
    "recovered, and not on record": replace(
        evidence(failure(unknown()), passage(), effects=1),
        recovered=[success(read_back=True)],
        records={"1": "unknown"},
        records_after={"1": "unknown"},
    ),
    "recovered, and it was not done": replace(
        evidence(failure(unknown()), passage()), recovered=[success(read_back=True)]
    ),
    "not recovered, and it was done": replace(
        evidence(failure(unknown()), passage(), effects=1), recovered=[failure(unknown())]
    ),
    "recovery raised something else": replace(
        evidence(failure(unknown()), passage()), recovered=[failure(not_sent())]
    ),
}


@each("case", TRUTHS)
def test_a_client_that_tells_the_truth_is_believed(case):
    assert Judgement(CONFIRM, TRUTHS[case]).violations() == []


@each("case", LIES)
def test_a_client_that_does_not_is_found_out(case):
    assert Judgement(CONFIRM, LIES[case]).violations() != []


def test_the_positions_of_a_cut_follow_one_another():
    message = passage(201, REFUSAL).reply
    offsets = [offset_of(at, message) for at in POSITIONS]
    assert offsets == sorted({*offsets})
    assert (offsets[0], offsets[-1]) == (0, len(message))
    assert message[: offsets[3]].endswith(b"\r\n\r\n")


def test_of_two_who_look_first_one_may_fail_and_the_other_act():
    schedule = replace(CONFIRM, callers=2, is_guarded=True)
    both = replace(
        evidence(success(), passage(201, correlation_id="corr-2"), effects=1),
        outcomes=[success(), failure(not_sent(), ())],
    )
    assert Judgement(schedule, both).violations() == []


def test_two_tasks_at_once_make_one_request():
    schedule = replace(CONFIRM, callers=2, is_async=True)
    both = replace(
        evidence(success(), passage(201), passage(201, correlation_id="corr-2"), effects=1),
        outcomes=[success(), success()],
    )
    assert Judgement(schedule, both).violations() != []


def test_a_read_that_never_left_says_so():
    schedule = Schedule("bookings.get")
    outcome = failure(ConnectionFailedError("refused", outcome="unknown"), ())
    never = replace(evidence(outcome), accepted=0)
    assert Judgement(schedule, never).violations() != []
    assert Judgement(schedule, replace(never, accepted=1)).violations() == []
