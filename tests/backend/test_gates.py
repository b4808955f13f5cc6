"""Nothing that a caller or the service says puts a header or an address of its own on the wire."""

import httpx
import pytest

from ferry_sdk import ConfigurationError, InvalidInputError, UnexpectedResponseError, correlation
from tests.backend.canaries import ORGANISATION, TOKEN, leaks, shown
from tests.support import operations
from tests.support.cases import case
from tests.support.exchanges import URL, caught, client_of


@pytest.mark.parametrize(
    "bad", ["a\r\nx-admin: 1", "tok\u010den", "a\nb", "", " ", b"bytes", 7, None]
)
@pytest.mark.parametrize("which", ["token", "organisation_token"])
def test_a_function_cannot_bring_a_header_of_its_own(clients, bad, which):
    tokens = {"token": TOKEN, "organisation_token": ORGANISATION}
    tokens[which] = lambda: bad
    asked = []

    def service(request):
        asked.append(request)
        return httpx.Response(404)

    ferry = client_of(clients, service, tokens.pop("token"), **tokens)
    call = ferry.tickets.mark_paid if which == "organisation_token" else ferry.mcp.call_tool
    arguments = ("t-1",) if which == "organisation_token" else ("paint_ship", {})
    more = {"external_payment_ref": "p"} if which == "organisation_token" else {}
    error = caught(ConfigurationError, call, *arguments, **more)
    assert which in str(error)
    assert "admin" not in shown(error)
    assert error.outcome == "not_sent"
    assert not asked


@pytest.mark.parametrize(
    "bad",
    ["a\r\nx-admin: 1", "a\rb", "a\nb", "caf\xe9", "\u010d\u010a", "a\x00b", "a\x7f", "a\tb", " "],
)
def test_no_way_to_give_a_header_lets_one_through_that_breaks_out(clients, bad):
    ferry = client_of(clients, lambda _: httpx.Response(404))
    for name, value in [
        ("language", bad),
        ("correlation_id", bad),
        ("extra_headers", {"x-agency": bad}),
        ("extra_headers", {bad: "x"}),
    ]:
        assert caught(InvalidInputError, ferry.with_options, **{name: value}).field.startswith(name)
    for name, value in [
        ("client_version", bad),
        ("language", bad),
        ("token", bad),
        ("organisation_token", bad),
        ("default_headers", {"x-agency": bad}),
    ]:
        settings = {"token": "t", "base_url": URL, name: value}
        words = str(caught(ConfigurationError, clients, **settings))
        assert words.startswith(name)
        assert bad == " " or bad not in words
    with pytest.raises(InvalidInputError), correlation(bad):
        pass


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_no_redirect_is_followed_by_any_operation(clients, tmp_path, status):
    asked = []

    def service(request):
        asked.append(request.url)
        return httpx.Response(status, headers={"location": "https://evil.example/"})

    kind = httpx.AsyncClient if clients.is_async else httpx.Client
    http_client = kind(transport=httpx.MockTransport(service), follow_redirects=True)
    ferry = clients(TOKEN, base_url=URL, http_client=http_client, organisation_token=ORGANISATION)
    for name in operations.OPERATIONS:
        with case(name):
            asked.clear()
            error = caught(UnexpectedResponseError, operations.make, ferry, name, tmp_path)
            assert error.status_code == status
            assert {url.host for url in asked} == {httpx.URL(URL).host}
            assert not leaks(shown(error))
