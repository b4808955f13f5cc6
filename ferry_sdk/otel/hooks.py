"""The hooks that make spans and metrics."""

from __future__ import annotations

from opentelemetry import metrics as otel_metrics
from opentelemetry import trace

from ferry_sdk._runtime.version import __version__
from ferry_sdk.hooks import EventHooks
from ferry_sdk.otel.metrics import meters_of
from ferry_sdk.otel.spans import Spans


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
    spans = Spans(trace.get_tracer("ferry_sdk", __version__, tracer_provider))
    hooks = EventHooks() if also is None else also.copy()
    if metrics or meter_provider is not None:
        meters = meters_of(meter_provider)
        hooks["response"] = [meters.time_request, *hooks.get("response", ())]
        hooks["retry"] = [meters.count_retry, *hooks.get("retry", ())]
        hooks["outcome"] = [meters.time_call, *hooks.get("outcome", ())]
        hooks["limiter"] = [meters.time_limiter, *hooks.get("limiter", ())]
        hooks["connections"] = [meters.watch_connections, *hooks.get("connections", ())]
    # A request's span starts last and ends first, so that it does not include the other hooks.
    hooks["request"] = [*hooks.get("request", ()), spans.start_attempt]
    hooks["response"] = [spans.end_attempt, *hooks.get("response", ())]
    hooks["retry"] = [spans.add_retry, *hooks.get("retry", ())]
    hooks["outcome"] = [spans.end_call, *hooks.get("outcome", ())]
    return hooks
