"""Fixtures: clients of both kinds, and the local service that they call."""

import gc
import logging
import os
import signal
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest
from anyio.from_thread import start_blocking_portal
from hypothesis.strategies import text

from ferry_sdk._engine.read_back import READ_BACK_WINDOW
from ferry_sdk._transport.single_flight import join_or_start
from ferry_sdk.sandbox import Sandbox
from scripts.public_names import missing_operations
from tests.support import injected
from tests.support.both import Clients
from tests.support.operations import OPERATIONS
from tests.support.processes import fork_server
from tests.support.samples import TICKET
from tests.support.tiers import LONG, load_profile, mostly_long, surplus
from tests.support.trip import NOW

KINDS = {
    **dict.fromkeys(
        ("any_clients", "clients", "desk", "events_of", "reader", "report_of", "toolkit_of"),
        "asyncio",
    ),
    **dict.fromkeys(("any_journal", "url"), "postgresql"),
}
"""Fixtures of two kinds, and the second kind: it runs the same code as the first."""
OWN_IO = ("transport",)
"""Folders whose tests are about code that each kind of client has for itself."""

# A shell makes background programs ignore Ctrl-C, which some tests send.
signal.signal(signal.SIGINT, signal.default_int_handler)

# jsonschema compiles 38 grammars of it, for more than a second; no schema here has an IRI.
sys.modules["rfc3987_syntax"] = None

for name in [name for name in os.environ if name.startswith("FERRY_")]:
    del os.environ[name]


def pytest_addoption(parser):
    parser.addoption(
        "--http-client",
        choices=injected.LIBRARIES,
        help="give every client of the tests an HTTP client of this library, as a caller would",
    )


def pytest_configure(config):
    config.addinivalue_line(
        "markers", "own_http_client(reason): --http-client leaves the clients of this test alone"
    )
    config.addinivalue_line(
        "markers", "long: left out by scripts/test, and run by scripts/test --all"
    )
    config.addinivalue_line(
        "markers", "slow: left out by scripts/test as `long` is, but run by scripts/mutate"
    )
    load_profile(config.getoption("markexpr"), config.getoption("hypothesis_seed"))
    if name := config.getoption("--http-client"):
        injected.give_to_tests(name)
        config.pluginmanager.register(injected.InjectionPlugin(name))
    # One for all workers. On macOS, system libraries may not be used after a fork without an exec.
    if sys.platform == "linux" and not hasattr(config, "workerinput"):
        server = ExitStack()
        server.enter_context(fork_server())
        config.add_cleanup(server.close)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_sessionstart(session):
    """Make hypothesis's table of characters before the workers need it.

    Hypothesis keeps it in a file. Without that file, each worker would take seconds to make it.
    """
    result = yield  # until then, hypothesis refuses
    if not hasattr(session.config, "workerinput"):
        text().validate()
    return result


def pytest_xdist_auto_num_workers():
    """Three for two cores: the tests wait for a third of their time.

    Each worker collects all tests once more, so more of them would take longer.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return max(1, (cores or 1) * 3 // 2)


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Collect the tests without the garbage collector, which would walk all of them each time.

    They stay until the end, so they are left out of later collections, too.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Mark as long what two kinds do alike, and all but a few cases of each test.

    Both kinds of client run the same generators, and both databases the same statements: each
    module keeps one test of the second kind. `surplus` chooses the cases that become long. Slow
    tests are long as well.
    """
    tests = Path(__file__).parent
    kept = set()
    cases_by_test = {}
    for item in items:
        if item.get_closest_marker("slow"):
            item.add_marker(LONG)
            continue
        if not isinstance(item, pytest.Function) or not hasattr(item, "callspec"):
            continue

        kinds = {kind for name, kind in KINDS.items() if item.callspec.params.get(name) == kind}
        if item.path.relative_to(tests).parts[0] in OWN_IO:
            kinds.discard("asyncio")
        for kind in kinds:
            if (item.path, kind) in kept:
                item.add_marker(LONG)
            kept.add((item.path, kind))

        if not item.get_closest_marker("long"):
            test = item.path, item.nodeid.partition("[")[0]
            cases_by_test.setdefault(test, []).append(item)

    for cases in cases_by_test.values():
        for item in surplus(cases):
            item.add_marker(LONG)
            item.add_marker("slow")


def pytest_terminal_summary(terminalreporter, exitstatus):
    """Print the counts of walks, which are not tests, and what a new method still lacks."""
    counts = {}
    for report in terminalreporter.stats.get("passed", ()):
        for name, count in report.user_properties:
            counts[name] = counts.get(name, 0) + count
    for name, count in counts.items():
        terminalreporter.write_line(f"{name}: {count}")
    if exitstatus:
        for sentence in missing_operations(OPERATIONS):
            terminalreporter.write_line(sentence)


@pytest.fixture(autouse=True)
def _new_log_locks():
    """Replace the locks of the log handlers.

    A signal in an earlier test may have come between taking such a lock and the `try` that frees
    it. The main thread then has it for ever, and a thread that logs waits for ever.
    """
    for handler in logging.getLogger().handlers:
        handler.createLock()


@pytest.fixture(autouse=True)
def retry_at_once(monkeypatch):
    """No call waits between attempts, because tests check what follows a failure, not when."""
    monkeypatch.setattr("ferry_sdk._engine.retry._retry_delay", lambda _: 0.0)


@pytest.fixture(scope="module")
def read_back_once():
    """A read-back looks once for an effect, and not for half a minute."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ferry_sdk._engine.polling._LAST_LOOK", READ_BACK_WINDOW)
        yield


@pytest.fixture
def look_once(monkeypatch):
    """A read-back looks once in this test; in others of the module, it looks again."""
    monkeypatch.setattr("ferry_sdk._engine.polling._LAST_LOOK", READ_BACK_WINDOW)


@pytest.fixture(scope="module")
def same_qr_codes():
    """All tickets have the same QR code, because drawing one takes longer than a booking."""
    with pytest.MonkeyPatch.context() as patch:
        code = TICKET["qr_code"]
        patch.setattr("ferry_sdk.sandbox.bookings.records.qr_code", lambda _: code)
        yield


@pytest.fixture
def joined(monkeypatch):
    """The keys of the calls that wait for the request of another call, as soon as they wait."""
    keys = []

    def note(key, call):
        result = join_or_start(key, call)
        if result is not None:
            keys.append(key)
        return result

    for module in ("sync", "async_"):
        monkeypatch.setattr(f"ferry_sdk._transport.{module}.join_or_start", note)
    return keys


@pytest.fixture
def quick_switches():
    """Threads switch as often as possible."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.fixture(scope="session")
def asyncio_portal():
    """An event loop of asyncio in a thread of its own."""
    with start_blocking_portal("asyncio") as portal:
        yield portal


@pytest.fixture(scope="session")
def trio_portal():
    """An event loop of trio in a thread of its own."""
    with start_blocking_portal("trio") as portal:
        yield portal


@pytest.fixture
def ferry_sandbox():
    """A local service whose clock begins at `NOW`."""
    with Sandbox(now=NOW) as sandbox:
        yield sandbox


def clients_of(request):
    """Yield the clients of the kind that a fixture's parameter names; close them at the end."""
    kind = request.param
    portal = None if kind == "sync" else request.getfixturevalue(f"{kind}_portal")
    clients = Clients(portal)
    yield clients
    clients.close()


@pytest.fixture(params=["sync", "asyncio", pytest.param("trio", marks=LONG)])
def any_clients(request):
    """Makes clients: sync, and async on asyncio and on trio."""
    yield from clients_of(request)


@pytest.fixture(params=["sync", "asyncio"])
def clients(request):
    """Makes clients: sync, and async on asyncio."""
    yield from clients_of(request)


@pytest.fixture(params=mostly_long(["sync", "asyncio"]))
def mostly_sync_clients(request):
    """The same, for modules with many cases: those of async clients are long tests."""
    yield from clients_of(request)


@pytest.fixture
def both(clients, ferry_sandbox):
    """A client of the local service that may do everything, once sync and once async."""
    return clients(
        ferry_sandbox.token,
        base_url=ferry_sandbox.base_url,
        organisation_token=ferry_sandbox.organisation_token,
    )
