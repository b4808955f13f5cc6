"""The judge of the runs notices each promise that is broken."""

import asyncio

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


def judge(done, said, *strokes, **known):
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
    return violations(evidence)


def test_a_broken_promise_is_noticed_and_what_is_so_breaks_none():
    assert not judge(1, result("bo-1"), "right")
    assert not judge(1, UNKNOWN, "no reply")
    assert not judge(0, UNSENT)
    assert not judge(0, REFUSED, "a refusal")
    good = result("bo-1")
    for found, words in (
        (judge(2, good), "it was done 2 times"),
        (judge(1, good, effects_after=2), "it was done 2 times"),
        (judge(0, good), "done, said the client, and it was not"),
        (judge(1, result("bo-2")), "bo-1 was asked for"),
        (judge(0, UNKNOWN, "no reply", "no reply"), "sent again"),
        (judge(0, UNSENT, "no reply"), "not sent, said the client, and it arrived"),
        (judge(1, REFUSED, "a refusal"), "rejected, said the client, and it was done"),
        (judge(0, REFUSED, "101"), "nothing was refused"),
        (judge(0, KeyError("no")), "an error of another family"),
        (judge(0, asyncio.CancelledError()), "an error of another family"),
        (judge(0, ConnectionFailedError(f"{TOKENS[0].upper()}!")), "its str holds"),
        (judge(0, ConnectionFailedError(f"&#116;{TOKENS[0][1:]}")), "its pickle holds"),
        (judge(0, UNKNOWN, seconds=1.4), "late"),
        (judge(0, UNKNOWN, "101", state="none"), "not on record"),
        (judge(0, UNKNOWN, state="done"), "on record as done, and it was not"),
        (judge(0, UNKNOWN, "101", state="not_sent"), "on record as not sent, and it arrived"),
        (judge(0, UNKNOWN, state="unknown", again=KeyError("no")), "it failed"),
        (judge(1, good, places=3), "3 of 4 places came back"),
        (judge(1, good, log=[f"to {SECRET}"]), "the log holds"),
        (judge(1, good, grown=1 << 30), "of memory were taken"),
    ):
        assert any(words in one for one in found), (words, found)
