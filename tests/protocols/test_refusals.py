"""What the service refuses becomes one class for both protocols, and is told from a lost reply."""

import json
import time
from email.utils import formatdate

import httpx
import pytest

from ferry_sdk import (
    AlreadyDoneError,
    APIError,
    AuthenticationError,
    AvailabilityError,
    BadRequestError,
    BookingConfirmError,
    BookingCreateError,
    ConflictError,
    ConnectionFailedError,
    NoSailingsError,
    NotFoundError,
    OutcomeUnknownError,
    PermissionDeniedError,
    RateLimitError,
    ServerError,
    TicketCancelError,
    TicketNotFoundError,
    TicketViewError,
    UnexpectedResponseError,
    UnprocessableEntityError,
)
from tests.support.cases import case
from tests.support.exchanges import Exchanges, caught, client_of
from tests.support.tables import each
from tests.support.tiers import mostly_long
from tests.support.trip import PASSENGERS, found

pytestmark = pytest.mark.usefixtures("read_back_once")

BY_STATUS = {
    400: BadRequestError,
    401: AuthenticationError,
    402: APIError,
    403: PermissionDeniedError,
    404: NotFoundError,
    405: APIError,
    406: APIError,
    408: APIError,
    409: ConflictError,
    410: APIError,
    413: APIError,
    415: APIError,
    418: APIError,
    422: UnprocessableEntityError,
    429: RateLimitError,
    451: APIError,
    499: APIError,
    500: ServerError,
    501: ServerError,
    502: ServerError,
    503: ServerError,
    504: ServerError,
    529: ServerError,
    599: ServerError,
}
BY_CODE = {
    "AVAILABILITY_ERROR": AvailabilityError,
    "BOOKING_CREATE_ERROR": BookingCreateError,
    "BOOKING_CONFIRM_ERROR": BookingConfirmError,
    "TICKET_VIEW_ERROR": TicketViewError,
    "TICKET_NOT_FOUND": TicketNotFoundError,
    "TICKET_CANCEL_ERROR": TicketCancelError,
}
UNKNOWN_TO_A_WRITE = [408, 500, 502, 503, 504, 599]


def refusing(clients, status, body=b"{}", **headers):
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    service = Exchanges(httpx.Response(status, headers=named, content=body))
    return client_of(clients, service), service


def interface_error(code, message="No."):
    return json.dumps({"error": True, "code": code, "message": message}).encode()


@each(("status", "kind"), BY_STATUS.items())
def test_a_status_has_its_class(clients, status, kind):
    ferry, _ = refusing(clients, status, interface_error("OTHER"), x_request_id="r-1")
    error = caught(kind, ferry.tickets.get, "t-1")
    assert (error.status_code, error.code, error.message) == (status, "OTHER", "No.")
    assert error.request_id == "r-1"
    assert error.body == {"error": True, "code": "OTHER", "message": "No."}
    assert error.retry_after is None
    unknown = status >= 500 or status == 408
    assert error.outcome == ("unknown" if unknown else "rejected")


@each(("status", "kind"), BY_STATUS.items())
def test_a_status_has_the_same_class_over_mcp(clients, status, kind):
    handshake = httpx.Response(200, json={"result": {"protocolVersion": "2025-11-25"}})
    service = Exchanges(
        handshake, httpx.Response(202), httpx.Response(status, content=b'{"message": "No."}')
    )
    error = caught(kind, client_of(clients, service).mcp.view_ticket, "t-1")
    assert (error.status_code, error.message) == (status, "No.")


def at(status, kind):
    """The class at a status: a search that is not found is one of its own."""
    return NoSailingsError if (status, kind) == (404, AvailabilityError) else kind


@each(("code", "kind"), BY_CODE.items())
def test_a_known_code_decides_at_any_status(clients, code, kind):
    for status in (200, 201, 400, 401, 404, 409, 422, 429, 500, 503):
        with case(status):
            ferry, _ = refusing(clients, status, interface_error(code))
            error = caught(at(status, kind), ferry.tickets.get, "t-1")
            assert (error.status_code, error.code) == (status, code)


@each("status", [400, 404, 409, 422])
@each(("code", "kind"), BY_CODE.items())
def test_a_known_code_decides_for_a_write_too(clients, status, code, kind):
    ferry, service = refusing(clients, status, interface_error(code))
    confirm = ferry.with_options(max_retries=2).bookings.confirm
    error = caught(at(status, kind), confirm, "b-1")
    assert error.outcome == "rejected"
    assert [one.method for one in service.requests].count("POST") == 1


@each("code", [*BY_CODE, "OTHER"])
@each("status", UNKNOWN_TO_A_WRITE)
def test_a_5xx_or_408_to_a_write_is_unknown_whatever_its_code(clients, status, code):
    ferry, service = refusing(clients, status, interface_error(code), x_request_id="r-1")
    error = caught(OutcomeUnknownError, ferry.with_options(max_retries=2).bookings.confirm, "b-1")
    assert [request.method for request in service.requests].count("POST") == 1
    assert error.attempts[0].status_code == status
    assert error.attempts[0].request_id == "r-1"
    assert error.last_seen == json.loads(interface_error(code))
    assert isinstance(error.__cause__, APIError)


def test_an_error_object_under_status_200_is_a_refusal_of_a_write(clients):
    ferry, _ = refusing(clients, 200, interface_error("BOOKING_CREATE_ERROR", "Sold out"))
    call = ferry.bookings.create
    selection = {"availability_id": "a", "tariff_id": "t", "place_id": "p"}
    error = caught(BookingCreateError, call, availabilities=[selection], passengers=PASSENGERS)
    assert (error.outcome, error.message) == ("rejected", "Sold out")


BODIES = [
    ({"error": True, "code": "C", "message": "m"}, "C", "m"),
    ({"error": "invalid_token", "error_description": "m"}, None, "m"),
    ({"error": "invalid_token"}, None, "invalid_token"),
    ({"error": {"code": "C", "message": "m"}}, "C", "m"),
    ({"errors": [{"code": "C", "message": "m"}, {"message": "n"}]}, "C", "m"),
    ({"errors": [{"code": "C", "title": "t", "detail": "m"}]}, "C", "m"),
    ({"detail": "m"}, None, "m"),
    ({"detail": [{"loc": ["body"], "msg": "m"}]}, None, "m"),
    ({"type": "about:blank", "title": "m", "status": 418}, None, "m"),
    ({"errorCode": "C", "message": "m"}, "C", "m"),
    ({"error_code": "C", "msg": "m"}, "C", "m"),
    ({"code": 17, "message": "m"}, None, "m"),
    ({"code": "C", "message": {"en": "m"}}, "C", "I'm a Teapot"),
    ({"message": "  m\n"}, None, "m"),
    ({"message": ""}, None, "I'm a Teapot"),
    ({"message": "m" * 2000}, None, "m" * 500),
    ([{"message": "m"}], None, "m"),
    ([], None, "I'm a Teapot"),
    ({}, None, "I'm a Teapot"),
    (None, None, "I'm a Teapot"),
    ("m", None, "I'm a Teapot"),
    (17, None, "I'm a Teapot"),
    (False, None, "I'm a Teapot"),
]


@each(("body", "code", "message"), BODIES, ids=lambda part: repr(part)[:40])
def test_code_and_message_are_found_in_the_usual_places(clients, body, code, message):
    ferry, _ = refusing(clients, 418, json.dumps(body).encode())
    error = caught(APIError, ferry.tickets.get, "t-1")
    assert (error.code, error.message.lower()) == (code, message.lower())
    assert error.body == body


@each(
    ("content", "text"),
    [
        (b"", ""),
        (b"<html><p>We are back soon", "<html><p>We are back soon"),
        (b"Caf\xe9", "Caf\ufffd"),
        (b'{"message": "m"', '{"message": "m"'),
        (b'{"message": "\xff"}', '{"message": "\ufffd"}'),
    ],
)
@each(("status", "kind"), [(404, NotFoundError), (503, ServerError)])
def test_a_body_that_is_no_json_leaves_the_status_to_speak(clients, content, text, status, kind):
    ferry, _ = refusing(clients, status, content, content_type="text/html")
    error = caught(kind, ferry.tickets.get, "t-1")
    assert error.message in {"Not Found", "Service Unavailable"}
    assert error.body == text
    assert text[:20] not in str(error) or not text


def test_a_status_without_a_name_still_says_something(clients):
    ferry, _ = refusing(clients, 499, b"")
    error = caught(APIError, ferry.tickets.get, "t-1")
    assert str(error) == "the service refused (HTTP 499)"


@each(
    ("text", "seconds"),
    [("0", 0.0), ("7", 7.0), (" 7 ", 7.0), ("1.5", 1.5), ("86400", 86400.0)]
    + [(text, None) for text in ("", "-1", "soon", "1e3", "inf", "nan", "1,5", "0x10")],
)
def test_retry_after_in_seconds(clients, text, seconds):
    ferry, _ = refusing(clients, 429, retry_after=text)
    error = caught(RateLimitError, ferry.tickets.get, "t-1")
    assert error.retry_after == seconds
    assert seconds is None or type(error.retry_after) is float


def test_retry_after_as_a_date(clients):
    before = time.time()
    ferry, _ = refusing(clients, 503, retry_after=formatdate(before + 90, usegmt=True))
    error = caught(ServerError, ferry.tickets.get, "t-1")
    passed = time.time() - before
    # A date of HTTP has whole seconds.
    assert error.retry_after is not None
    assert 89 - passed <= error.retry_after <= 90


def test_a_retry_after_in_the_past_is_now(clients):
    ferry, _ = refusing(clients, 429, retry_after="Wed, 21 Oct 2015 07:28:00 GMT")
    assert caught(RateLimitError, ferry.tickets.get, "t-1").retry_after == 0.0


@each("date", ["Mon, 01 Jan 99999999999999999999 00:00:00 GMT", "Mon, 01"])
def test_a_retry_after_that_is_no_date_is_none(clients, date):
    ferry, _ = refusing(clients, 429, retry_after=date)
    assert caught(RateLimitError, ferry.tickets.get, "t-1").retry_after is None


# ---- through real sockets ---------------------------------------------------------------------


WRITES = {
    "bookings.create": ("bookings.create", lambda f, on: f.bookings.create(**on["creation"])),
    "bookings.confirm": ("bookings.confirm", lambda f, on: f.bookings.confirm(on["booking"])),
    "bookings.cancel": ("bookings.cancel", lambda f, on: f.bookings.cancel(on["booking"])),
    "tickets.cancel": ("tickets.cancel", lambda f, on: f.tickets.cancel(on["ticket"])),
    "tickets.mark_paid": (
        "tickets.mark_paid",
        lambda f, on: f.tickets.mark_paid(on["ticket"], external_payment_ref="p-1"),
    ),
    "mcp.create_booking": ("bookings.create", lambda f, on: f.mcp.create_booking(**on["creation"])),
    "mcp.confirm_booking": ("bookings.confirm", lambda f, on: f.mcp.confirm_booking(on["booking"])),
    "mcp.cancel_ticket": ("tickets.cancel", lambda f, on: f.mcp.cancel_ticket(on["ticket"])),
}
"""Each write with the effect that the local service counts, and a call that makes it."""
READS = {
    "bookings.get": lambda f, on: f.bookings.get(on["booking"]),
    "mcp.view_ticket": lambda f, on: f.mcp.view_ticket(on["ticket"]),
    "bookings.cancel_fee": lambda f, on: f.bookings.cancel_fee(on["booking"]),
    "catalogue.journeys": lambda f, _: f.catalogue.journeys(),
    "mcp.companies": lambda f, _: f.mcp.companies(),
}
SHOWN = ("bookings.confirm", "bookings.cancel", "tickets.cancel")
NOTHING_DONE = [
    ("cut_before", {}),
    ("server_error", {"status": 502}),
    ("request_timeout", {}),
]
FAULTS = [
    ("lose_reply", {}),
    ("html_page", {}),
    *NOTHING_DONE,
    ("lose_reply", {"reset": True}),
    ("truncate", {}),
    ("truncate", {"chunked": True, "reset": True}),
    ("server_error_after", {"status": 504}),
    ("request_timeout_after", {}),
    ("html_page", {"status": 200}),
    ("not_json", {}),
    ("not_utf8", {}),
    ("empty_body", {}),
    ("empty_body", {"status": 202}),
    ("wrong_shape", {"value": "nonsense"}),
]
every_fault = pytest.mark.parametrize(("fault", "details"), mostly_long(FAULTS, short=3))


@pytest.fixture
def prepare(both, ferry_sandbox):
    """Make a booking, as often as it is called, and return what the calls need."""
    sailing = found(both)
    selection = sailing.select(tariff=sailing.tariffs[0], place=sailing.places[0])
    creation = {"availabilities": [selection], "passengers": PASSENGERS}

    def book():
        ferry_sandbox.faults.clear()
        booking_id = both.bookings.create(**creation).booking_id
        ticket_id = both.bookings.get(booking_id).tickets[0].id
        ferry_sandbox.counters.reset()
        return {"creation": creation, "booking": booking_id, "ticket": ticket_id}

    return book


@every_fault
@each("operation", WRITES)
def test_a_write_without_a_readable_reply_is_sent_once_and_unknown_or_read_back(
    both, ferry_sandbox, prepare, operation, fault, details
):
    effect, call = WRITES[operation]
    on = prepare()
    is_done = (fault, details) not in NOTHING_DONE
    ferry_sandbox.faults.add(fault, operation, times=None, **details)
    if is_done and effect in SHOWN:
        assert call(both, on).read_back
    else:
        error = caught(OutcomeUnknownError, call, both, on)
        assert error.operation == operation
        assert error.outcome == "unknown"
        assert error.correlation_id
        assert error.attempts[0].sent
        assert [attempt.operation for attempt in error.attempts].count(operation) == 1
    assert ferry_sandbox.counters.requests[operation] == 1
    assert len(ferry_sandbox.counters.effects_of(effect)) == is_done


@each("operation", WRITES)
def test_a_write_refused_for_its_rate_is_sent_again_and_done_once(
    both, ferry_sandbox, prepare, operation
):
    effect, call = WRITES[operation]
    on = prepare()
    ferry_sandbox.faults.add("rate_limited", operation, times=2, retry_after=0)
    call(both, on)
    assert ferry_sandbox.counters.requests[operation] == 3
    assert len(ferry_sandbox.counters.effects_of(effect)) == 1


@each(
    ("fault", "status", "kind"),
    [
        ("unauthorized", 401, AuthenticationError),
        ("unauthorized", 403, PermissionDeniedError),
        ("not_acceptable", 406, APIError),
        ("not_acceptable", 415, APIError),
        *(("redirect", status, UnexpectedResponseError) for status in (301, 302, 303, 307, 308)),
    ],
)
@each("operation", WRITES)
def test_a_write_refused_or_redirected_is_sent_once_and_not_done(
    both, ferry_sandbox, prepare, operation, fault, status, kind
):
    on = prepare()
    ferry_sandbox.faults.add(fault, operation, times=None, status=status)
    error = caught(kind, WRITES[operation][1], both, on)
    assert error.status_code == status
    assert fault == "redirect" or error.outcome == "rejected"
    assert ferry_sandbox.counters.requests[operation] == 1
    assert not ferry_sandbox.counters.effects


@each("operation", WRITES)
def test_a_token_that_only_reads_is_refused_a_write(clients, ferry_sandbox, prepare, operation):
    on = prepare()
    token = ferry_sandbox.read_only_token
    ferry = clients(token, base_url=ferry_sandbox.base_url, organisation_token=token)
    error = caught(PermissionDeniedError, WRITES[operation][1], ferry, on)
    assert (error.status_code, error.code) == (403, "FORBIDDEN")
    assert not ferry_sandbox.counters.effects


@every_fault
@each("operation", READS)
def test_a_read_without_a_readable_reply_is_sent_again(
    both, ferry_sandbox, prepare, operation, fault, details
):
    on = prepare()
    ferry_sandbox.faults.add(fault, operation, times=2, **details)
    READS[operation](both, on)
    assert ferry_sandbox.counters.requests[operation] == 3
    assert not ferry_sandbox.counters.effects


@each(
    ("fault", "kind"),
    [
        *((fault, ConnectionFailedError) for fault in ("cut_before", "lose_reply", "truncate")),
        *((fault, ServerError) for fault in ("server_error", "server_error_after")),
        ("request_timeout", APIError),
        ("rate_limited", RateLimitError),
        *((fault, UnexpectedResponseError) for fault in ("html_page", "not_json", "not_utf8")),
        ("empty_body", UnexpectedResponseError),
    ],
)
@each("operation", ["bookings.get", "mcp.view_ticket"])
def test_a_read_that_never_succeeds_says_why_and_how_often(
    both, ferry_sandbox, prepare, operation, fault, kind
):
    on = prepare()
    ferry_sandbox.faults.add(fault, operation, times=None)
    error = caught(kind, READS[operation], both.with_options(max_retries=1), on)
    assert ferry_sandbox.counters.requests[operation] == 2
    assert [attempt.problem for attempt in error.attempts] == [kind.__name__] * 2


def test_a_redirected_read_is_not_sent_again(both, ferry_sandbox):
    ferry_sandbox.faults.add("redirect", "catalogue.ports", times=None)
    error = caught(UnexpectedResponseError, both.catalogue.ports)
    assert error.status_code == 307
    assert ferry_sandbox.counters.requests["catalogue.ports"] == 1


@each("fault", ["missing_field", "null_field"])
def test_a_field_that_is_not_there_is_named_and_leaves_a_write_unknown(
    both, ferry_sandbox, prepare, fault
):
    for field in ("booking_id", "total_price", "stage", "tickets"):
        on = prepare()
        ferry_sandbox.faults.add(fault, "bookings.get", times=None, field=field)
        error = caught(UnexpectedResponseError, both.bookings.get, on["booking"])
        assert error.field == field
        assert field in str(error)
        assert error.status_code == 200
        assert ferry_sandbox.counters.requests["bookings.get"] == 3
    on = prepare()
    ferry_sandbox.faults.add(fault, "bookings.create", field="booking_id")
    error = caught(OutcomeUnknownError, both.bookings.create, **on["creation"])
    assert error.last_seen["booking_reference"]
    assert len(ferry_sandbox.counters.effects_of("bookings.create")) == 1


@each("as_date", [False, True])
@each("operation", ["bookings.confirm", "mcp.create_booking"])
def test_a_retry_after_too_long_to_wait_for_is_in_the_error(
    both, ferry_sandbox, prepare, operation, as_date
):
    on = prepare()
    ferry_sandbox.faults.add(
        "rate_limited", operation, times=None, retry_after=3600, as_date=as_date
    )
    error = caught(RateLimitError, WRITES[operation][1], both, on)
    assert error.retry_after == pytest.approx(3600, abs=3)
    assert error.outcome == "rejected"
    assert ferry_sandbox.counters.requests[operation] == 1


def test_what_the_local_service_refuses_comes_with_its_code(both, prepare):
    error = caught(TicketNotFoundError, both.tickets.get, "t-nobody")
    assert (error.status_code, error.code) == (404, "TICKET_NOT_FOUND")
    caught(TicketNotFoundError, both.mcp.view_ticket, "t-nobody")
    booking_id = prepare()["booking"]
    both.bookings.confirm(booking_id)
    again = caught(AlreadyDoneError, both.bookings.confirm, booking_id).__cause__
    assert isinstance(again, BookingConfirmError)
    assert (again.status_code, again.outcome) == (409, "rejected")
    over_mcp = caught(AlreadyDoneError, both.mcp.confirm_booking, booking_id).__cause__
    assert isinstance(over_mcp, BookingConfirmError)
    assert (over_mcp.code, over_mcp.message) == (again.code, again.message)


def test_an_unknown_token_is_an_authentication_error(clients, ferry_sandbox):
    ferry = clients("nobody", base_url=ferry_sandbox.base_url)
    for call in (ferry.catalogue.ports, ferry.mcp.ports):
        error = caught(AuthenticationError, call)
        assert (error.status_code, error.code) == (401, "UNAUTHORIZED")
        assert error.www_authenticate == 'Bearer error="invalid_token"'
        assert len(error.attempts) == 1
    assert set(ferry_sandbox.counters.requests) == {"catalogue.ports", "mcp.initialize"}
