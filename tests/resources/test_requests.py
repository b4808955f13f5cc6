"""`ferry.request` calls any path with everything that a call has."""

import json

import httpx

import ferry_sdk as sdk
from ferry_sdk import BookingCreateError, InvalidInputError, NotFoundError, OutcomeUnknownError
from ferry_sdk.journal import Journal
from tests.backend.canaries import frames_of
from tests.support.exchanges import URL, Exchanges, caught, client_of
from tests.support.trip import PASSENGERS, booked

DONE = httpx.Response(200, json={"done": True})


def test_a_path_of_the_service_gives_its_json(both, ferry_sandbox):
    ports = both.request("GET", "/api/port")
    assert ports == both.request("get", "api/port")
    assert ports == json.loads(both.with_raw_response.catalogue.ports().content)
    booking = booked(both)
    assert both.request("GET", f"api/booking/{booking.booking_id}")
    confirmed = both.request("POST", "api/booking/confirm", json={"id": booking.booking_id})
    assert both.tickets.get(confirmed["ticket_id"])
    ferry_sandbox.faults.add("server_error", "catalogue.ports", times=2)
    assert both.request("GET", "api/port") == ports
    # The reply to HEAD has no body, whatever its length says.
    assert both.request("HEAD", "api/port") is None
    caught(NotFoundError, both.request, "HEAD", "api/nothing")
    caught(NotFoundError, both.request, "GET", "api/nothing")


def test_a_write_is_sent_once_on_record_and_may_be_unknown(clients, ferry_sandbox, tmp_path):
    with Journal(f"sqlite:///{tmp_path}/j.db") as journal:
        ferry = clients(ferry_sandbox.token, base_url=ferry_sandbox.base_url, journal=journal)
        booking_id = booked(ferry).booking_id
        ferry_sandbox.faults.add("lose_reply", "bookings.confirm")
        body = {"id": booking_id}
        error = caught(OutcomeUnknownError, ferry.request, "POST", "api/booking/confirm", json=body)
        assert ferry_sandbox.counters.requests["bookings.confirm"] == 1
        (entry,) = (one for one in journal.entries() if one.operation == "request")
        assert (entry.state, entry.method) == ("unknown", "POST")
        assert (entry.path, error.entry_id) == ("/api/booking/confirm", entry.id)
        caught(sdk.UnresolvedWriteError, ferry.request, "POST", "/api/booking/confirm", json=body)
        caught(OutcomeUnknownError, ferry.recover, error)
        assert ferry_sandbox.counters.requests["bookings.confirm"] == 1


def test_what_is_sent_is_what_was_given_and_only_a_get_is_a_read(clients):
    for path, params, expected in (
        ("api/port", None, "/api/port"),
        ("/api/port/", {}, "/api/port/"),
        ("api/crossings/a b/é", None, "/api/crossings/a%20b/%C3%A9"),
        ("api/a%2Fb", None, "/api/a%2Fb"),
        ("api/x", {"q": "a&b", "n": 2, "on": True, "no": None}, "/api/x?q=a%26b&n=2&on=true"),
        ("api/x", {"code": ["A", "B"]}, "/api/x?code=A&code=B"),
    ):
        service = Exchanges(DONE)
        ferry = client_of(clients, service, base_url=f"{URL}/v1")
        ferry.request("POST", path, json=["é", None, 1.5], params=params)
        (request,) = service.requests
        assert str(request.url) == f"{URL}/v1{expected}", path
        assert json.loads(request.content) == ["é", None, 1.5]
        assert request.headers["content-type"] == "application/json"
        assert request.headers["authorization"].startswith("Bearer ")
    empty = Exchanges(httpx.Response(204))
    assert client_of(clients, empty).request("DELETE", "api/x") is None
    assert not empty.requests[0].content
    for method in ("POST", "PUT", "PATCH", "DELETE", "HEAD", "paint"):
        service = Exchanges(httpx.Response(503), DONE)
        ferry = client_of(clients, service, max_retries=2)
        caught(OutcomeUnknownError, ferry.request, method, "api/new")
        assert [request.method for request in service.requests] == [method.upper()]
        reader = ferry.with_options(read_only=True)
        caught(sdk.ReadOnlyError, reader.request, method, "api/new")
        assert len(service.requests) == 1
    service = Exchanges(httpx.Response(503), DONE)
    reader = client_of(clients, service, read_only=True, max_retries=1)
    assert reader.request("GET", "api/new") == {"done": True}
    assert len(service.requests) == 2
    caught(sdk.ServerError, client_of(clients, Exchanges(httpx.Response(503))).request, "GET", "a")


def test_a_path_cannot_leave_the_origin_and_travellers_and_tokens_are_hidden(clients):
    service = Exchanges(DONE)
    ferry = client_of(clients, service)
    for path in (
        *("", "/", "//evil.example/x", "///x", "https://evil.example/x", "HTTP:x", "javascript:x"),
        *("\\\\evil.example", "/\\evil.example", "api\\..\\x", "../x", "api/../../x"),
        *("api/%2e%2E/x", "api/./x", ".", "api/x?y=1", "api/x#y", "api/\r\nx", "api/\x00", 5, None),
        *("api/\ud800", "@evil.example:80/../..", ".%2e"),
    ):
        assert caught(InvalidInputError, ferry.request, "GET", path).field == "path", path
    for name, values in (
        ("method", ("", "GE T", "GET\r\n", 5, None, "CONNECT", "É")),
        ("json", ({1, 2}, float("nan"), {"a": object()}, "\ud800")),
        ("params", (5, "a=b", ["a"])),
    ):
        for value in values:
            given = {"method": "POST", "path": "x", name: value}
            assert caught(InvalidInputError, ferry.request, **given).field == name, value
    for value in (object(), [object()], {"a": 1}, "\ud800", float("nan"), [float("-inf")]):
        error = caught(InvalidInputError, ferry.request, "GET", "x", params={"q": value})
        assert error.field == "params['q']"
    for name in (0, None, b"q", "\ud800"):
        error = caught(InvalidInputError, ferry.request, "GET", "x", params={name: "v"})
        assert error.field == f"params[{name!r}]"
    assert not service.requests
    words = "no room for Marguerite Okonkwo, ada@example.org"
    refusal = {"error": True, "code": "BOOKING_CREATE_ERROR", "message": words}
    ferry = client_of(clients, Exchanges(httpx.Response(422, json=refusal)))
    for given in ({"json": {"passengers": PASSENGERS}}, {"params": {**PASSENGERS[0]}}):
        error = caught(BookingCreateError, ferry.request, "POST", "api/booking", **given)
        text = f"{error} {error!r}"
        assert "no room" in text
        for secret in ("Marguerite", "Okonkwo", "ada@"):
            assert secret not in text
        assert "Okonkwo" not in frames_of(error)
