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
from tests.observability.conftest import CANARIES, call_in_vain
from tests.support.processes import run


class Spans:
    def __init__(self):
        self._exporter = InMemorySpanExporter()
        self.provider = TracerProvider(shutdown_on_exit=False)
        self.provider.add_span_processor(SimpleSpanProcessor(self._exporter))
        self.tracer = self.provider.get_tracer("a program")

    @property
    def all(self):
        return sorted(self._exporter.get_finished_spans(), key=lambda one: one.start_time)

    @property
    def calls(self):
        return [span for span in self.all if "ferry.outcome" in span.attributes]

    def below(self, parent):
        id_ = parent.context.span_id
        return [span for span in self.all if span.parent and span.parent.span_id == id_]

    def one_call(self):
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


def test_a_call_and_its_attempt(make_traced_client, spans, ferry_sandbox):
    ferry = make_traced_client()
    with correlation("order-4711"), suppress(FerryError):
        ferry.bookings.get("b-4711")
    call, (attempt,) = spans.one_call()
    assert (call.name, call.kind.name) == ("bookings.get", "CLIENT")
    assert call.status.status_code.name == "ERROR"
    both = {"ferry.operation": "bookings.get", "ferry.correlation_id": "order-4711"}
    outcome = {"ferry.outcome": "rejected", "ferry.read_back": False, "error.type": "NotFoundError"}
    assert dict(call.attributes) == both | outcome
    there = urlsplit(ferry_sandbox.base_url)
    known = dict(attempt.attributes)
    assert known.pop("ferry.request_id")
    assert known == both | {
        "http.request.method": "GET",
        "url.template": "/api/booking/{id}",
        "server.address": there.hostname,
        "server.port": there.port,
        "http.response.status_code": 404,
        "error.type": "404",
    }
    assert (attempt.name, attempt.kind.name) == ("GET /api/booking/{id}", "CLIENT")
    assert attempt.status.status_code.name == "ERROR"
    assert call.instrumentation_scope.name == "ferry_sdk"
    times = [call.start_time, attempt.start_time, attempt.end_time, call.end_time]
    assert times == sorted(times)


def test_a_lost_reply_is_a_call_above_it_all(make_traced_client, spans, ferry_sandbox, booking_id):
    ferry_sandbox.faults.add("rate_limited", "bookings.confirm", retry_after=0)
    ferry_sandbox.faults.add("lose_reply", "bookings.confirm")
    ferry_sandbox.faults.add("server_error", "bookings.get")
    make_traced_client().bookings.confirm(booking_id)
    call, attempts = spans.one_call()
    confirm, get = "POST /api/booking/confirm", "GET /api/booking/{id}"
    assert [span.name for span in attempts] == [confirm, confirm, get, get]
    known = [span.attributes for span in attempts]
    assert [one.get("http.request.resend_count") for one in known] == [None, 1, None, 1]
    assert len({one["ferry.correlation_id"] for one in (*known, call.attributes)}) == 1
    statuses = [one.get("http.response.status_code") for one in known]
    first_two = {*zip(statuses[:2], [one.get("error.type") for one in known][:2], strict=True)}
    assert first_two == {(429, "429"), (None, "ConnectionFailedError")}
    assert (statuses[2:], call.attributes["ferry.outcome"]) == ([503, 200], "done")
    assert call.attributes["ferry.read_back"] is True
    assert call.status.status_code.name == "UNSET"
    retries = [event.attributes for event in call.events if event.name == "ferry.retry"]
    assert [(one["ferry.operation"], one["error.type"]) for one in retries] == [
        ("bookings.confirm", "RateLimitError"),
        ("bookings.get", "ServerError"),
    ]


def test_the_handshake_of_mcp_is_below_the_call_if_it_has_left(make_traced_client, spans):
    with pytest.raises(FerryError):
        make_traced_client(read_only=True).mcp.confirm_booking("b-1")
    make_traced_client().mcp.countries()
    refused, call = spans.calls
    assert not spans.below(refused)
    assert refused.attributes["error.type"] == "ReadOnlyError"
    attempts = spans.below(call)
    assert call.name == "mcp.countries"
    methods = ["initialize", "notifications/initialized", "resources/read"]
    assert [span.attributes["mcp.method.name"] for span in attempts] == methods
    for span in (call, *attempts):
        assert span.status.status_code.name == "UNSET"
        assert "error.type" not in span.attributes
        assert "http.request.resend_count" not in span.attributes


def assert_each_below_its_own(spans, count):
    """Every span of the program's has one call below it, and that its one attempt."""
    mine = [span for span in spans.all if span.name.startswith("request ")]
    assert len(mine) == count
    for span in mine:
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


@pytest.mark.parametrize("deadline", [None, 20])
def test_the_parent_is_what_is_current_in_the_callers_thread(spans, settings, deadline):
    with Ferry(**settings, deadline=deadline) as client, ThreadPoolExecutor(8) as pool:

        def work(number):
            with request_span(spans, number):
                client.catalogue.ports()

        list(pool.map(work, range(24)))
    assert_each_below_its_own(spans, 24)


def test_the_parent_is_what_is_current_in_the_callers_task(portal, spans, settings):
    async def main():
        async with AsyncFerry(**settings) as client, anyio.create_task_group() as group:

            async def work(number):
                with request_span(spans, number):
                    await client.catalogue.ports()

            for number in range(24):
                group.start_soon(work, number)

    portal.call(main)
    assert_each_below_its_own(spans, 24)


def test_no_span_shows_an_id_a_token_or_a_traveller(make_traced_client, spans, ferry_sandbox):
    call_in_vain(make_traced_client())
    text = "".join(span.to_json() for span in spans.all)
    assert len(spans.calls) == 8
    for canary in (*CANARIES, ferry_sandbox.token):
        assert canary not in text


def test_the_core_loads_no_opentelemetry_and_the_extra_is_named_where_it_is_missing():
    program = """
import sys
import ferry_sdk
ferry_sdk.Ferry("t", base_url="https://ferry.example", event_hooks={"request": [print]})
print([name for name in sys.modules if name.startswith("opentelemetry")])
sys.modules["opentelemetry"] = None
import ferry_sdk.otel
"""
    done = run([sys.executable, "-c", program], new=True)
    assert done.stdout == "[]\n"
    assert 'pip install "ferry-sdk[otel]"' in done.stderr


def test_own_hooks_receive_the_events_too_and_no_old_span_is_kept(make_client, spans, event_log):
    hooks = otel.event_hooks(event_log.hooks, tracer_provider=spans.provider)
    make_client(event_hooks=hooks).catalogue.ports()
    assert event_log.kinds == ["request", "response", "outcome"]
    assert len(spans.all) == 2
    (start_attempt,) = [hook for hook in hooks["request"] if hook.__name__ == "start_attempt"]
    assert not start_attempt.__self__._calls
    assert not start_attempt.__self__._attempts
