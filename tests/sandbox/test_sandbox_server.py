"""The local service as a server: start and stop, several at once, and its HTTP."""

import gc
import json
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import urlsplit

import anyio
import httpx
import pytest
from offline_service import ADULT, ONE_TICKET, rpc, search_request
from uvicorn.protocols.http.h11_impl import H11Protocol

from ferry_sdk.cli.app import load_command
from ferry_sdk.sandbox import AsyncSandbox, FaultKind, McpOptions, Sandbox
from ferry_sdk.sandbox.handlers import Handler
from ferry_sdk.sandbox.http.conventions import LARGEST_BODY
from ferry_sdk.sandbox.offers.offers import Offers
from tests.support.processes import run, start
from tests.support.stopwatch import Stopwatch
from tests.support.tiers import mostly_long
from tests.support.wire import TLS


def ports(sandbox, token=None):
    with httpx.Client(verify=TLS, base_url=sandbox.base_url, timeout=30) as client:
        headers = {"accept": "application/json", "authorization": f"Bearer {token}"}
        return client.get("/api/port", headers=headers)


def has_a_thread(sandbox):
    name = "ferry-sandbox-" + sandbox.base_url.rpartition(":")[2]
    return name in {thread.name for thread in threading.enumerate()}


# Start and stop


def test_service_has_no_address_before_its_start():
    with pytest.raises(RuntimeError, match="no address before"):
        _ = Sandbox().base_url


def test_service_runs_inside_its_block():
    with Sandbox() as sandbox:
        assert sandbox.running
        assert sandbox.base_url.startswith("http://127.0.0.1:")
        assert ports(sandbox, sandbox.token).status_code == 200
        assert has_a_thread(sandbox)
    assert not sandbox.running
    assert not has_a_thread(sandbox)
    with pytest.raises(httpx.ConnectError):
        ports(sandbox, sandbox.token)


def test_running_service_cannot_be_started_again(sandbox):
    with pytest.raises(RuntimeError, match="already running"):
        sandbox.start()


def test_taken_port_is_refused(sandbox):
    taken = Sandbox(port=int(sandbox.base_url.rpartition(":")[2]))
    with pytest.raises(OSError, match=r"."):
        taken.start()
    assert not taken.running


def test_stopped_service_can_be_stopped_again():
    sandbox = Sandbox()
    sandbox.stop()
    assert not sandbox.running


def test_restarted_service_keeps_its_address_with_its_state():
    with Sandbox() as sandbox:
        address = sandbox.base_url
        token = sandbox.token
        ports(sandbox, token)
    with sandbox:
        assert (sandbox.base_url, sandbox.token) == (address, token)
        assert ports(sandbox, token).status_code == 200
        assert sandbox.counters.requests["catalogue.ports"] == 2


def test_small_reply_does_not_wait_for_an_acknowledgement(http):
    http.get("/nothing")
    seconds = []
    for _ in range(20):
        watch = Stopwatch()
        http.get("/nothing")
        seconds.append(watch.seconds)
    assert min(seconds) < 0.03  # a delayed acknowledgement takes 0.04


def test_stopping_leaves_no_open_socket():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with Sandbox() as sandbox:
            ports(sandbox)
            sandbox.faults.add("lose_reply")
            with pytest.raises(httpx.RemoteProtocolError):
                ports(sandbox)
        del sandbox
        gc.collect()
    assert [str(warning.message) for warning in caught] == []


@pytest.mark.slow
def test_stopping_closes_connections_that_are_being_accepted():
    with warnings.catch_warnings(record=True) as caught, ExitStack() as clients:
        warnings.simplefilter("always")
        for _ in range(5):
            with Sandbox() as sandbox:
                host, port = sandbox.base_url.removeprefix("http://").split(":")
                for _ in range(8):
                    client = clients.enter_context(socket.socket())
                    client.setblocking(False)
                    client.connect_ex((host, int(port)))
            gc.collect()
    assert [str(warning.message) for warning in caught] == []


def test_stopping_cuts_a_running_request(caplog):
    with Sandbox() as sandbox:
        sandbox.faults.add("delay_before", seconds=60)
        with ThreadPoolExecutor(1) as pool:
            asking = pool.submit(ports, sandbox, sandbox.token)
            while not sandbox.faults.taken:
                time.sleep(0.01)
            watch = Stopwatch()
            sandbox.stop()
            assert watch.seconds < 20
    assert isinstance(asking.exception(), httpx.HTTPError)
    assert caplog.records == []


# Several services


GIVEN_TOKENS = {"token": "rw", "read_only_token": "ro", "organisation_token": "org"}


@pytest.fixture(scope="module")
def everywhere():
    """Return a service on every address, with given tokens."""
    with Sandbox(host="0.0.0.0", **GIVEN_TOKENS) as sandbox:  # noqa: S104 -- what is tested
        yield sandbox


@pytest.fixture(scope="module")
def services(everywhere):
    """Return three services side by side, the last of which has given tokens."""
    with Sandbox() as first, Sandbox() as second:
        yield first, second, everywhere


def test_no_two_services_share_address_or_token(services):
    assert len({sandbox.base_url for sandbox in services}) == 3
    tokens = [getattr(sandbox, name) for sandbox in services for name in GIVEN_TOKENS]
    assert len(set(tokens)) == 9


def test_token_of_another_service_is_refused(services):
    first, second, _ = services
    assert ports(first, first.token).status_code == 200
    assert ports(first, second.token).status_code == 401


def test_every_service_has_its_own_clock(services):
    first, second, _ = services
    second.clock.advance(3600)
    assert (second.clock.now() - first.clock.now()).total_seconds() > 3500


def test_service_has_the_given_tokens(everywhere):
    assert {name: getattr(everywhere, name) for name in GIVEN_TOKENS} == GIVEN_TOKENS
    assert ports(everywhere, "ro").status_code == 200


def test_service_on_every_address_names_a_local_one(everywhere):
    assert everywhere.base_url.startswith("http://127.0.0.1:")


def test_service_can_listen_on_ipv6():
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        with pytest.raises(OSError, match=r"."):
            Sandbox(host="::1").start()
    else:
        with Sandbox(host="::1") as sandbox:
            assert sandbox.base_url.startswith("http://[::1]:")
            assert ports(sandbox, sandbox.token).status_code == 200


# Reset

MOMENT = datetime(2028, 2, 29, 8, tzinfo=UTC)


@pytest.fixture(scope="module")
def running_set_up():
    """Return the service of the module that was made with options and a frozen time."""
    with Sandbox(mcp=McpOptions(result="text"), now=MOMENT, frozen=True) as sandbox:
        yield sandbox


@pytest.fixture
def set_up(running_set_up):
    """Return a service that was made with options and a frozen time, after a reset."""
    running_set_up.reset()
    return running_set_up


def test_dates_are_those_of_the_clock(set_up):
    assert ports(set_up, set_up.token).headers["date"] == "Tue, 29 Feb 2028 08:00:00 GMT"
    set_up.faults.add("rate_limited", retry_after=60, as_date=True)
    retry_after = ports(set_up, set_up.token).headers["retry-after"]
    assert retry_after == "Tue, 29 Feb 2028 08:01:00 GMT"


def test_reset_keeps_the_address_with_the_tokens(set_up):
    before = (set_up.base_url, set_up.token)
    set_up.reset()
    assert (set_up.base_url, set_up.token) == before
    assert ports(set_up, set_up.token).status_code == 200


def test_reset_forgets_what_was_done(set_up):
    service = set_up.service
    ports(set_up, set_up.token)
    set_up.faults.add("rate_limited", times=None)
    set_up.reset()
    assert set_up.service is not service
    assert set_up.counters.requests == {}
    assert set_up.counters.connections == 0
    assert set_up.faults.pending == ()


def test_reset_restores_the_clock(set_up):
    set_up.clock.advance(3600)
    set_up.clock.resume()
    set_up.reset()
    assert (set_up.clock.now(), set_up.clock.frozen) == (MOMENT, True)


def test_reset_restores_the_options(set_up):
    set_up.mcp.set(result="bare")
    set_up.reset()
    assert set_up.mcp.current.result == "text"


# The async service and the command


both_loops = pytest.mark.parametrize("backend", ["asyncio", "trio"])


@both_loops
def test_async_service_runs_inside_its_block(backend):
    async def main():
        async with AsyncSandbox(token="rw") as sandbox:
            assert sandbox.running
            async with httpx.AsyncClient(base_url=sandbox.base_url, verify=TLS) as client:
                headers = {"accept": "application/json", "authorization": "Bearer rw"}
                reply = await client.get("/api/port", headers=headers)
                assert reply.status_code == 200
            assert sandbox.counters.connections == 1
        return sandbox

    sandbox = anyio.run(main, backend=backend)
    assert not sandbox.running
    assert not has_a_thread(sandbox)


@both_loops
def test_async_service_starts_without_a_block(backend):
    async def main():
        sandbox = AsyncSandbox()
        await sandbox.start()
        assert sandbox.running
        await sandbox.stop()
        return sandbox

    sandbox = anyio.run(main, backend=backend)
    assert not sandbox.running
    assert not has_a_thread(sandbox)


@both_loops
def test_cancelled_async_service_stops(backend):
    async def main():
        with anyio.CancelScope() as scope:
            async with AsyncSandbox() as sandbox:
                scope.cancel()
                await anyio.sleep(60)
        return sandbox

    sandbox = anyio.run(main, backend=backend)
    assert not sandbox.running
    assert not has_a_thread(sandbox)


@pytest.mark.parametrize("ending", mostly_long([signal.SIGINT, signal.SIGTERM]))
def test_serve_runs_until_a_signal(ending):
    script = "from ferry_sdk.sandbox import serve; serve(0, read_only_token='ro')"
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    process = start([sys.executable, "-W", "error", "-c", script], **pipes)
    lines = [process.stdout.readline().strip() for _ in range(5)]
    words = [line.removeprefix("export ") for line in lines if line.startswith("export ")]
    settings = dict(word.split("=", 1) for word in words)
    assert set(settings) == {"FERRY_BASE_URL", "FERRY_TOKEN", "FERRY_ORGANISATION_TOKEN"}
    assert "# a token that may only read: ro" in lines
    headers = {"accept": "application/json", "authorization": f"Bearer {settings['FERRY_TOKEN']}"}
    reply = httpx.get(f"{settings['FERRY_BASE_URL']}/api/port", headers=headers, timeout=30)
    assert reply.status_code == 200
    process.send_signal(ending)
    output, errors = process.communicate(timeout=60)
    assert (process.returncode, output, errors) == (0, "# stopped\n", "")


@pytest.fixture(scope="module")
def heavy_modules():
    """Return which heavy modules a new process has loaded after an import and after a search."""
    script = (
        "import sys, ferry_sdk.sandbox\n"
        "print(*sorted({'starlette', 'uvicorn', 'fpdf', 'segno', 'httpx'} & set(sys.modules)))\n"
        "from ferry_sdk import Ferry\n"
        "from ferry_sdk.sandbox import Sandbox\n"
        "from tests.support.trip import NOW, found\n"
        "with Sandbox(now=NOW) as local, Ferry(local.token, base_url=local.base_url) as ferry:\n"
        "    found(ferry)\n"
        "print(*sorted({'fpdf', 'numpy', 'PIL', 'fontTools'} & set(sys.modules)))\n"
    )
    done = run([sys.executable, "-c", script], new=True)
    assert done.returncode == 0, done.stderr
    after_import, after_search = done.stdout.splitlines()
    return {"import": after_import, "search": after_search}


@pytest.mark.slow
def test_package_loads_nothing_heavy(heavy_modules):
    assert heavy_modules["import"] == ""


def test_search_loads_no_pdf_library(heavy_modules):
    assert heavy_modules["search"] == ""


@pytest.mark.slow
@pytest.mark.parametrize("package", mostly_long(["fpdf", "segno", "starlette", "uvicorn"]))
def test_without_the_extra_the_error_names_it(package):
    script = f"import sys; sys.modules[{package!r}] = None\nfrom ferry_sdk.sandbox import Sandbox"
    done = run([sys.executable, "-c", script], new=True)
    assert done.returncode == 1
    assert 'pip install "ferry-sdk[sandbox]"' in done.stderr


@pytest.mark.slow
def test_faults_have_their_names_without_the_extra():
    script = (
        "import sys\n"
        "for name in ('fpdf', 'segno', 'starlette', 'uvicorn'): sys.modules[name] = None\n"
        "from ferry_sdk.sandbox import Fault, FaultKind, McpOptions, Profile\n"
        "print(len(FaultKind))\n"
    )
    done = run([sys.executable, "-c", script], new=True)
    assert done.stderr == ""
    assert int(done.stdout) == len(FaultKind)


# HTTP conventions of every reply


@pytest.mark.parametrize("accepted", ["gzip", "identity"])
def test_reply_is_compressed_if_accepted(http, accepted):
    headers = {"accept-encoding": accepted}
    for reply in (
        http.get("/api/vehicle-data", headers=headers),
        http.post("/mcp", json=rpc("tools/list"), headers=headers),
    ):
        assert reply.headers.get("content-encoding") == (None if accepted == "identity" else "gzip")
        assert reply.json()


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "DELETE"])
@pytest.mark.parametrize(
    "path", ["/api/port/", "/api/booking/", "/mcp/", "/_sandbox/clock/", "/api/"]
)
def test_trailing_slash_is_not_found(http, method, path):
    reply = http.request(method, path, json={} if method in {"POST", "PUT"} else None)
    assert (reply.status_code, reply.json()["code"]) == (404, "NOT_FOUND")
    assert "location" not in reply.headers


JSON = {"content-type": "application/json"}
LARGEST_PING = json.dumps(rpc("ping")).encode().ljust(LARGEST_BODY)


def test_largest_body_is_read(http):
    assert http.post("/mcp", content=LARGEST_PING, headers=JSON).json()["result"] == {}


@pytest.mark.parametrize("path", ["/mcp", "/api/journey"])
@pytest.mark.parametrize(
    "body",
    [
        pytest.param(LARGEST_PING + b" ", id="with-length"),
        pytest.param([LARGEST_PING, b" "], id="in-chunks"),
    ],
)
def test_larger_body_is_refused(sandbox, http, path, body):
    reply = http.post(path, content=body, headers=JSON)
    assert (reply.status_code, reply.json()["code"]) == (413, "BODY_TOO_LARGE")
    assert sandbox.counters.requests == {}


@pytest.mark.parametrize("path", mostly_long(["/api/journey", "/mcp", "/_sandbox/clock"]))
def test_rest_of_a_larger_body_is_not_read(sandbox, monkeypatch, path):
    sizes = []
    receive = H11Protocol.data_received

    def count(protocol, data):
        sizes.append(len(data))
        receive(protocol, data)

    monkeypatch.setattr(H11Protocol, "data_received", count)
    address = urlsplit(sandbox.base_url)
    chunk = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
    with socket.create_connection((address.hostname, address.port), timeout=30) as connection:
        head = f"POST {path} HTTP/1.1\r\nHost: {address.netloc}\r\n"
        connection.sendall(f"{head}Transfer-Encoding: chunked\r\n\r\n".encode())
        with suppress(ConnectionError):
            for _ in range(1000):
                connection.sendall(chunk)
        assert connection.recv(100).startswith(b"HTTP/1.1 413 ")
        with suppress(ConnectionError):
            while connection.recv(10_000):
                pass
    assert LARGEST_BODY < sum(sizes) < 2 * LARGEST_BODY


def test_small_requests_are_answered_during_a_large_search(sandbox, http, monkeypatch):
    begun = threading.Event()
    may_end = threading.Event()
    find = Offers.search

    def search_for_long(offers, query):
        begun.set()
        assert may_end.wait(60)
        return find(offers, query)

    monkeypatch.setattr(Offers, "search", search_for_long)
    request = search_request(ONE_TICKET, sandbox.clock.now().date() + timedelta(days=60))
    body = {"request": {**request, "out_is_open": True}, "passengers": [ADULT]}
    with ThreadPoolExecutor(1) as pool:
        search = pool.submit(http.post, "/api/availability", json=body, timeout=60)
        try:
            assert begun.wait(30)
            assert http.get("/api/booking/unknown").status_code == 404
            assert http.post("/mcp", json=rpc("ping")).status_code == 200
            assert not search.done()
        finally:
            may_end.set()
        assert search.result().status_code == 200


def test_internal_error_announces_the_end_of_the_connection(sandbox, monkeypatch):
    def fail(*_):
        raise ZeroDivisionError

    monkeypatch.setitem(sandbox.service._handlers["default"], "catalogue.ports", Handler(fail))
    host, _, port = sandbox.base_url.removeprefix("http://").partition(":")
    request = (
        f"GET /api/port HTTP/1.1\r\nhost: {host}\r\naccept: application/json\r\n"
        f"authorization: Bearer {sandbox.token}\r\n\r\n"
    )
    with socket.create_connection((host, int(port)), 30) as link:
        link.sendall(request.encode())
        reply = b""
        while received := link.recv(65536):
            reply += received
    head, _, body = reply.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 500 ")
    assert b"connection: close" in head.lower()
    assert json.loads(body)["code"] == "INTERNAL_ERROR"


# The example of a container

EXAMPLE = Path(__file__).parents[2] / "examples" / "container"
DOCKERFILE = (EXAMPLE / "Dockerfile").read_text("utf-8")
WHOLE_EXAMPLE = DOCKERFILE + (EXAMPLE / "compose.yaml").read_text("utf-8")


def test_example_of_a_container_names_existing_options():
    options = {option.name.upper() for option in load_command("sandbox").params}
    named = set(re.findall(r"\bFERRY_SANDBOX_([A-Z_]+)", WHOLE_EXAMPLE))
    assert {"HOST", "PORT", "STATE", "CONTROL_TOKEN"} <= named <= options


def test_example_of_a_container_checks_its_health():
    (port,) = re.findall(r"FERRY_SANDBOX_PORT=(\d+)", DOCKERFILE)
    assert f"http://127.0.0.1:{port}/health" in DOCKERFILE
    assert f"EXPOSE {port}" in DOCKERFILE


def test_example_of_a_container_runs_as_a_user():
    assert re.search(r"^USER 1000$", DOCKERFILE, re.MULTILINE)


def test_example_of_a_container_contains_no_token():
    tokens = re.findall(r"_TOKEN\s*[:=]\s*(\S+)", WHOLE_EXAMPLE)
    assert tokens
    assert all(value.startswith("${") for value in tokens)
