"""What the service refuses becomes one class for both protocols, and is told from a lost reply."""

import json

import httpx
import pytest

import ferry_sdk as sdk
from ferry_sdk import APIError, NotFoundError, ServerError
from tests.support.exchanges import Exchanges, caught, client_of

pytestmark = pytest.mark.usefixtures("read_back_once")

BY_STATUS = {
    **dict.fromkeys((402, 405, 406, 408, 410, 413, 415, 418, 451, 499), APIError),
    **dict.fromkeys((500, 501, 502, 503, 504, 529, 599), ServerError),
    400: sdk.BadRequestError,
    401: sdk.AuthenticationError,
    403: sdk.PermissionDeniedError,
    404: NotFoundError,
    409: sdk.ConflictError,
    422: sdk.UnprocessableEntityError,
    429: sdk.RateLimitError,
}
BY_CODE = {
    "AVAILABILITY_ERROR": sdk.AvailabilityError,
    "BOOKING_CREATE_ERROR": sdk.BookingCreateError,
    "BOOKING_CONFIRM_ERROR": sdk.BookingConfirmError,
    "TICKET_VIEW_ERROR": sdk.TicketViewError,
    "TICKET_NOT_FOUND": sdk.TicketNotFoundError,
    "TICKET_CANCEL_ERROR": sdk.TicketCancelError,
}


def refusing(clients, status, body=b"{}", **headers):
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    service = Exchanges(httpx.Response(status, headers=named, content=body))
    return client_of(clients, service), service


def interface_error(code, message="No."):
    return json.dumps({"error": True, "code": code, "message": message}).encode()


def confirm(kind, ferry, service):
    error = caught(kind, ferry.with_options(max_retries=2).bookings.confirm, "b-1")
    assert [request.method for request in service.requests].count("POST") == 1
    return error


@pytest.mark.parametrize(("status", "kind"), BY_STATUS.items())
def test_status_has_its_class(clients, status, kind):
    ferry, _ = refusing(clients, status, interface_error("OTHER"), x_request_id="r-1")
    error = caught(kind, ferry.tickets.get, "t-1")
    assert (error.status_code, error.code, error.message) == (status, "OTHER", "No.")
    assert (error.request_id, error.retry_after) == ("r-1", None)
    assert error.body == {"error": True, "code": "OTHER", "message": "No."}
    is_unknown = status >= 500 or status == 408
    assert error.outcome == ("unknown" if is_unknown else "rejected")


def at(status, kind):
    """The class at a status: a search that is not found is one of its own."""
    return sdk.NoSailingsError if (status, kind) == (404, sdk.AvailabilityError) else kind


every_code = pytest.mark.parametrize(("code", "kind"), BY_CODE.items())


@every_code
@pytest.mark.parametrize("status", [200, 201, 400, 401, 404, 409, 422, 429, 500, 503])
def test_known_code_decides_at_any_status(clients, status, code, kind):
    ferry, _ = refusing(clients, status, interface_error(code))
    error = caught(at(status, kind), ferry.tickets.get, "t-1")
    assert (error.status_code, error.code) == (status, code)


@every_code
@pytest.mark.parametrize("status", [200, 400, 404, 409, 422])
def test_known_code_refuses_a_write(clients, status, code, kind):
    refusal = refusing(clients, status, interface_error(code))
    assert confirm(at(status, kind), *refusal).outcome == "rejected"


@pytest.mark.parametrize("code", [*BY_CODE, "OTHER"])
@pytest.mark.parametrize("status", [408, 500, 502, 503, 504, 599])
def test_no_code_makes_a_5xx_certain(clients, status, code):
    refusal = refusing(clients, status, interface_error(code), x_request_id="r-1")
    error = confirm(sdk.OutcomeUnknownError, *refusal)
    first = error.attempts[0]
    assert (first.status_code, first.request_id) == (status, "r-1")
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
    ({"message": "m" * 2000}, None, "m" * 500),
    ([{"message": "m"}], None, "m"),
    ({"message": ""}, None, "I'm a Teapot"),
    ([], None, "I'm a Teapot"),
    ({}, None, "I'm a Teapot"),
    (None, None, "I'm a Teapot"),
    ("m", None, "I'm a Teapot"),
    (17, None, "I'm a Teapot"),
    (False, None, "I'm a Teapot"),
]


@pytest.mark.parametrize(
    ("body", "code", "message"), BODIES, ids=[str(body)[:60] for body, *_ in BODIES]
)
def test_code_with_message_is_found(clients, body, code, message):
    ferry, _ = refusing(clients, 418, json.dumps(body).encode())
    error = caught(APIError, ferry.tickets.get, "t-1")
    assert (error.code, error.message.lower()) == (code, message.lower())
    assert error.body == body


@pytest.mark.parametrize(
    "content", [b"", b"<html>We are back soon", b"Caf\xe9", b'{"message": "m"', b'{"m": "\xff"}']
)
@pytest.mark.parametrize(
    ("status", "kind"), [(404, NotFoundError), (503, ServerError), (499, APIError)]
)
def test_status_is_the_message_without_json(clients, content, status, kind):
    ferry, _ = refusing(clients, status, content, content_type="text/html")
    error = caught(kind, ferry.tickets.get, "t-1")
    assert error.message in {"Not Found", "Service Unavailable", "the service refused"}
    assert error.body == content.decode("utf-8", "replace")
    assert error.body[:20] not in str(error) or not content


@pytest.mark.parametrize(
    ("group", "operation"),
    [("catalogue", "catalogue.ports"), ("mcp", "mcp.initialize")],
    ids=["REST", "MCP"],
)
def test_unknown_token_is_an_authentication_error(clients, ferry_sandbox, group, operation):
    ferry = clients("nobody", base_url=ferry_sandbox.base_url)
    error = caught(sdk.AuthenticationError, getattr(ferry, group).ports)
    assert (error.status_code, error.code) == (401, "UNAUTHORIZED")
    assert error.www_authenticate == 'Bearer error="invalid_token"'
    assert len(error.attempts) == 1
    assert {*ferry_sandbox.counters.requests} == {operation}
