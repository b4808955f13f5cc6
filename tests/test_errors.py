"""Every failure is of one family, is plain data, and says what became of the call."""

from __future__ import annotations

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
from tests.support.cases import case
from tests.support.tables import each

pytestmark = pytest.mark.usefixtures("read_back_once")

URL = "https://ferry.example"

BASES = {
    "FerryError": ("Exception",),
    "ConfigurationError": ("FerryError",),
    "InvalidInputError": ("FerryError", "ValueError"),
    "ReadOnlyError": ("FerryError",),
    "TransportError": ("FerryError",),
    "ConnectionFailedError": ("TransportError",),
    "RequestTimeoutError": ("TransportError", "TimeoutError"),
    "OutcomeUnknownError": ("FerryError",),
    "PriceChangedError": ("FerryError",),
    "PenaltyExceededError": ("FerryError",),
    "AlreadyDoneError": ("FerryError",),
    "JournalError": ("FerryError",),
    "UnresolvedWriteError": ("FerryError",),
    "OrderError": ("FerryError",),
    "UnexpectedResponseError": ("FerryError",),
    "APIError": ("FerryError",),
    "BadRequestError": ("APIError",),
    "AuthenticationError": ("APIError",),
    "PermissionDeniedError": ("APIError",),
    "NotFoundError": ("APIError",),
    "ConflictError": ("APIError",),
    "UnprocessableEntityError": ("APIError",),
    "RateLimitError": ("APIError",),
    "ServerError": ("APIError",),
    "AvailabilityError": ("APIError",),
    "NoSailingsError": ("AvailabilityError",),
    "UnknownPlaceError": ("InvalidInputError",),
    "AmbiguousPlaceError": ("InvalidInputError",),
    "BookingCreateError": ("APIError",),
    "BookingConfirmError": ("APIError",),
    "TicketViewError": ("APIError",),
    "TicketNotFoundError": ("NotFoundError",),
    "VoucherNotReadyError": ("NotFoundError",),
    "TicketCancelError": ("APIError",),
}
ATTEMPTS = (
    Attempt(sent=False, problem="ConnectionFailedError", waited=0.25),
    Attempt(sent=True, status_code=503, request_id="r-1", problem="ServerError"),
)
ENTRY = JournalEntry(
    id="e-1",
    operation="bookings.create",
    method="POST",
    path="/api/booking",
    subject={},
    correlation_id="c-0",
    fingerprint="f-1",
    state="open",
    created_at=datetime(2026, 11, 1, 8, 0, tzinfo=timezone.utc),
    changed_at=datetime(2026, 11, 1, 8, 0, tzinfo=timezone.utc),
)
MEMORY_ONLY = {"body", "last_seen"}


def family(kind=FerryError):
    children = [one for one in kind.__subclasses__() if one.__module__ == "ferry_sdk.errors"]
    return [kind, *(member for child in children for member in family(child))]


FAMILY = family()
of_each_class = each("kind", FAMILY, ids=lambda kind: kind.__name__)


def filled(kind):  # noqa: C901 -- a branch for each class
    """An error of the class with a value of its own in every attribute."""
    error: FerryError
    if issubclass(kind, errors.APIError):
        error = kind(
            "Complet",
            status_code=409,
            code="CODE",
            field="companies[0]",
            request_id="r-2",
            body={"passengers": ["Okonkwo"]},
            retry_after=1.5,
            www_authenticate='Bearer error="invalid_token"',
        )
    elif issubclass(kind, errors.UnexpectedResponseError):
        error = kind("odd", status_code=200, request_id="r-2", field="tickets[0].id", body=["x"])
    elif issubclass(kind, errors.OutcomeUnknownError):
        digest = RequestDigest("POST", "/api/booking", "abcd")
        error = kind(
            "perhaps",
            request=digest,
            subject={"booking_id": "b-1"},
            last_seen={"stage": "ticketed"},
            entry_id="e-1",
        )
    elif issubclass(kind, errors.PriceChangedError):
        error = kind(expected=Decimal(80), found=Decimal("81.50"), currency="EUR")
    elif issubclass(kind, errors.PenaltyExceededError):
        error = kind(
            limit=Decimal(10),
            min_refund=Decimal(90),
            penalty=Decimal("10.01"),
            refund=Decimal("89.99"),
            currency="EUR",
        )
    elif issubclass(kind, errors.AlreadyDoneError):
        result = TicketCancellation(ticket_id="t-1", status="cancelled", read_back=True)
        error = kind("before", result=result, last_seen={"stage": "ticketed"}, outcome="rejected")
    elif issubclass(kind, errors.UnresolvedWriteError):
        error = kind(ENTRY)
    elif issubclass(kind, errors.OrderError):
        error = kind(
            Order("o-1", "hold", (OrderPart("b-1", state="held"),)), errors.FerryError("no")
        )
    elif issubclass(kind, errors.RequestTimeoutError):
        error = kind("late", outcome="unknown", last_seen={"stage": "payment_due"})
    elif issubclass(kind, errors.InvalidInputError):
        error = kind("a date is expected", field="out_at")
    else:
        error = kind("went wrong", outcome="unknown")
    error.operation = "bookings.create"
    error.correlation_id = "c-1"
    error.attempts = ATTEMPTS
    return error


def shown(error):
    """The attributes of an error; an error among them equals no other, but its text does."""
    return {
        name: (type(value), value.args) if isinstance(value, FerryError) else value
        for name, value in vars(error).items()
    }


def same(one, other):
    return type(one) is type(other) and one.args == other.args and shown(one) == shown(other)


def test_the_family_is_the_one_of_the_contract():
    tree = {kind.__name__: tuple(base.__name__ for base in kind.__bases__) for kind in FAMILY}
    assert tree == BASES


@of_each_class
def test_a_class_is_a_public_name_with_a_docstring(kind):
    assert getattr(ferry_sdk, kind.__name__) is kind
    assert kind.__name__ in ferry_sdk.__all__
    assert kind.__doc__


@of_each_class
def test_no_attribute_is_left_at_its_default_in_these_tests(kind):
    attributes = vars(filled(kind))
    assert attributes.keys() >= {"outcome", "operation", "attempts", "correlation_id"}
    assert None not in attributes.values()


@of_each_class
def test_dir_of_a_class_shows_what_an_error_has(kind):
    assert {name for name in vars(filled(kind)) if not name.startswith("_")} <= set(dir(kind))


@of_each_class
@each("copied", [copy.copy, copy.deepcopy], ids=["copy", "deepcopy"])
def test_a_copy_keeps_every_attribute(kind, copied):
    error = filled(kind)
    assert same(copied(error), error)


@of_each_class
def test_a_deep_copy_shares_nothing_that_can_change(kind):
    error = filled(kind)
    deep = copy.deepcopy(error)
    for name in MEMORY_ONLY & vars(error).keys():
        assert getattr(deep, name) is not getattr(error, name)


@of_each_class
def test_a_pickle_keeps_all_but_what_stays_in_memory(kind):
    error = filled(kind)
    given = shown(error)
    expected = {name: None if name in MEMORY_ONLY else value for name, value in given.items()}
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        with case(protocol):
            again = pickle.loads(pickle.dumps(error, protocol))
            assert (type(again), again.args, shown(again)) == (kind, error.args, expected)
            assert (str(again), repr(again)) == (str(error), repr(error))


def test_all_of_them_reach_another_process_and_come_back():
    given = [filled(kind) for kind in FAMILY]
    there = (
        "import pickle, sys\n"
        "errors = pickle.load(sys.stdin.buffer)\n"
        "for error in errors:\n"
        "    error.correlation_id += type(error).__name__\n"
        "pickle.dump(errors, sys.stdout.buffer)\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", there],
        input=pickle.dumps(given),
        capture_output=True,
        check=True,
        timeout=30,
    )
    back = pickle.loads(done.stdout)
    for error, sent in zip(back, given, strict=True):
        assert error.correlation_id == f"c-1{type(sent).__name__}"
        assert (str(error), error.attempts, error.outcome, error.operation) == (
            str(sent),
            sent.attempts,
            sent.outcome,
            sent.operation,
        )


@of_each_class
def test_neither_str_nor_repr_shows_what_stays_in_memory(kind):
    error = filled(kind)
    assert "Okonkwo" not in f"{error} {error!r}"
    assert "ticketed" not in f"{error} {error!r}"
    assert repr(error).startswith(kind.__name__)
    assert str(error)


def test_the_words_of_a_refusal_name_status_and_code():
    assert str(filled(errors.ConflictError)) == "Complet (HTTP 409, CODE)"
    assert str(errors.ServerError("down", status_code=502)) == "down (HTTP 502)"


def answering(status=200, *, headers=None, **body):
    return httpx.MockTransport(lambda _: httpx.Response(status, headers=headers, **body))


def client_of(clients, transport, **settings):
    kind = httpx.AsyncClient if clients.is_async else httpx.Client
    return clients(
        "token",
        base_url=URL,
        http_client=kind(transport=transport),
        **{"max_retries": 0} | settings,
    )


def caught(call, *args, **kwargs):
    with pytest.raises(FerryError) as info:
        call(*args, **kwargs)
    return info.value


def library_frames(error):
    home = str(Path(ferry_sdk.__file__).parent)
    frames = traceback.extract_tb(error.__traceback__)
    return [frame.name for frame in frames if frame.filename.startswith(home)]


def _refused(_):
    raise httpx.ConnectError("refused")


def _lost(_):
    raise httpx.ReadError("reset")


TRANSPORTS = {
    "refusal": answering(422, json={"error": True, "code": "X", "message": "no"}),
    "not JSON": answering(200, text="<html>"),
    "not the record": answering(200, json={"booking_id": 1}),
    "redirect": answering(302, headers={"location": "/"}),
    "no connection": httpx.MockTransport(_refused),
    "lost": httpx.MockTransport(_lost),
}


@each("raw", [False, True], ids=["plain", "raw"])
@each("transport", TRANSPORTS.values(), ids=TRANSPORTS)
@each(
    "call",
    [
        lambda ferry: ferry.bookings.confirm("b-1"),
        lambda ferry: ferry.tickets.get("t-1"),
        lambda ferry: ferry.mcp.confirm_booking("b-1"),
        lambda ferry: ferry.mcp.ports(),
    ],
    ids=["write", "read", "MCP write", "MCP read"],
)
def test_a_traceback_has_three_frames_of_the_library_and_no_context(clients, transport, call, raw):
    ferry = client_of(clients, transport)
    error = caught(call, ferry.with_raw_response if raw else ferry)
    assert 1 <= len(library_frames(error)) <= 3
    assert error.__context__ is None or error.__suppress_context__
    link = error.__cause__
    assert (link is not None) == isinstance(error, errors.OutcomeUnknownError)
    while link is not None:
        assert link.__traceback__ is None
        assert link.__context__ is None
        link = link.__cause__


def test_the_caller_sees_nothing_but_the_error_and_its_cause(clients):
    ferry = client_of(clients, TRANSPORTS["lost"])
    error = caught(ferry.tickets.get, "t-1")
    assert error.__context__ is None
    assert error.__cause__ is None
    unknown = caught(ferry.bookings.confirm, "b-1")
    assert unknown.__context__ is unknown.__cause__ or unknown.__context__ is None
    assert type(unknown.__cause__) is errors.ConnectionFailedError


def test_an_error_raised_by_describing_a_call_has_few_frames_too(clients):
    ferry = client_of(clients, answering())
    error = caught(ferry.tickets.get, "..")
    assert isinstance(error, errors.InvalidInputError)
    assert error.field == "ticket_id"
    assert error.outcome == "not_sent"
    assert error.attempts == ()
    assert error.__context__ is None


def test_an_error_says_what_was_tried_under_which_ids(both, ferry_sandbox):
    ferry_sandbox.faults.add("server_error", "tickets.get", status=502)
    error = caught(both.with_options(correlation_id="c-7").tickets.get, "t-nobody")
    assert isinstance(error, errors.TicketNotFoundError)
    assert error.operation == "tickets.get"
    assert error.correlation_id == "c-7"
    assert error.outcome == "rejected"
    first, second = error.attempts
    assert (first.sent, first.status_code, first.problem) == (True, 502, "ServerError")
    assert (second.sent, second.status_code, second.problem) == (True, 404, "TicketNotFoundError")
    assert second.request_id == error.request_id
    assert first.request_id
    assert first.request_id != second.request_id


def test_a_refused_connection_was_not_sent(clients, ferry_sandbox):
    ferry = clients(ferry_sandbox.token, base_url=ferry_sandbox.base_url, max_retries=0)
    ferry_sandbox.stop()
    for call in (ferry.bookings.confirm, ferry.bookings.get, ferry.mcp.confirm_booking):
        error = caught(call, "b-1")
        assert type(error) is errors.ConnectionFailedError
        assert ferry_sandbox.base_url.removeprefix("http://") in str(error)
        assert error.outcome == "not_sent"
        refused = Attempt(sent=False, problem="ConnectionFailedError", operation=error.operation)
        assert error.attempts == (refused,)


def test_a_read_cut_off_is_unknown_and_a_connection_error(both, ferry_sandbox):
    ferry_sandbox.faults.add("cut_before", "catalogue.ports")
    error = caught(both.with_options(max_retries=0).catalogue.ports)
    assert type(error) is errors.ConnectionFailedError
    assert error.outcome == "unknown"
    cut = Attempt(sent=True, problem="ConnectionFailedError", operation="catalogue.ports")
    assert error.attempts == (cut,)


def test_a_reply_that_takes_too_long_is_a_time_out(both, ferry_sandbox):
    ferry_sandbox.faults.add("delay_before", "catalogue.ports", seconds=2.0)
    error = caught(both.with_options(max_retries=0, timeout=0.1).catalogue.ports)
    assert type(error) is errors.RequestTimeoutError
    assert error.outcome == "unknown"


def test_an_unknown_outcome_names_its_request_and_not_its_content(both, ferry_sandbox):
    ferry_sandbox.faults.add("lose_reply", "bookings.confirm", times=None)
    first = caught(both.bookings.confirm, "b-1")
    again = caught(both.bookings.confirm, "b-1")
    other = caught(both.bookings.confirm, "b-2")
    for error in (first, again, other):
        assert isinstance(error, errors.OutcomeUnknownError)
        assert (error.request.method, error.request.path) == ("POST", "/api/booking/confirm")
        assert error.outcome == "unknown"
        assert error.correlation_id
        advice = f"(correlation id {error.correlation_id}; ferry.recover(error) reads it back)"
        assert str(error).endswith(advice)
        assert re.fullmatch("[0-9a-f]{32}", error.request.digest)
    assert first.request == again.request
    assert first.request != other.request


def test_an_error_of_mcp_names_tool_and_resource(both, ferry_sandbox):
    ferry_sandbox.faults.add("lose_reply", "mcp.confirm_booking")
    error = caught(both.mcp.confirm_booking, "b-1")
    assert isinstance(error, errors.OutcomeUnknownError)
    assert error.request.path == "/mcp tools/call confirm_booking"
    assert error.operation == "mcp.confirm_booking"


def test_an_unreadable_record_names_its_field(clients):
    ferry = client_of(clients, answering(200, json={"url": 5}, headers={"x-request-id": "r-9"}))
    error = caught(ferry.tickets.pdf, "t-1")
    assert isinstance(error, errors.UnexpectedResponseError)
    assert (error.field, error.status_code, error.request_id) == ("url", 200, "r-9")
    assert error.body == {"url": 5}
    assert error.outcome == "unknown"


def test_the_same_error_can_be_caught_and_raised_twice(clients):
    ferry = client_of(clients, answering(404))
    first = caught(ferry.tickets.get, "t-1")
    second = caught(ferry.tickets.get, "t-1")
    assert first is not second
    assert first.correlation_id != second.correlation_id
