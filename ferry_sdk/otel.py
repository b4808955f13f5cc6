"""OpenTelemetry spans of a client's calls: one for each call, with a child for each request."""

from __future__ import annotations

from typing import Final
from weakref import WeakKeyDictionary

try:
    from opentelemetry import trace
except ModuleNotFoundError as _error:
    raise ModuleNotFoundError(
        'opentelemetry is not installed: pip install "ferry-sdk[otel]"',
        name=_error.name,
    ) from _error

from ferry_sdk._version import __version__
from ferry_sdk.hooks import (
    CallInfo,
    EventHooks,
    OutcomeEvent,
    RequestEvent,
    ResponseEvent,
    RetryEvent,
)

__all__ = ["event_hooks"]

_NANOSECONDS: Final = 1_000_000_000
_FAILED: Final = 400
_HANDSHAKE: Final = ("initialize", "notifications/initialized")


def event_hooks(
    also: EventHooks | None = None, *, tracer_provider: trace.TracerProvider | None = None
) -> EventHooks:
    """Return hooks that make spans, for ``event_hooks`` of `Ferry` or `AsyncFerry`.

    Args:
        also: Your own hooks, to add.
        tracer_provider: The tracer provider; else the global one.

    Returns:
        All hooks together.
    """
    spans = _Spans(trace.get_tracer("ferry_sdk", __version__, tracer_provider))
    own = also or EventHooks()
    # A request's span starts last and ends first, so that it does not include the other hooks.
    return EventHooks(
        request=[*own.get("request", ()), spans.start_attempt],
        response=[spans.end_attempt, *own.get("response", ())],
        retry=[spans.add_retry, *own.get("retry", ())],
        outcome=[spans.end_call, *own.get("outcome", ())],
    )


class _Spans:
    """The open spans of calls and requests."""

    def __init__(self, tracer: trace.Tracer) -> None:
        self._tracer = tracer
        self._calls: WeakKeyDictionary[CallInfo, trace.Span] = WeakKeyDictionary()
        self._attempts: WeakKeyDictionary[RequestEvent, trace.Span] = WeakKeyDictionary()

    def start_attempt(self, request: RequestEvent) -> None:
        """Start the span of a request."""
        attributes: dict[str, str | int] = {
            "http.request.method": request.method,
            "url.template": request.route,
            "server.address": request.host,
            "ferry.operation": request.operation,
            "ferry.correlation_id": request.call.correlation_id,
        }
        if request.port is not None:
            attributes["server.port"] = request.port
        if request.rpc_method is not None:
            attributes["mcp.method.name"] = request.rpc_method
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
        if response.request_id is not None:
            span.set_attribute("ferry.request_id", response.request_id)
        if response.status_code is not None:
            span.set_attribute("http.response.status_code", response.status_code)
        if response.problem is not None:
            _fail(span, response.problem)
        elif response.status_code is not None and response.status_code >= _FAILED:
            _fail(span, str(response.status_code))
        span.end()

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
        span.set_attribute("ferry.outcome", outcome.outcome)
        span.set_attribute("ferry.read_back", outcome.read_back)
        if outcome.problem is not None:
            _fail(span, outcome.problem)
        span.end()

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


def _fail(span: trace.Span, kind: str) -> None:
    span.set_attribute("error.type", kind)
    span.set_status(trace.Status(trace.StatusCode.ERROR))
