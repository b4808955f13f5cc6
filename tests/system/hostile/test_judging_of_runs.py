"""The judge of the runs notices each promise that is broken."""

import asyncio

import pytest

from ferry_sdk import BadRequestError, ConnectionFailedError, OutcomeUnknownError, RequestDigest
from ferry_sdk.models import BookingConfirmation
from tests.system.hostile.judging import Evidence, Outcome, violations
from tests.system.hostile.kinds import Stroke
from tests.system.hostile.runs import PLACES, TOKENS, Call, Run
from tests.system.hostile.server import Effect, Exchange, ServiceCall

SECRET = "Quarrington-Ünsal"
DONE = Effect(("bookings.confirm", "bo-1"), "bo-1", "call-1")
UNKNOWN = OutcomeUnknownError("lost", request=RequestDigest("POST", "/api/booking/confirm", "d"))
REFUSED = BadRequestError("no", status_code=400)
UNSENT = ConnectionFailedError("no")


def result(booking_id):
    names = {"booking_id": booking_id, "ticket_id": "ti-1", "ticket_number": "N-1"}
    return BookingConfirmation(status="confirmed", **names)


def evidence_of(done, said, *strokes, **known):
    """Return the evidence of a call that was done so often, and of what its client said."""
    call = Call("bookings.confirm", (), 1.0, None, 0, is_guarded=False)
    outcome = Outcome(call, "call-1", DONE.intent, "bo-1", effects=[DONE] * done)
    request = ServiceCall("bookings.confirm", "bo-1")
    outcome.exchanges = [Exchange(Stroke(stroke), "call-1", request) for stroke in strokes]
    if isinstance(said, BaseException):
        outcome.set_error(said)
    else:
        outcome.value = said
    run = Run(0, "sync", has_journal=False, is_warm=True, calls=(call,))
    evidence = Evidence(run, [outcome], (SECRET,), places=PLACES)
    for name, value in known.items():
        setattr(evidence if hasattr(evidence, name) else outcome, name, value)
    return evidence


GOOD = result("bo-1")
TURNED_AWAY = Exchange(
    Stroke("a version that is refused"), "call-1", ServiceCall("bookings.confirm", "bo-1")
)
CUT = Exchange(Stroke("closed inside the request's head"), "call-1", ServiceCall("mcp.?"))


@pytest.mark.parametrize(
    "evidence",
    [
        pytest.param(evidence_of(1, GOOD, "right"), id="done"),
        pytest.param(evidence_of(1, UNKNOWN, "no reply"), id="unknown"),
        pytest.param(evidence_of(0, UNSENT), id="not sent"),
        pytest.param(evidence_of(0, REFUSED, "a refusal"), id="rejected"),
        pytest.param(evidence_of(0, UNSENT, exchanges=[TURNED_AWAY, CUT]), id="handshake cut off"),
    ],
)
def test_kept_promise_is_no_violation(evidence):
    assert not violations(evidence)


@pytest.mark.parametrize(
    ("evidence", "words"),
    [
        pytest.param(evidence_of(2, GOOD), "it was done 2 times", id="done twice"),
        pytest.param(
            evidence_of(1, GOOD, effects_after=2),
            "it was done 2 times",
            id="done twice after the end",
        ),
        pytest.param(evidence_of(0, GOOD), "done, said the client, and it was not", id="not done"),
        pytest.param(evidence_of(1, result("bo-2")), "bo-1 was asked for", id="done to another"),
        pytest.param(
            evidence_of(0, UNKNOWN, "no reply", "no reply"), "sent again", id="sent again"
        ),
        pytest.param(
            evidence_of(0, UNSENT, exchanges=[CUT]),
            "not sent, said the client, and it arrived",
            id="cut off",
        ),
        pytest.param(
            evidence_of(0, UNSENT, "no reply"),
            "not sent, said the client, and it arrived",
            id="arrived",
        ),
        pytest.param(
            evidence_of(1, REFUSED, "a refusal"),
            "rejected, said the client, and it was done",
            id="rejected but done",
        ),
        pytest.param(evidence_of(0, REFUSED, "101"), "nothing was refused", id="not refused"),
        pytest.param(
            evidence_of(0, KeyError("no")), "an error of another family", id="foreign error"
        ),
        pytest.param(
            evidence_of(0, asyncio.CancelledError()), "an error of another family", id="cancelled"
        ),
        pytest.param(
            evidence_of(0, ConnectionFailedError(f"{TOKENS[0].upper()}!")),
            "its str holds",
            id="token in the text",
        ),
        pytest.param(
            evidence_of(0, ConnectionFailedError(f"&#116;{TOKENS[0][1:]}")),
            "its pickle holds",
            id="token in the pickle",
        ),
        pytest.param(evidence_of(0, UNKNOWN, seconds=1.4), "late", id="late"),
        pytest.param(
            evidence_of(0, UNKNOWN, "101", state="none"), "not on record", id="not on record"
        ),
        pytest.param(
            evidence_of(0, UNKNOWN, state="done"),
            "on record as done, and it was not",
            id="on record as done",
        ),
        pytest.param(
            evidence_of(0, UNKNOWN, "101", state="not_sent"),
            "on record as not sent, and it arrived",
            id="on record as not sent",
        ),
        pytest.param(
            evidence_of(0, UNKNOWN, state="unknown", again=KeyError("no")),
            "it failed",
            id="recovery failed",
        ),
        pytest.param(evidence_of(1, GOOD, places=3), "3 of 4 places came back", id="lost place"),
        pytest.param(
            evidence_of(1, GOOD, log=[f"to {SECRET}"]), "the log holds", id="secret in the log"
        ),
        pytest.param(evidence_of(1, GOOD, grown=1 << 30), "of memory were taken", id="memory"),
    ],
)
def test_broken_promise_is_a_violation(evidence, words):
    assert any(words in one for one in violations(evidence))
