"""Use one correlation id in the program's log, the library's log and OpenTelemetry spans."""

from __future__ import annotations

import logging
import sys
from collections import Counter

from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from ferry_sdk import Ferry, OutcomeEvent, correlation, otel
from ferry_sdk.sandbox import Sandbox

logger = logging.getLogger("shop")
outcomes: Counter[tuple[str, str]] = Counter()


def note(event: OutcomeEvent) -> None:
    """Count and log the outcome of a call."""
    outcomes[event.call.operation, event.outcome] += 1
    logger.info(
        "%s: %s, attempts: %d (correlation id %s)",
        event.call.operation,
        event.outcome,
        len(event.attempts),
        event.call.correlation_id,
    )


def main(sandbox: Sandbox, ferry: Ferry) -> None:
    """Make two calls with one correlation id. The first fails once and is retried."""
    sandbox.faults.add("server_error", "catalogue.ports")
    with correlation("order-4711"):
        ferry.catalogue.ports()
        ferry.catalogue.vehicle_types()


if __name__ == "__main__":
    logging.basicConfig(stream=sys.stdout, format="%(levelname)s %(name)s: %(message)s")
    for name in ("shop", "ferry_sdk"):
        logging.getLogger(name).setLevel(logging.INFO)
    exporter = InMemorySpanExporter()  # a program uses its collector's exporter
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    hooks = otel.event_hooks({"outcome": [note]}, tracer_provider=provider)
    with (
        Sandbox() as service,
        Ferry(service.token, base_url=service.base_url, event_hooks=hooks) as client,
    ):
        main(service, client)
    for span in exporter.get_finished_spans():
        known = dict(span.attributes or {})
        print(span.name, known.get("http.response.status_code", known.get("ferry.outcome")))
    print(dict(outcomes))
