"""The spans of calls and attempts, by the in-memory exporter, over real connections."""

import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit

import anyio
import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from ferry_sdk import AsyncFerry, Ferry, FerryError, correlation, otel
from tests.observability.conftest import call_in_vain, shown_canaries
from tests.support.processes import run


class Spans:
    """A provider of tracers whose spans are kept in memory.

    Attributes:
        all: The spans that have ended, by their start.
        calls: Those of calls.
    """

    def __init__(self):
        self._exporter = InMemorySpanExporter()
        self.provider = TracerProvider(shutdown_on_exit=False)
        self.provider.add_span_processor(SimpleSpanProcessor(self._exporter))
        self.tracer = self.provider.get_tracer("a program")

    @property
    def all(self):
        return sorted(self._exporter.get_finished_spans(), key=lambda span: span.start_time)

    @property
    def calls(self):
        return [span for span in self.all if "ferry.outcome" in span.attributes]

    def below(self, parent):
        """Return the spans whose parent is this one."""
        span_id = parent.context.span_id
        return [span for span in self.all if span.parent and span.parent.span_id == span_id]

    def one_call(self):
        """Return the only call and its attempts."""
        (call,) = self.calls
        attempts = self.below(call)
        assert len(self.all) == 1 + len(attempts)
        return call, attempts


@pytest.fixture
def spans():
    return Spans()


@pytest.fixture
def make_traced_client(make_client, spans):
    hooks = otel.event_hooks(tracer_provider=spans.provider)
    return lambda **settings: make_client(event_hooks=hooks, **settings)


BOTH = {"ferry.operation": "bookings.get", "ferry.correlation_id": "order-4711"}
"""The attributes of the call of `not_found`, and of its attempt."""


@pytest.fixture
def not_found(make_traced_client, spans):
    """The spans of a read that finds nothing: that of the call, and that of its attempt."""
    ferry = make_traced_client()
    with correlation("order-4711"), suppress(FerryError):
        ferry.bookings.get("b-4711")
    call, (attempt,) = spans.one_call()
    return call, attempt


def test_a_call_is_a_span(not_found):
    call, _ = not_found
    assert (call.name, call.kind.name) == ("bookings.get", "CLIENT")
    assert call.status.status_code.name == "ERROR"
    assert call.instrumentation_scope.name == "ferry_sdk"
    assert dict(call.attributes) == BOTH | {
        "ferry.outcome": "rejected",
        "ferry.read_back": False,
        "error.type": "NotFoundError",
    }


def test_an_attempt_is_a_span(not_found, ferry_sandbox):
    _, attempt = not_found
    assert (attempt.name, attempt.kind.name) == ("GET /api/booking/{id}", "CLIENT")
    assert attempt.status.status_code.name == "ERROR"
    there = urlsplit(ferry_sandbox.base_url)
    attributes = dict(attempt.attributes)
    assert attributes.pop("ferry.request_id")
    assert attributes == BOTH | {
        "http.request.method": "GET",
        "url.template": "/api/booking/{id}",
        "server.address": there.hostname,
        "server.port": there.port,
        "http.response.status_code": 404,
        "error.type": "404",
    }


def test_an_attempt_lies_within_its_call(not_found):
    call, attempt = not_found
    times = [call.start_time, attempt.start_time, attempt.end_time, call.end_time]
    assert times == sorted(times)


@pytest.fixture
def read_back(make_traced_client, spans, ferry_sandbox, booking_id):
    """The spans of a confirmation that is retried, loses its reply and is read back.

    Returns:
        That of the call, and those of its four attempts.
    """
    ferry_sandbox.faults.add("rate_limited", "bookings.confirm", retry_after=0)
    ferry_sandbox.faults.add("lose_reply", "bookings.confirm")
    ferry_sandbox.faults.add("server_error", "bookings.get")
    make_traced_client().bookings.confirm(booking_id)
    return spans.one_call()


def test_a_read_back_is_below_its_call(read_back):
    call, attempts = read_back
    confirm, get = "POST /api/booking/confirm", "GET /api/booking/{id}"
    assert [span.name for span in attempts] == [confirm, confirm, get, get]
    ids = {span.attributes["ferry.correlation_id"] for span in (call, *attempts)}
    assert len(ids) == 1


def test_a_second_attempt_is_a_resend(read_back):
    _, attempts = read_back
    resends = [span.attributes.get("http.request.resend_count") for span in attempts]
    assert resends == [None, 1, None, 1]


def test_an_attempt_shows_how_it_ended(read_back):
    _, attempts = read_back
    statuses = [span.attributes.get("http.response.status_code") for span in attempts]
    errors = [span.attributes.get("error.type") for span in attempts]
    assert {(statuses[0], errors[0]), (statuses[1], errors[1])} == {
        (429, "429"),
        (None, "ConnectionFailedError"),
    }
    assert statuses[2:] == [503, 200]


def test_a_call_shows_that_it_was_read_back(read_back):
    call, _ = read_back
    assert call.attributes["ferry.outcome"] == "done"
    assert call.attributes["ferry.read_back"] is True
    assert call.status.status_code.name == "UNSET"


def test_a_retry_is_an_event_of_its_call(read_back):
    call, _ = read_back
    retries = [event.attributes for event in call.events if event.name == "ferry.retry"]
    assert [(retry["ferry.operation"], retry["error.type"]) for retry in retries] == [
        ("bookings.confirm", "RateLimitError"),
        ("bookings.get", "ServerError"),
    ]


def test_an_unsent_call_has_no_attempt(make_traced_client, spans):
    with pytest.raises(FerryError):
        make_traced_client(read_only=True).mcp.confirm_booking("b-1")
    call, attempts = spans.one_call()
    assert attempts == []
    assert call.attributes["error.type"] == "ReadOnlyError"


@pytest.fixture
def mcp_read(make_traced_client, spans):
    """The spans of a first read over MCP: that of the call, and those of its requests."""
    make_traced_client().mcp.countries()
    return spans.one_call()


def test_the_handshake_is_below_its_call(mcp_read):
    call, attempts = mcp_read
    assert call.name == "mcp.countries"
    methods = ["initialize", "notifications/initialized", "resources/read"]
    assert [span.attributes["mcp.method.name"] for span in attempts] == methods


def test_a_good_handshake_shows_no_failure(mcp_read):
    call, attempts = mcp_read
    every_span = (call, *attempts)
    assert {span.status.status_code.name for span in every_span} == {"UNSET"}
    names = {name for span in every_span for name in span.attributes}
    assert names.isdisjoint({"error.type", "http.request.resend_count"})


def assert_each_below_its_own(spans, count):
    """Check that each span of the program has one call below it, and that its one attempt."""
    own_spans = [span for span in spans.all if span.name.startswith("request ")]
    assert len(own_spans) == count
    for span in own_spans:
        (call,) = spans.below(span)
        assert call.attributes["ferry.correlation_id"] == span.name
        (attempt,) = spans.below(call)
        assert attempt.context.trace_id == span.context.trace_id
        assert attempt.attributes["ferry.correlation_id"] == span.name


@pytest.fixture
def settings(spans, ferry_sandbox):
    address = {"token": ferry_sandbox.token, "base_url": ferry_sandbox.base_url}
    return {**address, "event_hooks": otel.event_hooks(tracer_provider=spans.provider)}


@contextmanager
def request_span(spans, number):
    name = f"request {number}"
    with spans.tracer.start_as_current_span(name), correlation(name):
        yield


@pytest.mark.parametrize(
    "deadline",
    [
        pytest.param(None, id="no deadline"),
        pytest.param(20, id="a deadline"),
    ],
)
def test_the_callers_span_is_the_parent(spans, settings, deadline):
    with Ferry(**settings, deadline=deadline) as client, ThreadPoolExecutor(8) as pool:

        def work(number):
            with request_span(spans, number):
                client.catalogue.ports()

        list(pool.map(work, range(24)))
    assert_each_below_its_own(spans, 24)


def test_the_tasks_span_is_the_parent(portal, spans, settings):
    async def main():
        async with AsyncFerry(**settings) as client, anyio.create_task_group() as group:

            async def work(number):
                with request_span(spans, number):
                    await client.catalogue.ports()

            for number in range(24):
                group.start_soon(work, number)

    portal.call(main)
    assert_each_below_its_own(spans, 24)


def test_no_span_shows_ids_or_travellers(make_traced_client, spans, ferry_sandbox):
    call_in_vain(make_traced_client())
    assert len(spans.calls) == 8
    text = "".join(span.to_json() for span in spans.all)
    assert shown_canaries(text, ferry_sandbox.token) == []


WITHOUT_OPENTELEMETRY = """
import sys
import ferry_sdk
ferry_sdk.Ferry("t", base_url="https://ferry.example", event_hooks={"request": [print]})
print([name for name in sys.modules if name.startswith("opentelemetry")])
sys.modules["opentelemetry"] = None
import ferry_sdk.otel
"""


@pytest.fixture(scope="module")
def without_opentelemetry():
    """A program that uses hooks, and then imports `ferry_sdk.otel` without its extra."""
    return run([sys.executable, "-c", WITHOUT_OPENTELEMETRY], new=True)


@pytest.mark.slow
def test_the_client_loads_no_opentelemetry(without_opentelemetry):
    assert without_opentelemetry.stdout == "[]\n"


def test_a_missing_extra_is_named(without_opentelemetry):
    assert 'pip install "ferry-sdk[otel]"' in without_opentelemetry.stderr


@pytest.fixture
def hooks_with_log(make_client, spans, event_log):
    """The hooks of spans and of the log, after a call."""
    hooks = otel.event_hooks(event_log.hooks, tracer_provider=spans.provider)
    make_client(event_hooks=hooks).catalogue.ports()
    return hooks


@pytest.mark.usefixtures("hooks_with_log")
def test_own_hooks_see_the_events_too(spans, event_log):
    assert event_log.kinds == ["request", "response", "outcome"]
    assert len(spans.all) == 2


def test_no_ended_span_is_kept(hooks_with_log):
    (start_attempt,) = [
        hook for hook in hooks_with_log["request"] if hook.__name__ == "start_attempt"
    ]
    assert not start_attempt.__self__._calls
    assert not start_attempt.__self__._attempts
