"""What the service refuses becomes one class for both protocols, and is told from a lost reply."""

import json

import httpx
import pytest

from ferry_sdk import (
    APIError,
    AuthenticationError,
    AvailabilityError,
    BadRequestError,
    BookingConfirmError,
    BookingCreateError,
    ConflictError,
    NoSailingsError,
    NotFoundError,
    OutcomeUnknownError,
    PermissionDeniedError,
    RateLimitError,
    ServerError,
    TicketCancelError,
    TicketNotFoundError,
    TicketViewError,
    UnprocessableEntityError,
)
from tests.support.cases import case
from tests.support.exchanges import Exchanges, caught, client_of
from tests.support.tables import each

pytestmark = pytest.mark.usefixtures("read_back_once")

BY_STATUS = {
    **dict.fromkeys((402, 405, 406, 408, 410, 413, 415, 418, 451, 499), APIError),
    **dict.fromkeys((500, 501, 502, 503, 504, 529, 599), ServerError),
    400: BadRequestError,
    401: AuthenticationError,
    403: PermissionDeniedError,
    404: NotFoundError,
    409: ConflictError,
    422: UnprocessableEntityError,
    429: RateLimitError,
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


@each("status", [200, 400, 404, 409, 422])
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


@each(("body", "code", "message"), BODIES)
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
@each(("status", "kind"), [(404, NotFoundError), (503, ServerError), (499, APIError)])
def test_a_body_that_is_no_json_leaves_the_status_to_speak(clients, content, text, status, kind):
    ferry, _ = refusing(clients, status, content, content_type="text/html")
    error = caught(kind, ferry.tickets.get, "t-1")
    assert error.message in {"Not Found", "Service Unavailable", "the service refused"}
    assert error.body == text
    assert text[:20] not in str(error) or not text


def test_an_unknown_token_is_an_authentication_error(clients, ferry_sandbox):
    ferry = clients("nobody", base_url=ferry_sandbox.base_url)
    for call in (ferry.catalogue.ports, ferry.mcp.ports):
        error = caught(AuthenticationError, call)
        assert (error.status_code, error.code) == (401, "UNAUTHORIZED")
        assert error.www_authenticate == 'Bearer error="invalid_token"'
        assert len(error.attempts) == 1
    assert set(ferry_sandbox.counters.requests) == {"catalogue.ports", "mcp.initialize"}
