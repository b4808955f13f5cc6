"""Every failure is of one family, is plain data, and says what became of the call."""

import copy
import pickle
import re
import subprocess
import sys
import traceback
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import httpx
import pytest

import ferry_sdk
from ferry_sdk import Attempt, FerryError, JournalEntry, RequestDigest, TicketCancellation, errors
from ferry_sdk.models import Port
from ferry_sdk.orders import Order, OrderPart
from ferry_sdk.sandbox import Sandbox
from tests.support.exchanges import Exchanges, caught, client_of
from tests.support.trip import NOW

pytestmark = pytest.mark.usefixtures("read_back_once")

BASES = {
    "FerryError": ["Exception"],
    "APIError": ["FerryError"],
    "AlreadyDoneError": ["FerryError"],
    "ConfigurationError": ["FerryError"],
    "JournalError": ["FerryError"],
    "OrderError": ["FerryError"],
    "OutcomeUnknownError": ["FerryError"],
    "PenaltyExceededError": ["FerryError"],
    "PriceChangedError": ["FerryError"],
    "ReadOnlyError": ["FerryError"],
    "TransportError": ["FerryError"],
    "UnexpectedResponseError": ["FerryError"],
    "UnresolvedWriteError": ["FerryError"],
    "InvalidInputError": ["FerryError", "ValueError"],
    "AmbiguousPlaceError": ["InvalidInputError"],
    "IdempotencyError": ["InvalidInputError"],
    "UnknownPlaceError": ["InvalidInputError"],
    "ConnectionFailedError": ["TransportError"],
    "RequestTimeoutError": ["TransportError", "TimeoutError"],
    "AuthenticationError": ["APIError"],
    "AvailabilityError": ["APIError"],
    "BadRequestError": ["APIError"],
    "BookingConfirmError": ["APIError"],
    "BookingCreateError": ["APIError"],
    "ConflictError": ["APIError"],
    "NotFoundError": ["APIError"],
    "PermissionDeniedError": ["APIError"],
    "RateLimitError": ["APIError"],
    "ServerError": ["APIError"],
    "TicketCancelError": ["APIError"],
    "TicketViewError": ["APIError"],
    "UnprocessableEntityError": ["APIError"],
    "NoSailingsError": ["AvailabilityError"],
    "TicketNotFoundError": ["NotFoundError"],
    "VoucherNotReadyError": ["NotFoundError"],
}
"""The classes and their bases, as the contract has them."""
ATTEMPTS = (
    Attempt(sent=False, problem="ConnectionFailedError", waited=0.25),
    Attempt(sent=True, status_code=503, request_id="r-1", problem="ServerError"),
)
MOMENT = datetime(2026, 11, 1, 8, 0, tzinfo=UTC)
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
PORTS = (Port(code="ESTRF", name="Tarifa", country="Spain"),)
MEMORY_ONLY = {"body", "last_seen"}


def family_of(kind):
    """Return an error class of the library and all below it."""
    family = [kind]
    for child in kind.__subclasses__():
        if child.__module__ == "ferry_sdk.errors":
            family += family_of(child)
    return family


FAMILY = family_of(FerryError)
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
    errors.UnresolvedWriteError: {"entry": ENTRY, "order_id": "o-1"},
    errors.OrderError: {
        "order": Order("o-1", "hold", (OrderPart("b-1", state="held"),)),
        "cause": FerryError("no"),
    },
    errors.RequestTimeoutError: {
        "message": "late",
        "outcome": "unknown",
        "last_seen": {"stage": "payment_due"},
    },
    errors.IdempotencyError: {"entry": ENTRY},
    errors.UnknownPlaceError: {
        "problem": "no port has this name",
        "field": "origin",
        "suggestions": PORTS,
    },
    errors.AmbiguousPlaceError: {
        "problem": "several ports have this name",
        "field": "origin",
        "candidates": PORTS,
    },
    errors.InvalidInputError: {"problem": "a date is expected", "field": "out_at"},
    FerryError: {"message": "went wrong", "outcome": "unknown"},
}
"""What a class, and those below it, are made of."""


def filled(kind):
    """Return an error of a class, none of whose attributes has its default."""
    for base, arguments in ARGUMENTS.items():
        if issubclass(kind, base):
            error = kind(**arguments)
            break
    error.operation = "bookings.create"
    error.correlation_id = "c-1"
    error.attempts = ATTEMPTS
    return error


def attributes_of(error):
    """Return the attributes of an error, in a form that can be compared."""
    return {
        name: (type(value), value.args) if isinstance(value, FerryError) else value
        for name, value in vars(error).items()
    }


every_class = pytest.mark.parametrize("kind", FAMILY, ids=lambda kind: kind.__name__)


def test_family_is_that_of_the_contract():
    bases = {kind.__name__: [base.__name__ for base in kind.__bases__] for kind in FAMILY}
    assert bases == BASES


@every_class
def test_class_is_a_public_name(kind):
    assert getattr(ferry_sdk, kind.__name__) is kind
    assert kind.__name__ in ferry_sdk.__all__
    assert kind.__doc__


@every_class
def test_class_names_its_attributes(kind):
    attributes = vars(filled(kind))
    assert attributes.keys() >= {"outcome", "operation", "attempts", "correlation_id"}
    assert None not in attributes.values()
    assert {name for name in attributes if not name.startswith("_")} <= set(dir(kind))


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (filled(errors.ConflictError), "Complet (HTTP 409, CODE)"),
        (errors.ServerError("down", status_code=502), "down (HTTP 502)"),
    ],
    ids=["with a code", "without a code"],
)
def test_text_has_status_with_code(error, text):
    assert str(error) == text


@every_class
def test_text_names_no_traveller(kind):
    error = filled(kind)
    assert str(error)
    assert repr(error).startswith(kind.__name__)
    assert "Okonkwo" not in f"{error} {error!r}"
    assert "ticketed" not in f"{error} {error!r}"


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
@every_class
def test_copy_keeps_all_attributes(kind, copied):
    error = filled(kind)
    attributes = attributes_of(error)
    other = copied(error)
    assert (type(other), other.args, attributes_of(other)) == (kind, error.args, attributes)


@every_class
def test_deep_copy_has_records_of_its_own(kind):
    error = filled(kind)
    deep = copy.deepcopy(error)
    for name in MEMORY_ONLY & vars(error).keys():
        assert getattr(deep, name) is not getattr(error, name)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@every_class
def test_pickle_leaves_out_what_stays_in_memory(kind, protocol):
    error = filled(kind)
    expected = attributes_of(error)
    expected |= dict.fromkeys(MEMORY_ONLY & expected.keys())
    again = pickle.loads(pickle.dumps(error, protocol))
    assert (type(again), again.args, attributes_of(again)) == (kind, error.args, expected)
    assert (str(again), repr(again)) == (str(error), repr(error))


IN_ANOTHER_PROCESS = """
import pickle, sys
errors = pickle.load(sys.stdin.buffer)
for error in errors:
    error.correlation_id += type(error).__name__
pickle.dump(errors, sys.stdout.buffer)
"""


@pytest.fixture(scope="module")
def returned():
    """The errors of all classes, sent to another process, changed there, and sent back."""
    process = subprocess.run(
        [sys.executable, "-W", "error", "-c", IN_ANOTHER_PROCESS],
        input=pickle.dumps([filled(kind) for kind in FAMILY]),
        capture_output=True,
        check=True,
        timeout=30,
    )
    return dict(zip(FAMILY, pickle.loads(process.stdout), strict=True))


@every_class
def test_error_comes_back_from_another_process(returned, kind):
    error = returned[kind]
    sent = filled(kind)
    assert error.correlation_id == f"c-1{kind.__name__}"
    assert str(error) == str(sent)
    assert (error.attempts, error.outcome) == (sent.attempts, sent.outcome)
    assert error.operation == sent.operation


HOME = str(Path(ferry_sdk.__file__).parent)
SERVICES = {
    "refusal": httpx.Response(422, json={"error": True, "code": "X", "message": "no"}),
    "not JSON": httpx.Response(200, text="<html>"),
    "not the record": httpx.Response(200, json={"booking_id": 1}),
    "redirect": httpx.Response(302, headers={"location": "/"}),
    "no connection": httpx.ConnectError("refused"),
    "lost": httpx.ReadError("reset"),
}


CALLS = {
    "confirm": lambda ferry: ferry.bookings.confirm("b-1"),
    "ticket": lambda ferry: ferry.tickets.get("t-1"),
    "confirm over MCP": lambda ferry: ferry.mcp.confirm_booking("b-1"),
    "resource": lambda ferry: ferry.mcp.ports(),
}


@pytest.fixture(params=CALLS)
def call(request):
    return CALLS[request.param]


@pytest.fixture(params=[False, True], ids=["record", "raw response"])
def is_raw(request):
    return request.param


@pytest.fixture(params=SERVICES)
def service(request):
    """A service that fails."""
    return Exchanges(SERVICES[request.param])


@pytest.fixture
def raised(clients, service, call, is_raw):
    """The error of a call."""
    ferry = client_of(clients, service)
    with pytest.raises(FerryError) as info:
        call(ferry.with_raw_response if is_raw else ferry)
    return info.value


def test_traceback_has_few_frames_of_the_library(raised):
    frames = traceback.extract_tb(raised.__traceback__)
    assert 1 <= sum(frame.filename.startswith(HOME) for frame in frames) <= 3


def test_error_has_no_context(raised):
    assert raised.__context__ is None or raised.__suppress_context__


def test_cause_of_an_unknown_outcome_has_no_frames(raised):
    link = raised.__cause__
    assert (link is not None) == isinstance(raised, errors.OutcomeUnknownError)
    while link is not None:
        assert link.__traceback__ is None
        assert link.__context__ is None
        link = link.__cause__


def test_invalid_argument_has_no_attempts(clients):
    ferry = client_of(clients, Exchanges(httpx.Response(200)))
    error = caught(errors.InvalidInputError, ferry.tickets.get, "..")
    assert (error.field, error.outcome, error.attempts) == ("ticket_id", "not_sent", ())
    assert error.__context__ is None


def test_unreadable_record_names_its_field(clients):
    reply = httpx.Response(200, json={"penalty_amount": []}, headers={"x-request-id": "r-9"})
    ferry = client_of(clients, Exchanges(reply))
    error = caught(errors.UnexpectedResponseError, ferry.tickets.cancel_fee, "t-1")
    assert (error.field, error.status_code, error.request_id) == ("penalty_amount", 200, "r-9")
    assert (error.body, error.outcome) == ({"penalty_amount": []}, "unknown")


@pytest.fixture(scope="module")
def service_without_replies():
    """A service that never answers a confirmation."""
    with Sandbox(now=NOW) as sandbox:
        sandbox.faults.add("lose_reply", "*.confirm*", times=None)
        yield sandbox


@pytest.fixture
def unsure(clients, service_without_replies):
    """A client of this service."""
    return clients(service_without_replies.token, base_url=service_without_replies.base_url)


def confirm_unsurely(ferry, booking_id):
    return caught(errors.OutcomeUnknownError, ferry.bookings.confirm, booking_id)


def test_unknown_outcome_names_its_request(unsure):
    error = confirm_unsurely(unsure, "b-1")
    assert error.outcome == "unknown"
    assert (error.request.method, error.request.path) == ("POST", "/api/booking/confirm")
    assert re.fullmatch("[0-9a-f]{32}", error.request.digest)


def test_unknown_outcome_says_how_to_recover(unsure):
    error = confirm_unsurely(unsure, "b-1")
    assert error.correlation_id
    advice = f"(correlation id {error.correlation_id}; ferry.recover(error) reads it back)"
    assert str(error).endswith(advice)


def test_unknown_outcome_that_no_read_shows_says_so(clients):
    ferry = client_of(clients, Exchanges(httpx.Response(500)))
    error = caught(errors.OutcomeUnknownError, ferry.request, "POST", "/api/note")
    assert str(error).endswith("ask the service's support before you send it again)")


def test_same_request_has_the_same_digest(unsure):
    assert confirm_unsurely(unsure, "b-1").request == confirm_unsurely(unsure, "b-1").request


def test_other_request_has_another_digest(unsure):
    assert confirm_unsurely(unsure, "b-1").request != confirm_unsurely(unsure, "b-2").request


def test_unknown_outcome_names_its_tool(unsure):
    error = caught(errors.OutcomeUnknownError, unsure.mcp.confirm_booking, "b-1")
    assert error.request.path == "/mcp tools/call confirm_booking"
    assert error.operation == "mcp.confirm_booking"
