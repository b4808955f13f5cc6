"""OpenTelemetry spans and metrics of a client's calls and their requests.

Each call has a span, with a child for each request. No attribute of a metric contains an id.
"""

from __future__ import annotations

from collections.abc import Iterable, Sized
from functools import cache
from typing import Final
from weakref import WeakKeyDictionary

from ferry_sdk._runtime.extras import needs_extra

with needs_extra("spans and metrics require", "otel", ["opentelemetry"]):
    from opentelemetry import metrics as otel_metrics
    from opentelemetry import trace

from ferry_sdk._runtime.version import __version__
from ferry_sdk.hooks import (
    CallInfo,
    ConnectionsEvent,
    EventHooks,
    LimiterEvent,
    OutcomeEvent,
    RequestEvent,
    ResponseEvent,
    RetryEvent,
)

__all__ = ["event_hooks"]

_NANOSECONDS: Final = 1_000_000_000
_FAILED: Final = 400
_HANDSHAKE: Final = ("initialize", "notifications/initialized")
_KNOWN_METHODS: Final = frozenset(
    {"CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "TRACE"}
)
_SECONDS: Final = (0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10)
"""The buckets that the semantic conventions advise."""
_LONG_SECONDS: Final = (30, 60, 120)
"""The further buckets of what may wait."""

_Attributes = dict[str, str | int]


def event_hooks(
    also: EventHooks | None = None,
    *,
    tracer_provider: trace.TracerProvider | None = None,
    metrics: bool = False,
    meter_provider: otel_metrics.MeterProvider | None = None,
) -> EventHooks:
    """Return hooks that make spans, for ``event_hooks`` of `Ferry` or `AsyncFerry`.

    Args:
        also: Your own hooks, to add.
        tracer_provider: The tracer provider; else the global one.
        metrics: Whether they also count and time calls and requests.
        meter_provider: The meter provider, which implies `metrics`; else the global one.

    Returns:
        All hooks together.

    Example:
        ```python
        from ferry_sdk import Ferry, otel
        from ferry_sdk.sandbox import Sandbox
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import SimpleSpanProcessor
        from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

        exporter = InMemorySpanExporter()  # or your collector's exporter
        provider = TracerProvider()
        provider.add_span_processor(SimpleSpanProcessor(exporter))
        hooks = otel.event_hooks(tracer_provider=provider)
        with (
            Sandbox() as sandbox,
            Ferry(sandbox.token, base_url=sandbox.base_url, event_hooks=hooks) as ferry,
        ):
            ferry.catalogue.ports()
        print([span.name for span in exporter.get_finished_spans()])
        # > ['GET /api/port', 'catalogue.ports']
        ```
    """
    spans = _Spans(trace.get_tracer("ferry_sdk", __version__, tracer_provider))
    own = _with_metrics(also or EventHooks(), meter_provider, metrics=metrics)
    # A request's span starts last and ends first, so that it does not include the other hooks.
    hooks = own.copy()
    hooks["request"] = [*own.get("request", ()), spans.start_attempt]
    hooks["response"] = [spans.end_attempt, *own.get("response", ())]
    hooks["retry"] = [spans.add_retry, *own.get("retry", ())]
    hooks["outcome"] = [spans.end_call, *own.get("outcome", ())]
    return hooks


def _with_metrics(
    own: EventHooks, provider: otel_metrics.MeterProvider | None, *, metrics: bool
) -> EventHooks:
    """Return the hooks, with those of the metrics before them if there are any."""
    if provider is not None:
        meters = _meters_by_provider.get(provider)
        if meters is None:
            meters = _meters_by_provider[provider] = _Meters(provider)
    elif metrics:
        meters = _global_meters()
    else:
        return own
    hooks = own.copy()
    hooks["response"] = [meters.time_request, *own.get("response", ())]
    hooks["retry"] = [meters.count_retry, *own.get("retry", ())]
    hooks["outcome"] = [meters.time_call, *own.get("outcome", ())]
    hooks["limiter"] = [meters.time_limiter, *own.get("limiter", ())]
    hooks["connections"] = [meters.watch_connections, *own.get("connections", ())]
    return hooks


class _Meters:
    """The instruments of one provider, for all its clients.

    There is one for each provider, because a second observable instrument of the same name is never
    asked.
    """

    def __init__(self, provider: otel_metrics.MeterProvider | None) -> None:
        meter = otel_metrics.get_meter("ferry_sdk", __version__, provider)

        def histogram(name: str, description: str, *more: int) -> otel_metrics.Histogram:
            buckets = (*_SECONDS, *more)
            return meter.create_histogram(
                name, "s", description, explicit_bucket_boundaries_advisory=buckets
            )

        self._requests = histogram(
            "http.client.request.duration", "Duration of HTTP client requests."
        )
        self._calls = histogram(
            "ferry.call.duration",
            "Duration of calls, with their retries, waits and additional reads.",
            *_LONG_SECONDS,
        )
        self._limiter = histogram(
            "ferry.limiter.wait",
            "How long requests waited for the client's limiter.",
            *_LONG_SECONDS,
        )
        self._retries = meter.create_counter(
            "ferry.retry", "{retry}", "Attempts that failed and were followed by another."
        )
        self._unknown = meter.create_counter(
            "ferry.outcome.unknown", "{call}", "Calls that may have happened."
        )
        self._clients: WeakKeyDictionary[Sized, _Attributes] = WeakKeyDictionary()
        meter.create_observable_up_down_counter(
            "http.client.open_connections",
            [self._observe_connections],
            "{connection}",
            "Number of outbound HTTP connections that are currently active or idle on the client.",
        )

    def time_request(self, response: ResponseEvent) -> None:
        """Record the duration of a request."""
        request = response.request
        method = request.method if request.method in _KNOWN_METHODS else "_OTHER"
        attributes = _server(request.host, request.port)
        attributes |= {"http.request.method": method, "url.template": request.route}
        self._requests.record(response.seconds, attributes | _result(response))

    def count_retry(self, retry: RetryEvent) -> None:
        """Count a retry."""
        self._retries.add(1, {"ferry.operation": retry.operation, "error.type": retry.problem})

    def time_call(self, outcome: OutcomeEvent) -> None:
        """Record the duration of a call and its outcome."""
        attributes = _call(outcome.call.operation, outcome.problem)
        self._calls.record(outcome.seconds, {**attributes, "ferry.outcome": outcome.outcome})
        if outcome.outcome == "unknown":
            self._unknown.add(1, attributes)

    def time_limiter(self, turn: LimiterEvent) -> None:
        """Record a wait for the limiter."""
        self._limiter.record(turn.seconds, _call(turn.operation, turn.problem))

    def watch_connections(self, event: ConnectionsEvent) -> None:
        """Count the connections of a client from now on, as long as it exists."""
        self._clients[event.connections] = _server(event.host, event.port)

    def _observe_connections(
        self, _: otel_metrics.CallbackOptions
    ) -> Iterable[otel_metrics.Observation]:
        """Return the number of open connections for each server."""
        servers: dict[tuple[tuple[str, str | int], ...], int] = {}
        for client in self._clients.keyrefs():
            connections = client()
            server = None if connections is None else self._clients.get(connections)
            if connections is not None and server is not None:
                key = tuple(server.items())
                servers[key] = servers.get(key, 0) + len(connections)
        return [otel_metrics.Observation(count, dict(key)) for key, count in servers.items()]


_meters_by_provider: WeakKeyDictionary[otel_metrics.MeterProvider, _Meters] = WeakKeyDictionary()


@cache
def _global_meters() -> _Meters:
    return _Meters(None)


def _server(host: str, port: int | None) -> _Attributes:
    return {"server.address": host} | _if_known("server.port", port)


def _call(operation: str, problem: str | None) -> _Attributes:
    return {"ferry.operation": operation} | _if_known("error.type", problem)


def _result(response: ResponseEvent) -> _Attributes:
    """Return the status of a request and the kind of its failure, by the conventions."""
    status, problem = response.status_code, response.problem
    if problem is None and (status or 0) >= _FAILED:
        problem = str(status)
    return _if_known("http.response.status_code", status) | _if_known("error.type", problem)


def _if_known(name: str, value: str | int | None) -> _Attributes:
    return {} if value is None else {name: value}


class _Spans:
    """The open spans of calls and requests."""

    def __init__(self, tracer: trace.Tracer) -> None:
        self._tracer = tracer
        self._calls: WeakKeyDictionary[CallInfo, trace.Span] = WeakKeyDictionary()
        self._attempts: WeakKeyDictionary[RequestEvent, trace.Span] = WeakKeyDictionary()

    def start_attempt(self, request: RequestEvent) -> None:
        """Start the span of a request."""
        attributes = _server(request.host, request.port) | {
            "http.request.method": request.method,
            "url.template": request.route,
            "ferry.operation": request.operation,
            "ferry.correlation_id": request.call.correlation_id,
        }
        attributes |= _if_known("mcp.method.name", request.rpc_method)
        if request.attempt > 1 and request.rpc_method not in _HANDSHAKE:
            attributes["http.request.resend_count"] = request.attempt - 1
        self._attempts[request] = self._tracer.start_span(
            f"{request.method} {request.route}",
            trace.set_span_in_context(self._call(request.call)),
            trace.SpanKind.CLIENT,
            attributes,
        )

    def end_attempt(self, response: ResponseEvent) -> None:
        """End the span of an attempt."""
        span = self._attempts.pop(response.request, trace.INVALID_SPAN)
        _end(span, _if_known("ferry.request_id", response.request_id) | _result(response))

    def add_retry(self, retry: RetryEvent) -> None:
        """Add a retry event to the span of a call."""
        self._call(retry.call).add_event(
            "ferry.retry",
            {
                "ferry.operation": retry.operation,
                "ferry.attempt": retry.attempt,
                "ferry.wait": retry.wait,
                "error.type": retry.problem,
            },
        )

    def end_call(self, outcome: OutcomeEvent) -> None:
        """End the span of a call."""
        span = self._call(outcome.call)
        del self._calls[outcome.call]
        attributes: _Attributes = {
            "ferry.outcome": outcome.outcome,
            "ferry.read_back": outcome.read_back,
        }
        _end(span, attributes | _if_known("error.type", outcome.problem))

    def _call(self, call: CallInfo) -> trace.Span:
        """Return the span of a call. Its first event starts it, with the start time of the call."""
        span = self._calls.get(call)
        if span is None:
            span = self._calls[call] = self._tracer.start_span(
                call.operation,
                kind=trace.SpanKind.CLIENT,
                attributes={
                    "ferry.operation": call.operation,
                    "ferry.correlation_id": call.correlation_id,
                },
                start_time=int(call.began * _NANOSECONDS),
            )
        return span


def _end(span: trace.Span, attributes: _Attributes) -> None:
    """End a span with its last attributes; an error among them is its status."""
    span.set_attributes(attributes)
    if "error.type" in attributes:
        span.set_status(trace.Status(trace.StatusCode.ERROR))
    span.end()
