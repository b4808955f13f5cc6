"""Every failure is of one family, is plain data, and says what became of the call."""

import copy
import pickle
import re
import subprocess
import sys
import traceback
from datetime import datetime, timezone
from decimal import Decimal
from pathlib import Path

import httpx
import pytest

import ferry_sdk
from ferry_sdk import Attempt, FerryError, JournalEntry, RequestDigest, TicketCancellation, errors
from ferry_sdk.orders import Order, OrderPart
from tests.support.exchanges import Exchanges, caught, client_of
from tests.support.tables import each

pytestmark = pytest.mark.usefixtures("read_back_once")

TREE = {
    "Exception": "FerryError",
    "FerryError": """
        APIError AlreadyDoneError ConfigurationError JournalError OrderError
        OutcomeUnknownError PenaltyExceededError PriceChangedError ReadOnlyError TransportError
        UnexpectedResponseError UnresolvedWriteError
    """,
    "FerryError ValueError": "InvalidInputError",
    "InvalidInputError": "AmbiguousPlaceError UnknownPlaceError",
    "TransportError": "ConnectionFailedError",
    "TransportError TimeoutError": "RequestTimeoutError",
    "APIError": """
        AuthenticationError AvailabilityError BadRequestError BookingConfirmError
        BookingCreateError ConflictError NotFoundError PermissionDeniedError RateLimitError
        ServerError TicketCancelError TicketViewError UnprocessableEntityError
    """,
    "AvailabilityError": "NoSailingsError",
    "NotFoundError": "TicketNotFoundError VoucherNotReadyError",
}
"""The classes below their bases."""
ATTEMPTS = (
    Attempt(sent=False, problem="ConnectionFailedError", waited=0.25),
    Attempt(sent=True, status_code=503, request_id="r-1", problem="ServerError"),
)
MOMENT = datetime(2026, 11, 1, 8, 0, tzinfo=timezone.utc)
ENTRY = JournalEntry(
    id="e-1",
    operation="bookings.create",
    method="POST",
    path="/api/booking",
    subject={},
    correlation_id="c-0",
    fingerprint="f-1",
    state="open",
    created_at=MOMENT,
    changed_at=MOMENT,
)
MEMORY_ONLY = {"body", "last_seen"}


def family(kind=FerryError):
    children = [one for one in kind.__subclasses__() if one.__module__ == "ferry_sdk.errors"]
    return [kind, *(member for child in children for member in family(child))]


FAMILY = family()
ARGUMENTS = {
    errors.APIError: {
        "message": "Complet",
        "status_code": 409,
        "code": "CODE",
        "field": "companies[0]",
        "request_id": "r-2",
        "body": {"passengers": ["Okonkwo"]},
        "retry_after": 1.5,
        "www_authenticate": 'Bearer error="invalid_token"',
    },
    errors.UnexpectedResponseError: {
        "message": "odd",
        "status_code": 200,
        "request_id": "r-2",
        "field": "tickets[0].id",
        "body": ["x"],
    },
    errors.OutcomeUnknownError: {
        "message": "perhaps",
        "request": RequestDigest("POST", "/api/booking", "abcd"),
        "subject": {"booking_id": "b-1"},
        "last_seen": {"stage": "ticketed"},
        "entry_id": "e-1",
    },
    errors.PriceChangedError: {
        "expected": Decimal(80),
        "found": Decimal("81.50"),
        "currency": "EUR",
    },
    errors.PenaltyExceededError: {
        "limit": Decimal(10),
        "min_refund": Decimal(90),
        "penalty": Decimal("10.01"),
        "refund": Decimal("89.99"),
        "currency": "EUR",
    },
    errors.AlreadyDoneError: {
        "result": TicketCancellation(ticket_id="t-1", status="cancelled", read_back=True),
        "message": "before",
        "last_seen": {"stage": "ticketed"},
        "outcome": "rejected",
    },
    errors.UnresolvedWriteError: {"entry": ENTRY},
    errors.OrderError: {
        "order": Order("o-1", "hold", (OrderPart("b-1", state="held"),)),
        "cause": FerryError("no"),
    },
    errors.RequestTimeoutError: {
        "message": "late",
        "outcome": "unknown",
        "last_seen": {"stage": "payment_due"},
    },
    errors.InvalidInputError: {"problem": "a date is expected", "field": "out_at"},
    FerryError: {"message": "went wrong", "outcome": "unknown"},
}
"""What a class, and those below it, are made of."""


def filled(kind):
    error = kind(**next(given for base, given in ARGUMENTS.items() if issubclass(kind, base)))
    error.operation = "bookings.create"
    error.correlation_id = "c-1"
    error.attempts = ATTEMPTS
    return error


def shown(error):
    return {
        name: (type(value), value.args) if isinstance(value, FerryError) else value
        for name, value in vars(error).items()
    }


def test_the_family_is_that_of_the_contract_and_all_reach_another_process_and_come_back():
    tree = {kind.__name__: " ".join(base.__name__ for base in kind.__bases__) for kind in FAMILY}
    assert tree == {name: bases for bases, names in TREE.items() for name in names.split()}
    assert str(filled(errors.ConflictError)) == "Complet (HTTP 409, CODE)"
    assert str(errors.ServerError("down", status_code=502)) == "down (HTTP 502)"
    given = [filled(kind) for kind in FAMILY]
    there = (
        "import pickle, sys\n"
        "errors = pickle.load(sys.stdin.buffer)\n"
        "for error in errors:\n"
        "    error.correlation_id += type(error).__name__\n"
        "pickle.dump(errors, sys.stdout.buffer)\n"
    )
    command = [sys.executable, "-W", "error", "-c", there]
    done = subprocess.run(
        command, input=pickle.dumps(given), capture_output=True, check=True, timeout=30
    )
    for error, sent in zip(pickle.loads(done.stdout), given, strict=True):
        assert error.correlation_id == f"c-1{type(sent).__name__}"
        assert str(error) == str(sent)
        for name in ("attempts", "outcome", "operation"):
            assert getattr(error, name) == getattr(sent, name)


@each("kind", FAMILY)
def test_a_class_is_a_public_name_and_its_copies_keep_all_but_a_pickle_what_stays_in_memory(kind):
    assert getattr(ferry_sdk, kind.__name__) is kind
    assert kind.__name__ in ferry_sdk.__all__
    assert kind.__doc__
    error = filled(kind)
    attributes = vars(error)
    assert attributes.keys() >= {"outcome", "operation", "attempts", "correlation_id"}
    assert None not in attributes.values(), "these tests leave none at its default"
    assert {name for name in attributes if not name.startswith("_")} <= set(dir(kind))
    assert "Okonkwo" not in f"{error} {error!r}"
    assert "ticketed" not in f"{error} {error!r}"
    assert repr(error).startswith(kind.__name__)
    assert str(error)
    error = filled(kind)
    given = shown(error)
    deep = copy.deepcopy(error)
    for one in (copy.copy(error), deep):
        assert (type(one), one.args, shown(one)) == (kind, error.args, given)
    for name in MEMORY_ONLY & vars(error).keys():
        assert getattr(deep, name) is not getattr(error, name)
    expected = {name: None if name in MEMORY_ONLY else value for name, value in given.items()}
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        again = pickle.loads(pickle.dumps(error, protocol))
        assert (type(again), again.args, shown(again)) == (kind, error.args, expected), protocol
        assert (str(again), repr(again)) == (str(error), repr(error)), protocol


HOME = str(Path(ferry_sdk.__file__).parent)
SERVICES = {
    "refusal": httpx.Response(422, json={"error": True, "code": "X", "message": "no"}),
    "not JSON": httpx.Response(200, text="<html>"),
    "not the record": httpx.Response(200, json={"booking_id": 1}),
    "redirect": httpx.Response(302, headers={"location": "/"}),
    "no connection": httpx.ConnectError("refused"),
    "lost": httpx.ReadError("reset"),
}


@each("raw", [False, True])
@each("service", SERVICES)
@each(
    "call",
    [
        lambda ferry: ferry.bookings.confirm("b-1"),
        lambda ferry: ferry.tickets.get("t-1"),
        lambda ferry: ferry.mcp.confirm_booking("b-1"),
        lambda ferry: ferry.mcp.ports(),
    ],
)
def test_a_traceback_has_three_frames_of_the_library_and_no_context(clients, service, call, raw):
    ferry = client_of(clients, Exchanges(SERVICES[service]))
    with pytest.raises(FerryError) as info:
        call(ferry.with_raw_response if raw else ferry)
    error = info.value
    frames = traceback.extract_tb(error.__traceback__)
    assert 1 <= sum(frame.filename.startswith(HOME) for frame in frames) <= 3
    assert error.__context__ is None or error.__suppress_context__
    link = error.__cause__
    assert (link is not None) == isinstance(error, errors.OutcomeUnknownError)
    while link is not None:
        assert link.__traceback__ is None
        assert link.__context__ is None
        link = link.__cause__


def test_an_error_of_a_description_has_no_context_and_an_unreadable_record_names_its_field(clients):
    ferry = client_of(clients, Exchanges(httpx.Response(200)))
    error = caught(errors.InvalidInputError, ferry.tickets.get, "..")
    assert (error.field, error.outcome, error.attempts) == ("ticket_id", "not_sent", ())
    assert error.__context__ is None
    reply = httpx.Response(200, json={"penalty_amount": []}, headers={"x-request-id": "r-9"})
    ferry = client_of(clients, Exchanges(reply))
    error = caught(errors.UnexpectedResponseError, ferry.tickets.cancel_fee, "t-1")
    assert (error.field, error.status_code, error.request_id) == ("penalty_amount", 200, "r-9")
    assert (error.body, error.outcome) == ({"penalty_amount": []}, "unknown")


def test_an_unknown_outcome_names_its_request_and_not_its_content(both, ferry_sandbox):
    ferry_sandbox.faults.add("lose_reply", "*.confirm*", times=None)
    first, again, other = (
        caught(errors.OutcomeUnknownError, both.bookings.confirm, booking_id)
        for booking_id in ("b-1", "b-1", "b-2")
    )
    for error in (first, again, other):
        assert (error.request.method, error.request.path) == ("POST", "/api/booking/confirm")
        assert error.outcome == "unknown"
        assert error.correlation_id
        advice = f"(correlation id {error.correlation_id}; ferry.recover(error) reads it back)"
        assert str(error).endswith(advice)
        assert re.fullmatch("[0-9a-f]{32}", error.request.digest)
    assert first.request == again.request
    assert first.request != other.request
    lost = caught(errors.OutcomeUnknownError, both.mcp.confirm_booking, "b-1")
    assert lost.request.path == "/mcp tools/call confirm_booking"
    assert lost.operation == "mcp.confirm_booking"
