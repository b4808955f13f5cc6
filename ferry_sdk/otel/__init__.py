"""OpenTelemetry spans and metrics of a client's calls and their requests.

Each call has a span, with a child for each request. No attribute of a metric contains an id.
"""

from __future__ import annotations

from ferry_sdk._runtime.extras import needs_extra

with needs_extra("spans and metrics require", "otel", ["opentelemetry"]):
    from ferry_sdk.otel.hooks import event_hooks

__all__ = ["event_hooks"]
