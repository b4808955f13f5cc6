"""Spans of calls and requests."""

from __future__ import annotations

from typing import Final
from weakref import WeakKeyDictionary

from opentelemetry import trace

from ferry_sdk.hooks import CallInfo, OutcomeEvent, RequestEvent, ResponseEvent, RetryEvent
from ferry_sdk.otel.attributes import Attributes, result_attributes

_NANOSECONDS: Final = 1_000_000_000
_ERROR: Final = trace.Status(trace.StatusCode.ERROR)
_HANDSHAKE: Final = ("initialize", "notifications/initialized")


class Spans:
    """The open spans of calls and requests."""

    def __init__(self, tracer: trace.Tracer) -> None:
        self._tracer = tracer
        self._calls: WeakKeyDictionary[CallInfo, trace.Span] = WeakKeyDictionary()
        self._attempts: WeakKeyDictionary[RequestEvent, trace.Span] = WeakKeyDictionary()

    def start_attempt(self, request: RequestEvent) -> None:
        """Start the span of a request."""
        attributes: Attributes = {
            "server.address": request.host,
            "http.request.method": request.method,
            "url.template": request.route,
            "ferry.operation": request.operation,
            "ferry.correlation_id": request.call.correlation_id,
        }

        if request.call.label is not None:
            attributes["ferry.label"] = request.call.label
        if request.port is not None:
            attributes["server.port"] = request.port
        if request.rpc_method is not None:
            attributes["mcp.method.name"] = request.rpc_method
        if request.attempt > 1 and request.rpc_method not in _HANDSHAKE:
            attributes["http.request.resend_count"] = request.attempt - 1

        self._attempts[request] = self._tracer.start_span(
            f"{request.method} {request.route}",
            context=trace.set_span_in_context(self._span_of(request.call)),
            kind=trace.SpanKind.CLIENT,
            attributes=attributes,
        )

    def end_attempt(self, response: ResponseEvent) -> None:
        """End the span of an attempt."""
        span = self._attempts.pop(response.request, trace.INVALID_SPAN)
        if span.is_recording():
            attributes = result_attributes(response)
            if response.request_id is not None:
                attributes["ferry.request_id"] = response.request_id
            span.set_attributes(attributes)
            if "error.type" in attributes:
                span.set_status(_ERROR)
        span.end()

    def add_retry(self, retry: RetryEvent) -> None:
        """Add a retry event to the span of a call."""
        attributes: dict[str, str | float] = {
            "ferry.operation": retry.operation,
            "ferry.attempt": retry.attempt,
            "ferry.wait": retry.wait,
            "error.type": retry.problem,
        }
        self._span_of(retry.call).add_event("ferry.retry", attributes)

    def end_call(self, outcome: OutcomeEvent) -> None:
        """End the span of a call."""
        span = self._calls.pop(outcome.call, None)
        if span is None:
            span = self._start_call(outcome.call)

        if span.is_recording():
            attributes: Attributes = {
                "ferry.outcome": outcome.outcome,
                "ferry.read_back": outcome.read_back,
            }
            if outcome.problem is not None:
                attributes["error.type"] = outcome.problem
                span.set_status(_ERROR)
            span.set_attributes(attributes)
        span.end()

    def _span_of(self, call: CallInfo) -> trace.Span:
        """Return the span of a call. Its first event starts it, with the start time of the call."""
        span = self._calls.get(call)
        if span is None:
            span = self._start_call(call)
            self._calls[call] = span
        return span

    def _start_call(self, call: CallInfo) -> trace.Span:
        attributes: Attributes = {
            "ferry.operation": call.operation,
            "ferry.correlation_id": call.correlation_id,
        }
        if call.label is not None:
            attributes["ferry.label"] = call.label
        return self._tracer.start_span(
            call.operation,
            kind=trace.SpanKind.CLIENT,
            attributes=attributes,
            start_time=int(call.began * _NANOSECONDS),
        )
