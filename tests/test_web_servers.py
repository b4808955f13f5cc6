"""The page about web servers: its table of errors, and its files in a server of two processes."""

import logging
import os
import re
import shutil
import signal
import socket
import sys
import time
from collections import Counter
from contextlib import contextmanager
from dataclasses import replace
from http import HTTPStatus
from types import ModuleType

import httpx
import pytest

import ferry_sdk
from ferry_sdk import Ferry, FerryError
from ferry_sdk.journal import Journal
from ferry_sdk.sandbox import Sandbox
from tests.support import blocks
from tests.support.blocks import ROOT, TO_SAVE
from tests.support.processes import start
from tests.support.tiers import LONG
from tests.support.trip import DAY, NOW
from tests.test_errors import ENTRY, FAMILY, filled

PAGE = (ROOT / "docs" / "web-servers.md").read_text("utf-8")
SAVED = {block.title: block for block in TO_SAVE}
ANSWERS = SAVED["answers.py"].source
ROW = re.compile(r"^\| (\d{3}) \| ([^|]+) \|", re.MULTILINE)
ROWS = [
    (name, int(status)) for status, names in ROW.findall(PAGE) for name in re.findall(r"\w+", names)
]
"""The classes in the table of errors, each with its status."""
PATIENCE = 30.0


@pytest.fixture(scope="module")
def answers():
    """The page's module about errors."""
    module = ModuleType("answers")
    exec(ANSWERS, vars(module))  # noqa: S102 -- the page's own code
    return module


def test_table_of_statuses_has_every_error_once():
    assert Counter(name for name, _ in ROWS) == Counter(kind.__name__ for kind in FAMILY)


@pytest.mark.parametrize(("name", "status"), ROWS, ids=[name for name, _ in ROWS])
def test_error_has_the_status_of_the_table(answers, name, status):
    assert answers.status_of(filled(getattr(ferry_sdk, name))) == status


@pytest.mark.parametrize(
    "change", ["bookings.confirm", "tickets.cancel", "mcp.confirm_booking", "mcp.cancel_ticket"]
)
def test_write_of_an_unknown_id_is_not_found(answers, ferry_sandbox, change):
    group, method = change.split(".")
    with (
        Ferry(ferry_sandbox.token, base_url=ferry_sandbox.base_url) as ferry,
        pytest.raises(FerryError) as failed,
    ):
        getattr(getattr(ferry, group), method)("nope")
    assert answers.status_of(failed.value) == HTTPStatus.NOT_FOUND


@pytest.mark.parametrize("kind", FAMILY, ids=lambda kind: kind.__name__)
def test_description_of_an_error_names_no_traveller(answers, kind):
    assert "Okonkwo" not in str(answers.describe(filled(kind)))


def test_description_of_an_error_names_no_booking_of_another_order(answers):
    error = ferry_sdk.IdempotencyError(replace(ENTRY, booking_id="b-8642"))
    assert "b-8642" in str(error)
    assert "b-8642" not in str(answers.describe(error))


@pytest.mark.parametrize("outcome", ["unknown", "not_sent"])
def test_failure_of_the_server_hides_its_message(answers, outcome):
    error = FerryError("the token is wrong", outcome=outcome)
    assert answers.describe(error)["message"] == "The service cannot answer now."


@pytest.mark.parametrize("kind", ["OutcomeUnknownError", "UnresolvedWriteError"])
def test_write_that_may_have_happened_says_so(answers, kind):
    error = filled(getattr(ferry_sdk, kind))
    assert answers.describe(error)["message"] == "The outcome is not known."


def test_read_without_reply_says_to_come_again(answers, ferry_sandbox):
    ferry_sandbox.faults.add("lose_reply", "catalogue.ports")
    with (
        Ferry(ferry_sandbox.token, base_url=ferry_sandbox.base_url, max_retries=0) as ferry,
        pytest.raises(FerryError) as failed,
    ):
        ferry.catalogue.ports()
    assert failed.value.outcome == "unknown"
    assert answers.describe(failed.value)["message"] == "The service cannot answer now."


@pytest.mark.parametrize(
    ("seconds", "headers"),
    [
        pytest.param(1.5, {"Retry-After": "2"}, id="known"),
        pytest.param(None, {}, id="not known"),
    ],
)
def test_reply_says_when_to_come_again(answers, seconds, headers):
    error = filled(ferry_sdk.RateLimitError)
    error.retry_after = seconds
    assert answers.headers_of(error) == headers


def test_shop_answers_by_the_same_functions():
    _, table, functions = ANSWERS.partition("STATUSES: ")
    assert table + functions in (ROOT / "examples" / "backend.py").read_text("utf-8")


@pytest.fixture
def request_ids():
    """The page's module about ids."""
    module = ModuleType("request_ids")
    exec(SAVED["request_ids.py"].source, vars(module))  # noqa: S102 -- the page's own code
    return module


@pytest.mark.parametrize("header", ["req-4711", "x" * 200])
def test_printable_id_of_a_proxy_is_kept(request_ids, header):
    with request_ids.request_id(header):
        assert request_ids.current_id.get() == header
    assert request_ids.current_id.get() is None


@pytest.mark.parametrize("header", [None, "", " ", "é", "a\n", "x" * 201])
def test_other_id_is_replaced(request_ids, header):
    with request_ids.request_id(header):
        assert re.fullmatch("[0-9a-f]{32}", request_ids.current_id.get())


def test_own_log_lines_have_the_id(request_ids, ferry_sandbox):
    ids = []
    handler = logging.Handler()
    handler.emit = lambda record: ids.append(record.correlation_id)
    handler.addFilter(request_ids.AddId())
    loggers = [logging.getLogger(name) for name in ("test_shop", "ferry_sdk")]
    for logger in loggers:
        logger.setLevel("INFO")
        logger.addHandler(handler)

    try:
        with (
            Ferry(ferry_sandbox.token, base_url=ferry_sandbox.base_url) as ferry,
            request_ids.request_id("req-4711"),
        ):
            loggers[0].info("before the call")
            ferry.catalogue.ports()
    finally:
        for logger in loggers:
            logger.removeHandler(handler)
            logger.setLevel("NOTSET")
    assert ids == ["req-4711", "req-4711"]


WSGI = """
import os
from pathlib import Path

from ferry_sdk import Ferry, Traveller
from ferry_sdk.journal import Journal
from flask_shop import create_app
from metrics import metrics, observe

with Path("loads").open("a", encoding="utf-8") as loads:
    print(os.getpid(), file=loads)

journal = Journal("sqlite:///ferry.db")
ferry = Ferry(
    event_hooks={"outcome": [observe]}, journal=journal, label="agency-7", route_cache="routes"
)
shop = create_app(ferry)
shop.add_url_rule("/metrics", view_func=metrics)


@shop.get("/book/<day>")
def book(day):
    ana = Traveller(first_name="Ana", last_name="Nuñez", gender="Female", birth_date="2010-05-04")
    trip = ferry.trips.search("Tarifa", "MATNG", on=day, passengers=[ana])[0]
    return ferry.bookings.create(availabilities=trip.select(), passengers=[ana]).booking_id


@shop.after_request
def name_process(reply):
    reply.headers["X-Worker"] = str(os.getpid())
    return reply
"""
"""The shop of one page with the metrics of another one; its replies name its process."""
SEARCH = f"/trips/Genova/Tunisi/{DAY}"
CALLS = re.compile(
    r'^ferry_call_seconds_count\{account="agency-7",operation="availability.search",.*\} (.+)$',
    re.MULTILINE,
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The folder of the server, with the files of the pages."""
    folder = tmp_path_factory.mktemp("server")
    saved = [
        SAVED[name] for name in ("answers.py", "flask_shop.py", "metrics.py", "request_ids.py")
    ]
    blocks.save(saved, folder)
    (folder / "wsgi.py").write_text(WSGI, encoding="utf-8")
    return folder


class Server:
    """A server of two processes, and a browser.

    Attributes:
        folder: The folder in which it runs.
        ids: The ids of the requests that were answered, by the process that answered.
    """

    def __init__(self, folder, address):
        self.folder = folder
        self.ids = {}
        self._address = address

    def get(self, path, request_id="req-0"):
        """Return the reply to a request on a connection of its own."""
        headers = {"X-Request-ID": request_id}
        reply = httpx.get(
            self._address + path, headers=headers, timeout=PATIENCE, trust_env=False
        ).raise_for_status()
        self.ids.setdefault(reply.headers["X-Worker"], []).append(request_id)
        return reply

    def ask_both_processes(self, path):
        """Repeat a request until both processes have answered; return the replies."""
        until = time.monotonic() + PATIENCE
        self.ids.clear()
        replies = []
        while len(self.ids) < 2:
            assert time.monotonic() < until
            replies.append(self.get(path, f"req-{time.monotonic_ns()}"))
        return replies

    def loads(self):
        """Return the processes that have loaded the application."""
        return (self.folder / "loads").read_text("utf-8").split()


@contextmanager
def serving(folder, sandbox, *options):
    """Run gunicorn with two processes."""
    pytest.importorskip("gunicorn", reason="gunicorn is for Unix")
    counts = folder / "counts"
    shutil.rmtree(counts, ignore_errors=True)
    counts.mkdir()
    environment = {
        **os.environ,
        "FERRY_TOKEN": sandbox.token,
        "FERRY_BASE_URL": sandbox.base_url,
        "PROMETHEUS_MULTIPROC_DIR": str(counts),
    }
    with socket.create_server(("127.0.0.1", 0)) as door:
        command = [sys.executable, "-m", "gunicorn", "--workers", "2", "--log-level", "error"]
        command += ["--bind", f"fd://{door.fileno()}", *options, "wsgi:shop"]
        process = start(command, cwd=folder, env=environment, pass_fds=[door.fileno()], new=True)
        server = Server(folder, f"http://127.0.0.1:{door.getsockname()[1]}")
    try:
        server.ask_both_processes(SEARCH)
        yield server
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(PATIENCE)


@pytest.fixture(scope="module")
def service():
    """The local service of the server."""
    with Sandbox(now=NOW) as service:
        yield service


@pytest.fixture(scope="module")
def preloaded(folder, service):
    """A server that has loaded the application before it started its processes."""
    with serving(folder, service, "--preload") as server:
        yield server


def test_preloaded_application_is_loaded_once(preloaded):
    (process,) = preloaded.loads()
    assert process not in preloaded.ids


@pytest.mark.usefixtures("preloaded")
def test_processes_share_what_was_read_before_them(service):
    assert service.counters.requests["catalogue.journeys"] == 1
    assert service.counters.requests["mcp.countries"] == 1


def test_calls_in_both_processes_have_the_requests_id(preloaded, service):
    preloaded.ask_both_processes(SEARCH)
    for ids in preloaded.ids.values():
        calls = service.request_log.entries(ids[0])
        assert {call.operation for call in calls} == {"availability.search"}


def test_metrics_count_the_calls_of_both_processes(preloaded, service):
    counts = CALLS.findall(preloaded.get("/metrics").text)
    assert sum(map(float, counts)) == service.counters.requests["availability.search"]


def test_both_processes_write_the_journal(preloaded):
    replies = preloaded.ask_both_processes(f"/book/{DAY}")
    with Journal(f"sqlite:///{preloaded.folder / 'ferry.db'}") as journal:
        entries = journal.entries()
        assert {entry.state for entry in entries} == {"done"}
        assert len(entries) == len(replies)


@LONG
def test_next_start_finds_the_routes_in_the_folder(ferry_sandbox, folder):
    shutil.rmtree(folder / "routes", ignore_errors=True)
    (folder / "loads").unlink(missing_ok=True)
    with serving(folder, ferry_sandbox) as server:
        assert {*server.loads()} == {*server.ids}
    read = ferry_sandbox.counters.requests["catalogue.departures"]
    assert read > 50
    with serving(folder, ferry_sandbox) as server:
        assert len(server.loads()) == 4
    assert ferry_sandbox.counters.requests["catalogue.departures"] == read
