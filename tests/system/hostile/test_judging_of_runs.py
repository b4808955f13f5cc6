"""The judge of the runs notices each promise that is broken."""

import asyncio

from ferry_sdk import (
    BadRequestError,
    ConnectionFailedError,
    NotFoundError,
    OutcomeUnknownError,
    RequestDigest,
)
from ferry_sdk.models import BookingConfirmation
from tests.support.tables import each
from tests.system.hostile.evidence import Evidence, Outcome
from tests.system.hostile.judging import violations
from tests.system.hostile.kinds import Stroke
from tests.system.hostile.preparing import TOKENS
from tests.system.hostile.runs import PLACES, Call, Run
from tests.system.hostile.server import Exchange
from tests.system.hostile.service import Effect, ServiceCall

SECRET = "Quarrington-Ünsal"
DONE = Effect(("bookings.confirm", "bo-1"), "bo-1", "call-1")
UNKNOWN = OutcomeUnknownError("lost", request=RequestDigest("POST", "/api/booking/confirm", "d"))


def result(booking_id):
    """The result of a confirmation."""
    return BookingConfirmation(
        booking_id=booking_id, status="confirmed", ticket_id="ti-1", ticket_number="N-1"
    )


def arrival(stroke):
    """The request of a confirmation, which met a stroke."""
    return Exchange(Stroke(stroke), "call-1", ServiceCall("bookings.confirm", "bo-1"))


def judge(**known):
    """What is found of a run whose one call is the confirmation of a booking."""
    about_run = {name: known.pop(name) for name in ("places", "log", "grown") if name in known}
    call = Call("bookings.confirm", (), 1.0, None, 0, is_guarded=False)
    outcome = Outcome(call, "call-1", DONE.intent, "bo-1")
    if "error" in known:
        outcome.set_error(known.pop("error"))
    for name, value in known.items():
        setattr(outcome, name, value)
    run = Run(0, "sync", has_journal=False, is_warm=True, calls=(call,))
    evidence = Evidence(run, [outcome], (SECRET,), **{"places": PLACES, **about_run})
    return violations(evidence)


def test_a_result_of_what_was_done_breaks_no_promise():
    assert not judge(value=result("bo-1"), effects=[DONE], exchanges=[arrival("right")])


def test_an_error_that_says_what_is_so_breaks_no_promise():
    assert not judge(error=UNKNOWN, effects=[DONE], exchanges=[arrival("no reply")])
    assert not judge(error=ConnectionFailedError("no"))
    assert not judge(error=BadRequestError("no", status_code=400), exchanges=[arrival("a refusal")])


@each(
    ("known", "words"),
    [
        ({"value": result("bo-1"), "effects": [DONE, DONE]}, "it was done 2 times"),
        ({"value": result("bo-1"), "effects": [DONE], "effects_after": 2}, "it was done 2 times"),
        ({"value": result("bo-1")}, "done, said the client, and it was not"),
        ({"value": result("bo-2"), "effects": [DONE]}, "bo-1 was asked for"),
        ({"error": UNKNOWN, "exchanges": [arrival("no reply"), arrival("no reply")]}, "sent again"),
        (
            {"error": ConnectionFailedError("no"), "exchanges": [arrival("no reply")]},
            "not sent, said the client, and it arrived",
        ),
        (
            {
                "error": BadRequestError("no", status_code=400),
                "exchanges": [arrival("a refusal")],
                "effects": [DONE],
            },
            "rejected, said the client, and it was done",
        ),
        (
            {"error": NotFoundError("no", status_code=404), "exchanges": [arrival("101")]},
            "nothing was refused",
        ),
        ({"error": KeyError("no")}, "an error of another family"),
        ({"error": asyncio.CancelledError()}, "an error of another family"),
        ({"error": ConnectionFailedError(f"{TOKENS[0].upper()}!")}, "its str holds"),
        ({"error": ConnectionFailedError(f"&#116;{TOKENS[0][1:]}")}, "its pickle holds"),
        ({"error": UNKNOWN, "seconds": 1.4}, "late"),
        ({"error": UNKNOWN, "state": "none", "exchanges": [arrival("101")]}, "not on record"),
        ({"error": UNKNOWN, "state": "done"}, "on record as done, and it was not"),
        (
            {"error": UNKNOWN, "state": "not_sent", "exchanges": [arrival("101")]},
            "on record as not sent, and it arrived",
        ),
        ({"error": UNKNOWN, "state": "unknown", "again": KeyError("no")}, "it failed"),
        ({"value": result("bo-1"), "effects": [DONE], "places": 3}, "3 of 4 places came back"),
        ({"value": result("bo-1"), "effects": [DONE], "log": [f"to {SECRET}"]}, "the log holds"),
        ({"value": result("bo-1"), "effects": [DONE], "grown": 1 << 30}, "of memory were taken"),
    ],
)
def test_a_broken_promise_is_noticed(known, words):
    assert any(words in one for one in judge(**known)), judge(**known)
