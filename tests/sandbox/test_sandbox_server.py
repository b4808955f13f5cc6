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
from datetime import datetime, timedelta, timezone
from pathlib import Path
from urllib.parse import urlsplit

import anyio
import httpx
import pytest
from offline_service import ADULT, ONE_TICKET, rpc, search_request
from uvicorn.protocols.http.h11_impl import H11Protocol

from ferry_sdk.cli.app import load_command
from ferry_sdk.sandbox import AsyncSandbox, McpOptions, Sandbox
from ferry_sdk.sandbox.handlers import Handler
from ferry_sdk.sandbox.http.conventions import LARGEST_BODY
from ferry_sdk.sandbox.offers.offers import Offers
from tests.support.processes import run, start
from tests.support.stopwatch import Stopwatch
from tests.support.tables import each
from tests.support.tiers import mostly_long
from tests.support.wire import TLS


def ports(sandbox, token=None):
    with httpx.Client(verify=TLS, base_url=sandbox.base_url, timeout=30) as client:
        headers = {"accept": "application/json", "authorization": f"Bearer {token}"}
        return client.get("/api/port", headers=headers)


def has_a_thread(sandbox):
    name = "ferry-sandbox-" + sandbox.base_url.rpartition(":")[2]
    return name in {thread.name for thread in threading.enumerate()}


def test_the_service_runs_inside_its_with_block_only():
    stopped = Sandbox()
    with pytest.raises(RuntimeError, match="no address before"):
        _ = stopped.base_url
    with stopped as sandbox:
        assert sandbox.running
        address, token = sandbox.base_url, sandbox.token
        assert address.startswith("http://127.0.0.1:")
        assert ports(sandbox, token).status_code == 200
        assert has_a_thread(sandbox)
        with pytest.raises(RuntimeError, match="already running"):
            sandbox.start()
        taken = Sandbox(port=int(address.rpartition(":")[2]))
        with pytest.raises(OSError, match=r"."):
            taken.start()
        assert not taken.running
    sandbox.stop()
    assert not sandbox.running
    assert not has_a_thread(sandbox)
    with pytest.raises(httpx.ConnectError):
        ports(sandbox, token)
    # A restarted service keeps its address and its state.
    with sandbox:
        assert (sandbox.base_url, sandbox.token) == (address, token)
        assert ports(sandbox, token).status_code == 200
        assert sandbox.counters.requests["catalogue.ports"] == 2


def test_a_small_reply_does_not_wait_for_an_acknowledgement(http):
    http.get("/nothing")
    seconds = []
    for _ in range(20):
        watch = Stopwatch()
        http.get("/nothing")
        seconds.append(watch.seconds)
    assert min(seconds) < 0.03  # a delayed acknowledgement takes 0.04


def test_stopping_leaves_no_socket_and_no_warning():
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


def test_several_services_run_side_by_side_with_tokens_of_their_own_or_given_ones():
    tokens = {"token": "rw", "read_only_token": "ro", "organisation_token": "org"}
    with ExitStack() as stack:
        sandboxes = [stack.enter_context(Sandbox()) for _ in range(3)]
        everywhere = Sandbox(host="0.0.0.0", **tokens)  # noqa: S104 -- what is tested
        sandboxes.append(stack.enter_context(everywhere))
        assert len({sandbox.base_url for sandbox in sandboxes}) == 4
        assert len({getattr(one, kind) for one in sandboxes for kind in tokens}) == 12
        first, second, *_ = sandboxes
        assert ports(first, first.token).status_code == 200
        assert ports(first, second.token).status_code == 401
        second.clock.advance(3600)
        assert (second.clock.now() - first.clock.now()).total_seconds() > 3500
        assert {name: getattr(everywhere, name) for name in tokens} == tokens
        assert everywhere.base_url.startswith("http://127.0.0.1:")
        assert ports(everywhere, "ro").status_code == 200


def test_the_service_can_listen_on_ipv6():
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        with pytest.raises(OSError, match=r"."):
            Sandbox(host="::1").start()
    else:
        with Sandbox(host="::1") as sandbox:
            assert sandbox.base_url.startswith("http://[::1]:")
            assert ports(sandbox, sandbox.token).status_code == 200


def test_reset_keeps_only_the_address_the_tokens_and_what_the_service_was_given():
    moment = datetime(2028, 2, 29, 8, tzinfo=timezone.utc)
    with Sandbox(mcp=McpOptions(result="text"), now=moment, frozen=True) as sandbox:
        before = (sandbox.base_url, sandbox.token, sandbox.service)
        assert ports(sandbox, sandbox.token).headers["date"] == "Tue, 29 Feb 2028 08:00:00 GMT"
        sandbox.faults.add("rate_limited", retry_after=60, as_date=True)
        again = ports(sandbox, sandbox.token).headers["retry-after"]
        assert again == "Tue, 29 Feb 2028 08:01:00 GMT"
        sandbox.clock.advance(3600)
        sandbox.clock.resume()
        sandbox.faults.add("rate_limited", times=None)
        sandbox.mcp.set(result="bare")
        sandbox.reset()
        assert (sandbox.base_url, sandbox.token) == before[:2]
        assert sandbox.service is not before[2]
        assert sandbox.counters.requests == {}
        assert sandbox.counters.connections == 0
        assert (sandbox.clock.now(), sandbox.clock.frozen) == (moment, True)
        assert sandbox.faults.pending == ()
        assert sandbox.mcp.current.result == "text"
        assert ports(sandbox, sandbox.token).status_code == 200


@each("backend", ["asyncio", "trio"])
def test_the_async_service_runs_and_is_cancelled_on_both_event_loops(backend):
    async def main():
        async with AsyncSandbox(token="rw") as sandbox:
            assert sandbox.running
            async with httpx.AsyncClient(base_url=sandbox.base_url) as client:
                headers = {"accept": "application/json", "authorization": "Bearer rw"}
                reply = await client.get("/api/port", headers=headers)
                assert reply.status_code == 200
            assert sandbox.counters.connections == 1
        assert not sandbox.running
        await sandbox.start()
        await sandbox.stop()
        with anyio.CancelScope() as scope:
            async with AsyncSandbox() as cancelled:
                scope.cancel()
                await anyio.sleep(60)
        return sandbox, cancelled

    for stopped in anyio.run(main, backend=backend):
        assert not stopped.running
        assert not has_a_thread(stopped)


@pytest.mark.parametrize("ending", mostly_long([signal.SIGINT, signal.SIGTERM]))
def test_serve_prints_its_address_and_tokens_and_stops_on_a_signal(ending):
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


def test_the_package_loads_nothing_heavy_and_a_search_no_pdf_library():
    script = (
        "import sys, ferry_sdk.sandbox\n"
        "print(sorted({'starlette', 'uvicorn', 'fpdf', 'segno', 'httpx'} & set(sys.modules)))\n"
        "from ferry_sdk import Ferry\n"
        "from ferry_sdk.sandbox import Sandbox\n"
        "from tests.support.trip import NOW, found\n"
        "with Sandbox(now=NOW) as local, Ferry(local.token, base_url=local.base_url) as ferry:\n"
        "    found(ferry)\n"
        "print(sorted({'fpdf', 'numpy', 'PIL', 'fontTools'} & set(sys.modules)))\n"
    )
    done = run([sys.executable, "-c", script], new=True)
    assert done.stdout == "[]\n[]\n", done.stderr


@pytest.mark.parametrize("package", mostly_long(["fpdf", "segno", "starlette", "uvicorn"]))
def test_without_the_extra_the_error_names_it(package):
    script = f"import sys; sys.modules[{package!r}] = None\nfrom ferry_sdk.sandbox import Sandbox"
    done = run([sys.executable, "-c", script], new=True)
    assert done.returncode == 1
    assert 'pip install "ferry-sdk[sandbox]"' in done.stderr


# HTTP conventions of every reply


def test_a_reply_is_compressed_if_the_client_accepts_it(http):
    for accepted, encoding in (("gzip", "gzip"), ("identity", None)):
        headers = {"accept-encoding": accepted}
        for reply in (
            http.get("/api/vehicle-data", headers=headers),
            http.post("/mcp", json=rpc("tools/list"), headers=headers),
        ):
            assert reply.headers.get("content-encoding") == encoding
            assert reply.json()


@each("method", ["GET", "POST", "PUT", "DELETE"])
@each("path", ["/api/port/", "/api/booking/", "/mcp/", "/_sandbox/clock/", "/api/"])
def test_a_trailing_slash_is_not_found(http, method, path):
    reply = http.request(method, path, json={} if method in {"POST", "PUT"} else None)
    assert (reply.status_code, reply.json()["code"]) == (404, "NOT_FOUND")
    assert "location" not in reply.headers


def test_rest_and_mcp_refuse_a_body_over_the_limit(sandbox, http):
    headers = {"content-type": "application/json"}
    largest = json.dumps(rpc("ping")).encode().ljust(LARGEST_BODY)
    assert http.post("/mcp", content=largest, headers=headers).json()["result"] == {}
    for too_large in (largest + b" ", [largest, b" "]):
        for path in ("/mcp", "/api/journey"):
            reply = http.post(path, content=too_large, headers=headers)
            assert (reply.status_code, reply.json()["code"]) == (413, "BODY_TOO_LARGE")
    assert sandbox.counters.requests == {"mcp.ping": 1}


@pytest.mark.parametrize("path", mostly_long(["/api/journey", "/mcp", "/_sandbox/clock"]))
def test_the_rest_of_a_body_over_the_limit_is_not_read(sandbox, monkeypatch, path):
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
    begun, may_end = threading.Event(), threading.Event()
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


def test_an_internal_error_announces_that_the_connection_closes(sandbox, monkeypatch):
    def fail(*_):
        raise ZeroDivisionError

    monkeypatch.setitem(sandbox.service._handlers, "catalogue.ports", Handler(fail))
    host, _, port = sandbox.base_url.removeprefix("http://").partition(":")
    asked = (
        f"GET /api/port HTTP/1.1\r\nhost: {host}\r\naccept: application/json\r\n"
        f"authorization: Bearer {sandbox.token}\r\n\r\n"
    )
    with socket.create_connection((host, int(port)), 30) as link:
        link.sendall(asked.encode())
        reply = b""
        while received := link.recv(65536):
            reply += received
    head, _, body = reply.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 500 ")
    assert b"connection: close" in head.lower()
    assert json.loads(body)["code"] == "INTERNAL_ERROR"


# The example of a container


def test_the_example_of_a_container_names_options_that_exist_and_is_healthy():
    folder = Path(__file__).parents[2] / "examples" / "container"
    dockerfile = (folder / "Dockerfile").read_text("utf-8")
    both = dockerfile + (folder / "compose.yaml").read_text("utf-8")
    options = {each.name.upper() for each in load_command("sandbox").params}
    named = set(re.findall(r"\bFERRY_SANDBOX_([A-Z_]+)", both))
    assert {"HOST", "PORT", "STATE", "CONTROL_TOKEN"} <= named <= options
    (port,) = re.findall(r"FERRY_SANDBOX_PORT=(\d+)", dockerfile)
    assert f"http://127.0.0.1:{port}/health" in dockerfile
    assert f"EXPOSE {port}" in dockerfile
    assert re.search(r"^USER 1000$", dockerfile, re.MULTILINE)
    tokens = re.findall(r"_TOKEN\s*[:=]\s*(\S+)", both)
    assert tokens
    assert all(value.startswith("${") for value in tokens)
