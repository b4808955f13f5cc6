"""The settings of a client: where they come from, and what of them goes over the wire."""

import pickle

import anyio
import anyio.lowlevel
import httpx
import pytest

import ferry_sdk
from ferry_sdk import (
    AsyncFerry,
    ConfigurationError,
    Ferry,
    InvalidInputError,
    NotFoundError,
    ReadOnlyError,
)
from ferry_sdk.client import transport_of
from tests.support.exchanges import TOKEN, URL, Exchanges, caught, client_of

PORTS = httpx.Response(200, json={"ports": []})


def request_of(clients, **settings):
    service = Exchanges(PORTS)
    ask_ports(client_of(clients, service, **settings))
    return service.requests[-1]


def ask_ports(ferry):
    return ferry.catalogue.ports()


def payment_of(clients, **settings):
    service = Exchanges(httpx.Response(200, json={"ticket_id": "t-1", "payment_status": "paid"}))
    client_of(clients, service, **settings).tickets.mark_paid("t-1", external_payment_ref="p-1")
    return service.requests[-1]


# The environment


@pytest.fixture
def environment(monkeypatch):
    """Set every variable that stands in for an argument."""
    monkeypatch.setenv("FERRY_TOKEN", "env-token")
    monkeypatch.setenv("FERRY_BASE_URL", "https://env.example")
    monkeypatch.setenv("FERRY_LANGUAGE", "it")
    monkeypatch.setenv("FERRY_ORGANISATION_TOKEN", "env-org")


def test_environment_fills_gaps(clients, environment):
    request = request_of(clients, token=None, base_url=None)
    assert str(request.url) == "https://env.example/api/port"
    assert request.headers["authorization"] == "Bearer env-token"
    assert request.headers["accept-language"] == "it"
    assert payment_of(clients).headers["authorization"] == "Bearer env-org"


def test_argument_replaces_the_environment(clients, environment):
    request = request_of(clients, language="el")
    assert str(request.url) == f"{URL}/api/port"
    assert request.headers["authorization"] == f"Bearer {TOKEN}"
    assert request.headers["accept-language"] == "el"
    payment = payment_of(clients, organisation_token="org-argument")
    assert payment.headers["authorization"] == "Bearer org-argument"


@pytest.mark.parametrize("kind", [Ferry, AsyncFerry])
@pytest.mark.parametrize(
    ("name", "settings"),
    [
        pytest.param("token", {"base_url": URL}, id="no token"),
        pytest.param("token", {"token": "", "base_url": URL}, id="empty token"),
        pytest.param("base_url", {"token": "t"}, id="no address"),
        pytest.param("base_url", {"token": "t", "base_url": ""}, id="empty address"),
    ],
)
def test_missing_setting_is_named(kind, name, settings):
    error = caught(ConfigurationError, kind, **settings)
    assert f"{name}=… or FERRY_{name.upper()}" in str(error)
    assert error.outcome == "not_sent"


@pytest.mark.parametrize("setting", ["token", "organisation_token"])
@pytest.mark.parametrize(
    ("value", "problem"),
    [
        pytest.param("Bearer x-1", 'the token alone, without "Bearer"', id="header"),
        pytest.param("bearer x-1", 'the token alone, without "Bearer"', id="in lower case"),
        pytest.param("x-1\n", "without white space", id="line break"),
        pytest.param(" x-1", "without white space", id="space before it"),
        pytest.param("x 1", "without white space", id="space within"),
        pytest.param("x\t1", "without white space", id="tab"),
    ],
)
def test_mistake_in_a_token_is_named(setting, value, problem):
    settings = {"token": "t", "base_url": URL, setting: value}
    error = caught(ConfigurationError, Ferry, **settings)
    assert str(error).startswith(f"{setting}: expected ")
    assert problem in str(error)
    assert value.strip() not in str(error)


def test_invalid_variable_is_named(monkeypatch):
    monkeypatch.setenv("FERRY_BASE_URL", "http://env.example")
    assert "base_url" in str(caught(ConfigurationError, Ferry, "t"))


def test_missing_organisation_token_is_named(clients):
    error = caught(ConfigurationError, payment_of, clients)
    assert "organisation_token=… or FERRY_ORGANISATION_TOKEN" in str(error)
    assert error.operation == "tickets.mark_paid"


# The address


@pytest.mark.parametrize("host", ["localhost:1", "127.0.0.1", "[::1]:80", "a.localhost"])
def test_plain_http_is_accepted_on_this_machine(host):
    Ferry("t", base_url=f"http://{host}", allow_http=False)


@pytest.mark.parametrize(
    "host",
    [
        "ferry.example",
        "10.0.0.1",
        "[::]",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "notlocalhost",
        "[fe80::1]",
        "169.254.169.254",
    ],
)
def test_plain_http_elsewhere_must_be_allowed(host):
    error = caught(ConfigurationError, Ferry, "t", base_url=f"http://{host}")
    assert "allow_http=True" in str(error)
    Ferry("t", base_url=f"http://{host}", allow_http=True)


def test_refusal_of_plain_http_names_every_way():
    error = caught(ConfigurationError, Ferry, "t", base_url="http://ferry.example")
    assert "allow_http=True (FERRY_ALLOW_HTTP=1, ferry --allow-http)" in str(error)


@pytest.mark.parametrize("kind", [Ferry, AsyncFerry])
def test_environment_allows_plain_http(kind, monkeypatch):
    monkeypatch.setenv("FERRY_ALLOW_HTTP", "1")
    kind("t", base_url="http://ferry.example")


@pytest.mark.parametrize("value", ["", "0"])
def test_switch_that_is_off_allows_nothing(monkeypatch, value):
    monkeypatch.setenv("FERRY_ALLOW_HTTP", value)
    caught(ConfigurationError, Ferry, "t", base_url="http://ferry.example")


@pytest.mark.parametrize("url", ["ferry.example", "ferry.example:8080", "//ferry.example/gateway"])
def test_address_without_a_scheme_says_so(url):
    error = caught(ConfigurationError, Ferry, "t", base_url=url)
    assert str(error).startswith("base_url: has no scheme; write https://")


@pytest.mark.parametrize("url", ["localhost:8080", "127.0.0.1:8000/gateway", "//[::1]:80"])
def test_address_of_this_machine_needs_http(url):
    error = caught(ConfigurationError, Ferry, "t", base_url=url)
    assert str(error).startswith("base_url: has no scheme; write http://")


@pytest.mark.parametrize("url", [URL, f"{URL}/", f"{URL}//", f"{URL}/gateway/", f"{URL}/@shop/"])
def test_address_may_end_in_slashes(clients, url):
    assert str(request_of(clients, base_url=url).url) == f"{url.rstrip('/')}/api/port"


# The request


def test_header_is_sent_once(clients):
    service = Exchanges(PORTS)
    ferry = client_of(clients, service, default_headers={"X-Agency": "A1", "user-agent": "shop/1"})
    ask_ports(ferry.with_options(extra_headers={"x-agency": "A2", "USER-AGENT": "shop/2"}))
    assert service.requests[0].headers.get_list("x-agency") == ["A2"]
    assert service.requests[0].headers.get_list("user-agent") == ["shop/2"]


PARTS = {"connect": 1, "read": 2, "write": 3, "pool": 4}


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        pytest.param({"timeout": ferry_sdk.Timeout(**PARTS)}, PARTS, id="parts"),
        pytest.param({"timeout": 7}, {"read": 7}, id="number"),
        pytest.param({"timeout": None}, {"read": None}, id="none"),
        pytest.param({}, {"read": 30}, id="default"),
    ],
)
def test_timeout_reaches_the_connection(clients, settings, expected):
    sent = request_of(clients, **settings).extensions["timeout"]
    assert {part: sent[part] for part in expected} == expected


def test_http_client_of_a_caller_stays_open(clients):
    http_client = clients.http_client(transport=httpx.MockTransport(Exchanges(PORTS)))
    with clients("t", base_url=URL, http_client=http_client) as ferry:
        ask_ports(ferry)
    assert not http_client.is_closed
    ask_ports(ferry)


# Views


def test_view_has_its_own_settings(clients):
    service = Exchanges(PORTS)
    ferry = client_of(clients, service, language="fr", default_headers={"x-a": "1", "x-b": "1"})
    view = ferry.with_options(language="it", extra_headers={"x-b": "2", "x-c": "2"})
    for client in (view, ferry, view.with_options(max_retries=0), view.with_options(language=None)):
        ask_ports(client)

    names = ("accept-language", "x-a", "x-b", "x-c")
    sent = [[request.headers.get(name) for name in names] for request in service.requests]
    assert sent == [
        ["it", "1", "2", "2"],
        ["fr", "1", "1", None],
        ["it", "1", "2", "2"],
        [None, "1", "2", "2"],
    ]


def test_view_has_its_own_correlation_id(clients):
    service = Exchanges(PORTS)
    ferry = client_of(clients, service)
    view = ferry.with_options(correlation_id="c-1")
    for client in (
        view,
        ferry,
        view.with_options(max_retries=0),
        view.with_options(correlation_id=None),
    ):
        ask_ports(client)
    of_view, of_client, of_second, of_cleared = correlation_ids(service)
    assert of_view == of_second == "c-1"
    assert "c-1" not in (of_client, of_cleared)


def read_only_view(clients, service):
    return client_of(clients, service).with_options(read_only=True)


def read_only_client(clients, service):
    return client_of(clients, service, read_only=True)


@pytest.mark.parametrize("reader_of", [read_only_view, read_only_client])
def test_read_only_client_cannot_be_made_writable(clients, reader_of):
    reader = reader_of(clients, Exchanges(PORTS))
    error = caught(InvalidInputError, reader.with_options, read_only=False)
    assert error.field == "read_only"


@pytest.mark.parametrize("reader_of", [read_only_view, read_only_client])
def test_view_of_a_reader_sends_reads_alone(clients, reader_of):
    service = Exchanges(PORTS)
    reader = reader_of(clients, service)
    view = reader.with_options(language="fr").with_options(read_only=True)
    caught(ReadOnlyError, view.bookings.confirm, "b-1")
    caught(ReadOnlyError, view.mcp.confirm_booking, "b-1")
    ask_ports(view)
    assert {request.url.path for request in service.requests} == {"/api/port"}


def test_writable_client_may_be_told_so_again(clients):
    client_of(clients, Exchanges(PORTS)).with_options(read_only=False)


@pytest.mark.parametrize("max_retries", [0, 3])
def test_view_has_its_own_number_of_attempts(clients, max_retries):
    service = Exchanges(httpx.Response(503, headers={"retry-after": "0"}))
    view = client_of(clients, service).with_options(max_retries=max_retries)
    caught(ferry_sdk.ServerError, ask_ports, view)
    assert len(service.requests) == max_retries + 1


# Async functions


async def give_token():
    await anyio.lowlevel.checkpoint()
    return "awaited"


def test_async_token_function_needs_an_async_client(clients):
    service = Exchanges(PORTS)
    if clients.is_async:
        ask_ports(client_of(clients, service, token=give_token))
        assert service.requests[0].headers["authorization"] == "Bearer awaited"
        return
    error = caught(ConfigurationError, client_of, clients, service, token=give_token)
    assert str(error) == "token: an async function needs AsyncFerry"


@pytest.mark.parametrize("name", ["token", "organisation_token"])
def test_sync_client_refuses_an_async_function(name):
    error = caught(ConfigurationError, Ferry, **{"token": "t", "base_url": URL, name: give_token})
    assert str(error) == f"{name}: an async function needs AsyncFerry"


def test_hidden_async_function_fails_with_the_call():
    service = Exchanges(PORTS)
    with httpx.Client(transport=httpx.MockTransport(service)) as http_client:
        ferry = Ferry(
            lambda: give_token(),  # noqa: PLW0108 -- it does not show that it is async
            base_url=URL,
            http_client=http_client,
        )
        error = caught(ConfigurationError, ask_ports, ferry)
    assert (str(error), service.requests) == ("token: an async function needs AsyncFerry", [])


# Read-only by the environment


def confirm_in_environment(clients, monkeypatch, value, url, kind):
    """Confirm by a client and by its view; return their errors and the requests.

    ``FERRY_READ_ONLY`` is set, and the argument says that the client is writable.
    """
    monkeypatch.setenv("FERRY_READ_ONLY", value)
    service = Exchanges(httpx.Response(404, json={}))
    ferry = client_of(clients, service, base_url=url, read_only=False)
    view = ferry.with_options(language="fr")
    errors = [caught(kind, client.bookings.confirm, "b-1") for client in (ferry, view)]
    return errors, service.requests


@pytest.mark.parametrize(
    ("value", "url"),
    [
        ("1", "https://ferry.example"),
        ("true", "https://ferry.example"),
        ("1", "https://localhost.example"),
    ],
)
def test_environment_makes_clients_read_only(clients, monkeypatch, value, url):
    errors, requests = confirm_in_environment(clients, monkeypatch, value, url, ReadOnlyError)
    assert all("FERRY_READ_ONLY" in str(error) for error in errors)
    assert requests == []


@pytest.mark.parametrize(
    ("value", "url"),
    [
        pytest.param("1", "http://127.0.0.1:9", id="this machine"),
        pytest.param("1", "http://[::1]:9", id="this machine by IPv6"),
        pytest.param("0", "https://ferry.example", id="0"),
        pytest.param("", "https://ferry.example", id="empty"),
    ],
)
def test_environment_leaves_clients_writable(clients, monkeypatch, value, url):
    kind = ferry_sdk.NotFoundError
    _, requests = confirm_in_environment(clients, monkeypatch, value, url, kind)
    assert requests


THIS_MACHINE = [
    "http://localhost:9",
    "https://localhost",
    "https://LocalHost:9",
    "https://127.0.0.1",
    "https://127.8.9.10",
    "http://[::1]:9",
    "https://[::ffff:127.0.0.1]",
    "https://[::ffff:7f00:1]",
]
MAY_BE_ELSEWHERE = [
    "https://x.localhost",
    "http://x.localhost:9",
    "https://localhost.",
    "https://x.localhost.",
    "https://localhost.example",
    "https://127.0.0.1.example",
    "https://127.1",
    "https://0177.0.0.1",
    "https://0x7f000001",
    "https://2130706433",
    "https://0.0.0.0",
    "https://[::]",
    "https://[::ffff:10.0.0.1]",
    "https://[::127.0.0.1]",
    "https://10.0.0.1",
]


@pytest.fixture
def read_only(monkeypatch):
    """Set ``FERRY_READ_ONLY``."""
    monkeypatch.setenv("FERRY_READ_ONLY", "1")


def is_read_only(url):
    with Ferry("t", base_url=url, allow_http=True) as ferry:
        return transport_of(ferry).settings.read_only


@pytest.mark.parametrize("url", THIS_MACHINE)
def test_read_only_exempts_this_machine(read_only, url):
    assert not is_read_only(url)


@pytest.mark.parametrize("url", MAY_BE_ELSEWHERE)
def test_read_only_exempts_no_other_machine(read_only, url):
    assert is_read_only(url)


@pytest.mark.parametrize(
    ("proxies", "url", "expected"),
    [
        pytest.param(
            {"HTTPS_PROXY": "http://proxy.example:3128"}, "https://localhost", True, id="https"
        ),
        pytest.param(
            {"ALL_PROXY": "http://proxy.example:3128"}, "https://127.0.0.1", True, id="all"
        ),
        pytest.param(
            {"HTTPS_PROXY": "http://127.0.0.1:9", "NO_PROXY": "localhost"},
            "https://localhost",
            False,
            id="direct by name",
        ),
        pytest.param(
            {"HTTPS_PROXY": "http://127.0.0.1:9", "NO_PROXY": "a, *"},
            "https://127.0.0.1",
            False,
            id="all direct",
        ),
        pytest.param(
            {"HTTPS_PROXY": "http://127.0.0.1:9", "NO_PROXY": "host"},
            "https://localhost",
            True,
            id="direct by a pattern",
        ),
        pytest.param(
            {"HTTP_PROXY": "http://proxy.example:3128"}, "https://localhost", False, id="http"
        ),
        pytest.param(
            {"ALL_PROXY": "http://proxy.example:3128"},
            "http://localhost",
            False,
            id="plain http to this machine",
        ),
    ],
)
def test_read_only_exempts_no_name_behind_a_proxy(read_only, monkeypatch, proxies, url, expected):
    for name, value in proxies.items():
        monkeypatch.setenv(name, value)
    assert is_read_only(url) is expected


# Correlation ids


def correlation_ids(service):
    return [request.headers["x-client-correlation-id"] for request in service.requests]


@pytest.fixture
def ferry_with_requests():
    """Give a client and the service that has its requests."""
    service = Exchanges(PORTS)
    with httpx.Client(transport=httpx.MockTransport(service)) as http_client:
        yield Ferry("t", base_url=URL, http_client=http_client), service


def test_block_gives_its_calls_an_id(ferry_with_requests):
    ferry, service = ferry_with_requests
    with ferry_sdk.correlation("outer") as correlation_id:
        assert correlation_id == "outer"
        ask_ports(ferry)
    ask_ports(ferry)
    inside, after = correlation_ids(service)
    assert inside == "outer"
    assert after != "outer"


def test_blocks_of_correlation_nest(ferry_with_requests):
    ferry, service = ferry_with_requests
    with ferry_sdk.correlation("outer"):
        with ferry_sdk.correlation("inner"):
            ask_ports(ferry)
        ask_ports(ferry)
    assert correlation_ids(service) == ["inner", "outer"]


def test_option_replaces_the_id_of_a_block(ferry_with_requests):
    ferry, service = ferry_with_requests
    with ferry_sdk.correlation("outer"):
        ask_ports(ferry.with_options(correlation_id="option"))
    assert correlation_ids(service) == ["option"]


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_tasks_keep_their_own_id(backend):
    service = Exchanges(PORTS)
    seen = {}

    async def work(ferry, name):
        with ferry_sdk.correlation(name):
            await anyio.sleep(0.01)
            raw = await ferry.with_raw_response.catalogue.ports()
            seen[name] = raw.correlation_id

    async def main():
        async with httpx.AsyncClient(transport=httpx.MockTransport(service)) as http_client:
            ferry = AsyncFerry("t", base_url=URL, http_client=http_client)
            async with anyio.create_task_group() as tasks:
                for number in range(8):
                    tasks.start_soon(work, ferry, f"task-{number}")

    anyio.run(main, backend=backend)
    assert len(seen) == 8
    assert all(name == used for name, used in seen.items())
    assert sorted(correlation_ids(service)) == sorted(seen)


# A wrong path of the address


@pytest.mark.parametrize("path", ["/api", "/v1", "/mcp", "/gateway/API/"])
def test_404_explains_a_path_too_much(clients, ferry_sandbox, path):
    with_path = f"{ferry_sandbox.base_url}{path}"
    ferry = clients(ferry_sandbox.token, base_url=with_path)
    error = caught(NotFoundError, ferry.catalogue.ports)
    last = path.rstrip("/").rpartition("/")[2]
    assert f"base_url ends in /{last}, but the client adds the path itself" in str(error)
    assert "base_url" not in error.message
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_404_of_the_mcp_endpoint_explains_it(clients, ferry_sandbox):
    ferry = clients(ferry_sandbox.token, base_url=f"{ferry_sandbox.base_url}/mcp")
    error = caught(NotFoundError, ferry.mcp.ports)
    assert "base_url ends in /mcp" in str(error)


def test_404_of_a_right_address_explains_nothing(both):
    error = caught(NotFoundError, both.bookings.get, "no-such-booking")
    assert "base_url" not in str(error)
