"""What a client is told, where from, and what of it goes over the wire."""

import anyio
import anyio.lowlevel
import httpx

import ferry_sdk
from ferry_sdk import AsyncFerry, ConfigurationError, Ferry, InvalidInputError, ReadOnlyError
from ferry_sdk.client import transport_of
from tests.support.exchanges import TOKEN, URL, Exchanges, caught, client_of
from tests.support.tables import each

PORTS = httpx.Response(200, json={"ports": []})
ELSEWHERE = (
    *("ferry.example", "10.0.0.1", "[::]", "localhost.evil.example", "127.0.0.1.evil.example"),
    *("notlocalhost", "[fe80::1]", "169.254.169.254"),
)


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


def test_the_environment_fills_gaps_and_what_is_missing_or_bad_is_named(clients, monkeypatch):
    known = {"TOKEN": "env-token", "BASE_URL": "https://env.example", "LANGUAGE": "it"}
    for name, value in (known | {"ORGANISATION_TOKEN": "env-org"}).items():
        monkeypatch.setenv(f"FERRY_{name}", value)
    request = request_of(clients, token=None, base_url=None)
    assert str(request.url) == "https://env.example/api/port"
    assert request.headers["authorization"] == "Bearer env-token"
    assert request.headers["accept-language"] == "it"
    assert payment_of(clients).headers["authorization"] == "Bearer env-org"
    request = request_of(clients, language="el")
    assert str(request.url) == f"{URL}/api/port"
    assert request.headers["authorization"] == f"Bearer {TOKEN}"
    assert request.headers["accept-language"] == "el"
    paid = payment_of(clients, organisation_token="org-argument")
    assert paid.headers["authorization"] == "Bearer org-argument"
    for name in ("TOKEN", "BASE_URL", "LANGUAGE", "ORGANISATION_TOKEN"):
        monkeypatch.delenv(f"FERRY_{name}")
    for name, settings in (
        *(("token", {"base_url": URL}), ("token", {"token": "", "base_url": URL})),
        *(("base_url", {"token": "t"}), ("base_url", {"token": "t", "base_url": ""})),
    ):
        for kind in (Ferry, AsyncFerry):
            error = caught(ConfigurationError, kind, **settings)
            assert f"{name}=… or FERRY_{name.upper()}" in str(error)
            assert error.outcome == "not_sent"
    monkeypatch.setenv("FERRY_BASE_URL", "http://env.example")
    assert "base_url" in str(caught(ConfigurationError, Ferry, "t"))
    monkeypatch.delenv("FERRY_BASE_URL")
    error = caught(ConfigurationError, payment_of, clients)
    assert "organisation_token=… or FERRY_ORGANISATION_TOKEN" in str(error)
    assert error.operation == "tickets.mark_paid"


@each("host", ["localhost:1", "127.0.0.1", "[::1]:80", "a.localhost", *ELSEWHERE])
def test_plain_http_is_fine_on_this_machine_and_needs_to_be_allowed_elsewhere(host):
    if host in ELSEWHERE:
        error = caught(ConfigurationError, Ferry, "t", base_url=f"http://{host}")
        assert "allow_http=True" in str(error)
    Ferry("t", base_url=f"http://{host}", allow_http=host in ELSEWHERE)


@each("url", [URL, f"{URL}/", f"{URL}//", f"{URL}/gateway/", f"{URL}/@shop/"])
def test_an_address_may_have_a_path_and_slashes_at_its_end(clients, url):
    assert str(request_of(clients, base_url=url).url) == f"{url.rstrip('/')}/api/port"


def test_a_header_is_sent_once_limits_reach_the_connection_and_a_callers_client_stays_open(clients):
    service = Exchanges(PORTS)
    ferry = client_of(clients, service, default_headers={"X-Agency": "A1", "user-agent": "shop/1"})
    ask_ports(ferry.with_options(extra_headers={"x-agency": "A2", "USER-AGENT": "shop/2"}))
    assert service.requests[0].headers.get_list("x-agency") == ["A2"]
    assert service.requests[0].headers.get_list("user-agent") == ["shop/2"]

    def seen(**settings):
        return request_of(clients, **settings).extensions["timeout"]

    parts = {"connect": 1, "read": 2, "write": 3, "pool": 4}
    assert seen(timeout=ferry_sdk.Timeout(**parts)) == parts
    assert [seen(timeout=limit)["read"] for limit in (7, None)] == [7, None]
    assert seen()["read"] == 30
    http_client = clients.http_client(transport=httpx.MockTransport(Exchanges(PORTS)))
    with clients("t", base_url=URL, http_client=http_client) as ferry:
        ask_ports(ferry)
    assert not http_client.is_closed
    ask_ports(ferry)


def test_a_view_has_its_own_settings_only_tightens_read_only_and_awaits_async_functions(clients):
    service = Exchanges(PORTS)
    ferry = client_of(clients, service, language="fr", default_headers={"x-a": "1", "x-b": "1"})
    view = ferry.with_options(
        language="it", extra_headers={"x-b": "2", "x-c": "2"}, correlation_id="c-1"
    )
    cleared = view.with_options(language=None, correlation_id=None)
    for one in (view, ferry, view.with_options(max_retries=0), cleared):
        ask_ports(one)
    names = ("accept-language", "x-a", "x-b", "x-c")
    seen = [[request.headers.get(name) for name in names] for request in service.requests]
    of_view = ["it", "1", "2", "2"]
    assert seen == [of_view, ["fr", "1", "1", None], of_view, [None, *of_view[1:]]]
    of_view, of_client, of_second, of_cleared = correlation_ids(service)
    assert of_view == of_second == "c-1"
    assert "c-1" not in (of_client, of_cleared)
    service = Exchanges(PORTS)
    writer = client_of(clients, service)
    writer.with_options(read_only=False)
    readers = writer.with_options(read_only=True), client_of(clients, service, read_only=True)
    for reader in readers:
        error = caught(InvalidInputError, reader.with_options, read_only=False)
        assert error.field == "read_only"
        again = reader.with_options(language="fr").with_options(read_only=True)
        caught(ReadOnlyError, again.bookings.confirm, "b-1")
        caught(ReadOnlyError, again.mcp.confirm_booking, "b-1")
        ask_ports(again)
    assert {request.url.path for request in service.requests} == {"/api/port"}

    async def give():
        await anyio.lowlevel.checkpoint()
        return "awaited"

    service = Exchanges(PORTS)
    if clients.is_async:
        ask_ports(client_of(clients, service, token=give))
        assert service.requests[0].headers["authorization"] == "Bearer awaited"
        return
    for name in ("token", "organisation_token"):
        error = caught(ConfigurationError, client_of, clients, service, **{name: give})
        assert str(error) == f"{name}: an async function needs AsyncFerry"
    hidden = client_of(clients, service, token=lambda: give())  # noqa: PLW0108 -- it does not show that it is async
    error = caught(ConfigurationError, ask_ports, hidden)
    assert (str(error), service.requests) == ("token: an async function needs AsyncFerry", [])


@each("max_retries", [0, 3])
def test_a_view_has_its_own_number_of_attempts(clients, max_retries):
    service = Exchanges(httpx.Response(503, headers={"retry-after": "0"}))
    view = client_of(clients, service).with_options(max_retries=max_retries)
    caught(ferry_sdk.ServerError, ask_ports, view)
    assert len(service.requests) == max_retries + 1


def test_the_environment_makes_clients_of_other_machines_read_only(clients, monkeypatch):
    here, there = "http://127.0.0.1:9", "https://ferry.example"
    for value, url, is_read_only in (
        *(("1", there, True), ("true", there, True), ("1", "https://localhost.example", True)),
        *(("1", here, False), ("1", "http://[::1]:9", False), ("0", there, False)),
        ("", there, False),
    ):
        monkeypatch.setenv("FERRY_READ_ONLY", value)
        service = Exchanges(httpx.Response(404, json={}))
        ferry = client_of(clients, service, base_url=url, read_only=False)
        for client in (ferry, ferry.with_options(language="fr")):
            kind = ReadOnlyError if is_read_only else ferry_sdk.NotFoundError
            error = caught(kind, client.bookings.confirm, "b-1")
            assert not is_read_only or "FERRY_READ_ONLY" in str(error)
        assert bool(service.requests) != is_read_only, (value, url)


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


@each(
    ("url", "is_read_only"),
    [*((url, False) for url in THIS_MACHINE), *((url, True) for url in MAY_BE_ELSEWHERE)],
)
def test_read_only_exempts_this_machine_alone(monkeypatch, url, is_read_only):
    monkeypatch.setenv("FERRY_READ_ONLY", "1")
    with Ferry("t", base_url=url, allow_http=True) as ferry:
        assert transport_of(ferry).settings.read_only is is_read_only


@each(
    ("proxies", "url", "is_read_only"),
    [
        ({"HTTPS_PROXY": "http://proxy.example:3128"}, "https://localhost", True),
        ({"ALL_PROXY": "http://proxy.example:3128"}, "https://127.0.0.1", True),
        (
            {"HTTPS_PROXY": "http://127.0.0.1:9", "NO_PROXY": "localhost"},
            "https://localhost",
            False,
        ),
        ({"HTTPS_PROXY": "http://127.0.0.1:9", "NO_PROXY": "a, *"}, "https://127.0.0.1", False),
        ({"HTTPS_PROXY": "http://127.0.0.1:9", "NO_PROXY": "host"}, "https://localhost", True),
        ({"HTTP_PROXY": "http://proxy.example:3128"}, "https://localhost", False),
        ({"ALL_PROXY": "http://proxy.example:3128"}, "http://localhost", False),
    ],
)
def test_read_only_exempts_no_name_behind_a_proxy(monkeypatch, proxies, url, is_read_only):
    with monkeypatch.context() as environment:
        environment.setenv("FERRY_READ_ONLY", "1")
        for name, value in proxies.items():
            environment.setenv(name, value)
        with Ferry("t", base_url=url) as ferry:
            assert transport_of(ferry).settings.read_only is is_read_only


def correlation_ids(service):
    return [request.headers["x-client-correlation-id"] for request in service.requests]


def test_a_block_gives_its_calls_an_id_and_blocks_nest():
    service = Exchanges(PORTS)
    with httpx.Client(transport=httpx.MockTransport(service)) as http_client:
        ferry = Ferry("t", base_url=URL, http_client=http_client)
        with ferry_sdk.correlation("outer") as given:
            assert given == "outer"
            ask_ports(ferry)
            with ferry_sdk.correlation("inner"):
                ask_ports(ferry)
            ask_ports(ferry)
            ask_ports(ferry.with_options(correlation_id="option"))
        ask_ports(ferry)
    *inside, after = correlation_ids(service)
    assert inside == ["outer", "inner", "outer", "option"]
    assert after not in inside


@each("backend", ["asyncio", "trio"])
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
