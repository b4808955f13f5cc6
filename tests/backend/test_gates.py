"""Nothing that a caller or the service says puts a header or an address of its own on the wire."""

from functools import partial

import httpx
import pytest

from ferry_sdk import ConfigurationError, InvalidInputError, UnexpectedResponseError, correlation
from tests.backend.canaries import ORGANISATION, TOKEN, leaks, shown
from tests.support import operations
from tests.support.cases import case
from tests.support.exchanges import URL, caught, client_of
from tests.support.tables import each

FORBIDDEN = ["a\r\nx-admin: 1", "a\rb", "a\nb", "caf\xe9", "\u010d\u010a", "a\x00b", "a\x7f", " "]


@each("bad", [*FORBIDDEN, "", b"bytes", 7, None])
@each("which", ["token", "organisation_token"])
def test_a_function_cannot_bring_a_header_of_its_own(clients, bad, which):
    tokens = {"token": TOKEN, "organisation_token": ORGANISATION, which: lambda: bad}
    asked = []
    ferry = client_of(clients, asked.append, tokens.pop("token"), **tokens)
    call = partial(ferry.mcp.call_tool, "paint_ship", {})
    if which == "organisation_token":
        call = partial(ferry.tickets.mark_paid, "t-1", external_payment_ref="p")
    error = caught(ConfigurationError, call)
    assert which in str(error)
    assert "admin" not in shown(error)
    assert error.outcome == "not_sent"
    assert not asked


@each("bad", [*FORBIDDEN, "a\tb"])
def test_no_way_to_give_a_header_lets_one_through_that_breaks_out(clients, bad):
    ferry = client_of(clients, lambda _: httpx.Response(404))
    header, name = {"x-agency": bad}, {bad: "x"}
    for option, value in [
        *(("language", bad), ("correlation_id", bad)),
        *(("extra_headers", header), ("extra_headers", name)),
    ]:
        error = caught(InvalidInputError, ferry.with_options, **{option: value})
        assert error.field.startswith(option)
    for option in ("client_version", "language", "token", "organisation_token", "default_headers"):
        value = header if option == "default_headers" else bad
        settings = {"token": "t", "base_url": URL, option: value}
        words = str(caught(ConfigurationError, clients, **settings))
        assert words.startswith(option)
        assert bad == " " or bad not in words
    with pytest.raises(InvalidInputError), correlation(bad):
        pass


@each("status", [301, 302, 303, 307, 308])
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
