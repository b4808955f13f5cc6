"""`ferry.request` calls any path with everything that a call has."""

import json

import httpx
import pytest

import ferry_sdk as sdk
from ferry_sdk import BookingCreateError, InvalidInputError, NotFoundError, OutcomeUnknownError
from ferry_sdk.journal import Journal
from tests.backend.canaries import frames_of
from tests.support.exchanges import URL, Exchanges, caught, client_of
from tests.support.trip import PASSENGERS, booked

DONE = httpx.Response(200, json={"done": True})
WRITES = pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "HEAD", "paint"])


def test_a_path_gives_the_json_of_the_service(both):
    ports = both.request("GET", "/api/port")
    assert ports == json.loads(both.with_raw_response.catalogue.ports().content)


def test_a_method_is_sent_in_upper_case(both):
    assert both.request("get", "api/port") == both.request("GET", "/api/port")


def test_a_booking_is_read_by_its_path(both):
    booking_id = booked(both).booking_id
    assert both.request("GET", f"api/booking/{booking_id}")["booking_id"] == booking_id


def test_a_booking_is_confirmed_by_its_path(both):
    body = {"id": booked(both).booking_id}
    confirmed = both.request("POST", "api/booking/confirm", json=body)
    assert both.tickets.get(confirmed["ticket_id"])


def test_a_read_is_retried(both, ferry_sandbox):
    ferry_sandbox.faults.add("server_error", "catalogue.ports", times=2)
    assert both.request("GET", "api/port")


def test_a_head_gives_nothing(both):
    # The reply to HEAD has no body, whatever its length says.
    assert both.request("HEAD", "api/port") is None


@pytest.mark.parametrize("method", ["HEAD", "GET"])
def test_an_unknown_path_is_not_found(both, method):
    caught(NotFoundError, both.request, method, "api/nothing")


CONFIRM = "/api/booking/confirm"


@pytest.fixture
def journal(tmp_path):
    with Journal(f"sqlite:///{tmp_path}/j.db") as journal:
        yield journal


@pytest.fixture
def ferry_with_journal(clients, ferry_sandbox, journal):
    return clients(ferry_sandbox.token, base_url=ferry_sandbox.base_url, journal=journal)


@pytest.fixture
def body(ferry_with_journal):
    """The body of a confirmation."""
    return {"id": booked(ferry_with_journal).booking_id}


@pytest.fixture
def unknown(ferry_with_journal, ferry_sandbox, body):
    """The error of a confirmation whose reply is lost."""
    ferry_sandbox.faults.add("lose_reply", "bookings.confirm")
    return caught(OutcomeUnknownError, ferry_with_journal.request, "POST", CONFIRM, json=body)


def test_an_unknown_write_is_on_record(unknown, journal):
    (entry,) = (entry for entry in journal.entries() if entry.operation == "request")
    assert (entry.state, entry.method, entry.path) == ("unknown", "POST", CONFIRM)
    assert unknown.entry_id == entry.id


def test_an_unknown_write_is_not_repeated(ferry_with_journal, ferry_sandbox, unknown, body):
    caught(sdk.UnresolvedWriteError, ferry_with_journal.request, "POST", CONFIRM, json=body)
    assert ferry_sandbox.counters.requests["bookings.confirm"] == 1


def test_an_unknown_write_cannot_be_recovered(ferry_with_journal, ferry_sandbox, unknown):
    caught(OutcomeUnknownError, ferry_with_journal.recover, unknown)
    assert ferry_sandbox.counters.requests["bookings.confirm"] == 1


@pytest.fixture
def service():
    """A service that answers every request, and keeps it."""
    return Exchanges(DONE)


@pytest.fixture
def ferry(clients, service):
    return client_of(clients, service)


@pytest.mark.parametrize(
    ("path", "params", "expected"),
    [
        ("api/port", None, "/api/port"),
        ("/api/port/", {}, "/api/port/"),
        ("api/crossings/a b/é", None, "/api/crossings/a%20b/%C3%A9"),
        ("api/a%2Fb", None, "/api/a%2Fb"),
        ("api/x", {"q": "a&b", "n": 2, "on": True, "no": None}, "/api/x?q=a%26b&n=2&on=true"),
        ("api/x", {"code": ["A", "B"]}, "/api/x?code=A&code=B"),
    ],
)
def test_a_path_is_encoded(clients, service, path, params, expected):
    client_of(clients, service, base_url=f"{URL}/v1").request("POST", path, params=params)
    (request,) = service.requests
    assert str(request.url) == f"{URL}/v1{expected}"


def test_a_json_body_is_sent_with_the_token(ferry, service):
    ferry.request("POST", "api/x", json=["é", None, 1.5])
    (request,) = service.requests
    assert json.loads(request.content) == ["é", None, 1.5]
    assert request.headers["content-type"] == "application/json"
    assert request.headers["authorization"].startswith("Bearer ")


def test_a_reply_without_content_is_none(clients):
    service = Exchanges(httpx.Response(204))
    assert client_of(clients, service).request("DELETE", "api/x") is None
    assert not service.requests[0].content


@WRITES
def test_a_write_is_sent_once(clients, method):
    service = Exchanges(httpx.Response(503), DONE)
    ferry = client_of(clients, service, max_retries=2)
    caught(OutcomeUnknownError, ferry.request, method, "api/new")
    assert [request.method for request in service.requests] == [method.upper()]


@WRITES
def test_a_reader_sends_no_write(ferry, service, method):
    reader = ferry.with_options(read_only=True)
    caught(sdk.ReadOnlyError, reader.request, method, "api/new")
    assert not service.requests


def test_a_reader_may_get(clients):
    service = Exchanges(httpx.Response(503), DONE)
    reader = client_of(clients, service, read_only=True, max_retries=1)
    assert reader.request("GET", "api/new") == {"done": True}
    assert len(service.requests) == 2


def test_a_get_that_fails_is_not_unknown(clients):
    ferry = client_of(clients, Exchanges(httpx.Response(503)))
    caught(sdk.ServerError, ferry.request, "GET", "a")


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/",
        "//evil.example/x",
        "///x",
        "https://evil.example/x",
        "HTTP:x",
        "javascript:x",
        "\\\\evil.example",
        "/\\evil.example",
        "api\\..\\x",
        "../x",
        "api/../../x",
        "api/%2e%2E/x",
        "api/./x",
        ".",
        "api/x?y=1",
        "api/x#y",
        "api/\r\nx",
        "api/\x00",
        5,
        None,
        "api/\ud800",
        "@evil.example:80/../..",
        ".%2e",
    ],
    ids=ascii,
)
def test_a_path_cannot_leave_the_origin(ferry, service, path):
    assert caught(InvalidInputError, ferry.request, "GET", path).field == "path"
    assert not service.requests


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("method", ""),
        ("method", "GE T"),
        ("method", "GET\r\n"),
        ("method", 5),
        ("method", None),
        ("method", "CONNECT"),
        ("method", "É"),
        ("json", {1, 2}),
        ("json", float("nan")),
        ("json", {"a": object()}),
        ("json", "\ud800"),
        ("params", 5),
        ("params", "a=b"),
        ("params", ["a"]),
    ],
)
def test_an_invalid_argument_is_named(ferry, service, argument, value):
    arguments = {"method": "POST", "path": "x", argument: value}
    assert caught(InvalidInputError, ferry.request, **arguments).field == argument
    assert not service.requests


@pytest.mark.parametrize(
    "value", [object(), [object()], {"a": 1}, "\ud800", float("nan"), [float("-inf")]]
)
def test_an_invalid_value_of_the_query_is_named(ferry, service, value):
    error = caught(InvalidInputError, ferry.request, "GET", "x", params={"q": value})
    assert error.field == "params['q']"
    assert not service.requests


@pytest.mark.parametrize("name", [0, None, b"q", "\ud800"], ids=ascii)
def test_an_invalid_name_in_the_query_is_named(ferry, service, name):
    error = caught(InvalidInputError, ferry.request, "GET", "x", params={name: "v"})
    assert error.field == f"params[{name!r}]"
    assert not service.requests


@pytest.mark.parametrize(
    "arguments",
    [{"json": {"passengers": PASSENGERS}}, {"params": {**PASSENGERS[0]}}],
    ids=["json", "params"],
)
def test_an_error_names_no_traveller(clients, arguments):
    words = "no room for Marguerite Okonkwo, ada@example.org"
    refusal = {"error": True, "code": "BOOKING_CREATE_ERROR", "message": words}
    ferry = client_of(clients, Exchanges(httpx.Response(422, json=refusal)))

    error = caught(BookingCreateError, ferry.request, "POST", "api/booking", **arguments)

    text = f"{error} {error!r}"
    assert "no room" in text
    assert not [secret for secret in ("Marguerite", "Okonkwo", "ada@") if secret in text]
    assert "Okonkwo" not in frames_of(error)
