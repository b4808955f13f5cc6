"""The server over HTTP: who may connect, both eras of the protocol, two hosts, and its end."""

import json
import re
import signal
import socket
import subprocess
import sys
from contextlib import ExitStack, asynccontextmanager, contextmanager

import httpx
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from starlette.applications import Starlette
from starlette.routing import Mount

from ferry_sdk import AsyncFerry, ConfigurationError, Ferry
from ferry_sdk.agents import AsyncToolkit, Toolkit, http_app
from ferry_sdk.agents.mcp_server.http import HttpAddress
from tests.agents.agent import book, order, result_of, sailings
from tests.backend.gathering import UnderWay, eventually
from tests.stdio.conftest import MODES, VERSIONS, Host, Person, environment
from tests.support.exchanges import caught
from tests.support.hold import Hold
from tests.support.processes import run, start
from tests.support.tiers import LONG, mostly_long
from tests.system.interop.official_server import Hosted

SECRET = "of-all-the-hosts"
ANY_PORT = "127.0.0.1:0"
PIPES = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE) | {"text": True}


def http_command(*options, address=ANY_PORT):
    return [sys.executable, "-m", "ferry_sdk", "mcp", "--http", address, "--tools", "all", *options]


class Served:
    """A server in a process of its own.

    Attributes:
        process: The process.
        url: The address of its MCP endpoint.
        lines: The lines of its log before it served.
    """

    def __init__(self, process):
        self.process = process
        self.lines = []
        while "serving at" not in (line := process.stderr.readline()):
            assert line, self.lines
            self.lines.append(line)
        self.url = re.search(r"http://\S+", line)[0]

    def stop(self, number=signal.SIGTERM):
        """End it by a signal; return its exit code, and the rest of its log."""
        self.process.send_signal(number)
        code = self.process.wait(timeout=30)
        return code, self.process.stderr.read()


@contextmanager
def served(sandbox, *options, address=ANY_PORT):
    environ = environment(sandbox)
    with start(http_command(*options, address=address), env=environ, **PIPES) as process:
        try:
            yield Served(process)
        finally:
            process.kill()


@pytest.fixture
def secret_file(tmp_path):
    """A file with the secret."""
    file = tmp_path / "secret"
    file.write_text(f"{SECRET}\n", "utf-8")
    file.chmod(0o600)
    return str(file)


@pytest.fixture
def servers():
    """The servers of the test, which end after its clients: those complain otherwise."""
    with ExitStack() as stack:
        yield stack


@pytest.fixture
def serve(servers, ferry_sandbox):
    """Start servers of the sandbox."""
    return lambda *options: servers.enter_context(served(ferry_sandbox, *options))


@pytest.fixture(params=mostly_long(MODES))
def connect(request, servers, asyncio_portal, tmp_path):
    """Connect the official client to a server, in each era of the protocol."""
    del servers  # used before, so that they end later
    with ExitStack() as stack:

        def connected(url, person=None, secret=SECRET):
            headers = {"Authorization": f"Bearer {secret}"}
            http = httpx2.AsyncClient(headers=headers, timeout=30)
            stack.enter_context(asyncio_portal.wrap_async_context_manager(http))
            transport = streamable_http_client(url, http_client=http)
            client = Client(transport, mode=MODES[request.param], elicitation_callback=person)
            stack.enter_context(asyncio_portal.wrap_async_context_manager(client))
            assert client.protocol_version == VERSIONS[request.param]
            return Host(asyncio_portal, client, tmp_path)

        yield connected


def initialize(url, **headers):
    """Return the reply to a handshake."""
    message = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    }
    accepted = {"Accept": "application/json, text/event-stream"}
    return httpx.post(url, json=message, headers=accepted | headers)


def with_code(host, tool, arguments):
    """Return the arguments of a write with the code that approves it."""
    asked = host.call(tool, arguments)["approval"]
    return {**arguments, "confirmation_code": asked["confirmation_code"]}


def made(host, tool, arguments):
    """Make a write with a code, and return its result."""
    return result_of(host.call(tool, with_code(host, tool, arguments)))


def book_and_pay(host):
    """Book and pay with codes."""
    booking = made(host, "bookings_create", order(sailings(host)[0]))
    made(host, "bookings_confirm", {"booking_id": booking["booking_id"]})


def test_host_books_and_pays_with_codes(ferry_sandbox, serve, secret_file, connect):
    server = serve("--writes", "--secret-file", secret_file)
    book_and_pay(connect(server.url))
    assert [effect.operation for effect in ferry_sandbox.counters.effects] == [
        "bookings.create",
        "bookings.confirm",
    ]


def test_person_at_the_host_is_asked(serve, secret_file, connect):
    person = Person()
    server = serve("--writes", "--secret-file", secret_file)
    book(connect(server.url, person))
    (question,) = person.shown
    assert "EUR" in question


def test_two_hosts_share_what_was_shown(serve, secret_file, connect):
    server = serve("--writes", "--secret-file", secret_file)
    asked = order(sailings(connect(server.url))[0])
    answer = connect(server.url).call("bookings_create", asked)
    assert answer["approval"]["confirmation_code"]


class TestSecret:
    """Who may connect."""

    @pytest.fixture
    def url(self, ferry_sandbox, secret_file):
        """The address of a server that requires the secret."""
        with served(ferry_sandbox, "--secret-file", secret_file) as server:
            yield server.url

    def test_right_secret_is_let_in(self, url):
        assert initialize(url, Authorization=f"Bearer {SECRET}").status_code == 200

    def test_scheme_is_read_in_any_case(self, url):
        assert initialize(url, Authorization=f"bearer {SECRET}").status_code == 200

    @pytest.mark.parametrize(
        "given",
        [None, "", f"Basic {SECRET}", "Bearer", "Bearer wrong", f"Bearer {SECRET}x", SECRET],
    )
    def test_wrong_secret_is_refused(self, url, given):
        reply = initialize(url, **({} if given is None else {"Authorization": given}))
        assert reply.status_code == 401
        assert reply.headers["WWW-Authenticate"] == "Bearer"
        assert SECRET not in reply.text

    def test_other_path_is_not_found(self, url):
        assert httpx.get(url.removesuffix("/mcp")).status_code == 404


class TestHeaders:
    """A page in a browser of this machine reaches the server, but not its tools."""

    @pytest.fixture
    def url(self, ferry_sandbox):
        """The address of a server without a secret."""
        with served(ferry_sandbox) as server:
            yield server.url

    def test_this_machine_needs_no_secret(self, url):
        assert initialize(url).status_code == 200

    def test_origin_of_this_machine_is_let_in(self, url):
        assert initialize(url, Origin="http://localhost:3000").status_code == 200

    @pytest.mark.parametrize(
        "origin", ["https://elsewhere.example", "null", "http://localhost.elsewhere.example"]
    )
    def test_other_origin_is_refused(self, url, origin):
        assert initialize(url, Origin=origin).status_code == 403

    @pytest.mark.parametrize("host", ["elsewhere.example", "elsewhere.example:80", "127.0.0.2"])
    def test_other_host_is_refused(self, url, host):
        assert initialize(url, Host=host).status_code == 421


class PlainHost:
    """A host with a handshake, whose connections end with its block."""

    def __init__(self, url):
        self._url = url
        headers = {
            "Accept": "application/json, text/event-stream",
            "Authorization": f"Bearer {SECRET}",
        }
        self._http = httpx.Client(headers=headers, timeout=30)

    def __enter__(self):
        reply = initialize(self._url, Authorization=f"Bearer {SECRET}")
        self._http.headers["Mcp-Session-Id"] = reply.headers["Mcp-Session-Id"]
        self._http.headers["MCP-Protocol-Version"] = "2025-11-25"
        self._http.post(self._url, json={"jsonrpc": "2.0", "method": "notifications/initialized"})
        return self

    def __exit__(self, *_):
        self._http.close()

    def listen(self):
        """Return the stream of the server's own messages, which stays open."""
        return self._http.stream("GET", self._url)

    def call(self, name, arguments=None):
        params = {"name": name, "arguments": arguments or {}}
        message = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params}
        text = self._http.post(self._url, json=message).text
        (data,) = re.findall(r"^data: (.*)$", text, re.MULTILINE)
        return json.loads(json.loads(data)["result"]["content"][0]["text"])


class TestEnd:
    """A signal ends the server."""

    @pytest.mark.parametrize("number", mostly_long([signal.SIGTERM, signal.SIGINT]))
    def test_open_stream_does_not_delay_it(self, serve, secret_file, number):
        server = serve("--secret-file", secret_file)
        with PlainHost(server.url) as host, host.listen():
            result_of(host.call("catalogue_ports"))
            code, log = server.stop(number)
        assert code == 0
        assert "Traceback" not in log

    def test_write_in_progress_is_finished(self, ferry_sandbox, serve, secret_file):
        server = serve("--writes", "--secret-file", secret_file)
        with PlainHost(server.url) as host:
            asked = with_code(host, "bookings_create", order(sailings(host)[0]))
            hold = Hold(ferry_sandbox, "bookings.create", replies=True)
            write = UnderWay(lambda: host.call("bookings_create", asked))
            eventually(lambda: hold.held)
            server.process.send_signal(signal.SIGTERM)
            eventually(lambda: not accepts_connections(server.url))
            hold.release()
            result_of(write.value())
        assert server.process.wait(timeout=30) == 0

    @LONG
    def test_killed_server_leaves_the_write_to_its_journal(
        self, ferry_sandbox, serve, secret_file, tmp_path
    ):
        files = ["--journal", f"sqlite:///{tmp_path / 'ferry.db'}", "--state", tmp_path / "state"]
        options = ["--writes", "--secret-file", secret_file, *map(str, files)]
        server = serve(*options)
        with PlainHost(server.url) as host:
            created = made(host, "bookings_create", order(sailings(host)[0]))
            booking = {"booking_id": created["booking_id"]}
            again = with_code(host, "bookings_confirm", booking)
            hold = Hold(ferry_sandbox, "bookings.confirm", replies=True)
            write = UnderWay(lambda: host.call("bookings_confirm", again))
            eventually(lambda: hold.held)
            server.process.kill()
            assert isinstance(write.error(), httpx.RemoteProtocolError)
            hold.release()

        with PlainHost(serve(*options).url) as host:
            assert "approval" not in host.call("bookings_confirm", booking)
        assert ferry_sandbox.counters.requests["bookings.confirm"] == 1


def accepts_connections(url):
    address = httpx.URL(url)
    with socket.socket() as attempt:
        return attempt.connect_ex((address.host, address.port)) == 0


class TestStart:
    """What the command line may say."""

    def refusal_of(self, sandbox, *options, address=ANY_PORT):
        """Return the line with which the server refuses to start."""
        ended = run(http_command(*options, address=address), env=environment(sandbox))
        assert (ended.returncode, ended.stdout) == (2, "")
        return ended.stderr

    @pytest.mark.parametrize(
        "address",
        ["", "localhost", "127.0.0.1:", ":x", "80000", "1:-1", "9" * 5000],
        ids=lambda value: value[:10],
    )
    def test_invalid_address_is_named(self, ferry_sandbox, address):
        assert "[HOST:]PORT" in self.refusal_of(ferry_sandbox, address=address)

    def test_taken_port_is_named(self, ferry_sandbox):
        port = httpx.URL(ferry_sandbox.base_url).port
        assert f"127.0.0.1:{port}" in self.refusal_of(ferry_sandbox, address=str(port))

    def test_other_machines_need_a_secret(self, ferry_sandbox):
        assert "--secret-file" in self.refusal_of(ferry_sandbox, address="0.0.0.0:0")

    @pytest.mark.parametrize("content", ["", "two words", "naïve"])
    def test_unusable_secret_is_refused(self, ferry_sandbox, tmp_path, content):
        file = tmp_path / "secret"
        file.write_text(content, "utf-8")
        assert "secret" in self.refusal_of(ferry_sandbox, "--secret-file", str(file))

    def test_file_without_a_secret_is_named(self, ferry_sandbox, tmp_path):
        missing = tmp_path / "missing"
        refusal = self.refusal_of(ferry_sandbox, "--secret-file", str(missing))
        assert f"secret file {missing}: cannot be read" in refusal

    def test_secret_that_others_can_read_is_warned_of(self, ferry_sandbox, tmp_path):
        file = tmp_path / "secret"
        file.write_text(SECRET, "utf-8")
        file.chmod(0o644)
        with served(ferry_sandbox, "--secret-file", str(file)) as server:
            (warning,) = server.lines
        assert f"chmod 600 {file}" in warning

    def test_secret_needs_http(self, ferry_sandbox, secret_file):
        command = [sys.executable, "-m", "ferry_sdk", "mcp", "--secret-file", secret_file]
        ended = run(command, env=environment(ferry_sandbox))
        assert ended.returncode == 2
        assert "--http" in ended.stderr

    def test_plain_text_on_the_network_is_warned_of(self, ferry_sandbox, secret_file):
        options = ["--secret-file", secret_file]
        with served(ferry_sandbox, *options, address="0.0.0.0:0") as server:
            (warning,) = server.lines
        assert "TLS" in warning


@pytest.mark.parametrize(
    ("value", "host", "port"),
    [
        ("8000", "127.0.0.1", 8000),
        ("localhost:0", "localhost", 0),
        ("[::1]:65535", "::1", 65535),
        ("0.0.0.0:80", "0.0.0.0", 80),  # noqa: S104 -- compared with, not bound
    ],
)
def test_address_is_parsed(value, host, port):
    assert HttpAddress.parse(value) == HttpAddress(host, port)


class TestApplication:
    """The application in a server of one's own."""

    @pytest.fixture
    def ferry(self, ferry_sandbox):
        """A client that the server of the application closes."""
        return AsyncFerry(ferry_sandbox.token, base_url=ferry_sandbox.base_url)

    @pytest.fixture
    def toolkit(self, ferry):
        """Tools that change something."""
        return AsyncToolkit(ferry, tools="all", writes=True)

    def test_mounted_application_serves_the_tools(self, ferry, toolkit, servers, connect):
        @asynccontextmanager
        async def lifespan(_):
            async with ferry:
                yield

        app = http_app(toolkit, secret=SECRET)
        app = Starlette(routes=[Mount("/agents", app)], lifespan=lifespan)
        hosted = servers.enter_context(Hosted(app))
        book_and_pay(connect(f"{hosted.base_url}/agents/mcp"))

    def test_application_requires_the_secret(self, toolkit):
        with Hosted(http_app(toolkit, secret=SECRET)) as hosted:
            assert initialize(f"{hosted.base_url}/mcp").status_code == 401

    @pytest.mark.parametrize("secret", ["", "two words", "naïve", "line\n", None, b"bytes"])
    def test_invalid_secret_is_an_error(self, toolkit, secret):
        assert "secret" in str(caught(ConfigurationError, http_app, toolkit, secret=secret))

    def test_toolkit_of_threads_is_an_error(self, ferry_sandbox):
        toolkit = Toolkit(Ferry(ferry_sandbox.token, base_url=ferry_sandbox.base_url))
        assert "AsyncToolkit" in str(caught(ConfigurationError, http_app, toolkit, secret=SECRET))


def test_secret_is_in_no_output(ferry_sandbox, secret_file):
    with served(ferry_sandbox, "--secret-file", secret_file) as server:
        initialize(server.url, Authorization=f"Bearer {SECRET}")
        initialize(server.url, Authorization=f"Bearer {SECRET}", Host="elsewhere.example")
        code, log = server.stop()
    assert code == 0
    assert SECRET not in log + "".join(server.lines)
