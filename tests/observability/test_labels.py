"""The label of a client or view is on the events, records, spans and metrics of its calls."""

import logging
from contextlib import suppress

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from ferry_sdk import FerryError, Rate, otel
from ferry_sdk.hooks import (
    ConnectionsEvent,
    LimiterEvent,
    OutcomeEvent,
    RequestEvent,
    ResponseEvent,
    RetryEvent,
)
from tests.support.raw_service import RawService, answer

EVENTS = {
    "request": RequestEvent,
    "response": ResponseEvent,
    "retry": RetryEvent,
    "outcome": OutcomeEvent,
    "limiter": LimiterEvent,
    "connections": ConnectionsEvent,
}


@pytest.fixture
def labels():
    """What the hooks of a test have seen: the kinds of events and their labels."""
    return []


@pytest.fixture
def labelled(make_client, ferry_sandbox, labels):
    """A client with a label, hooks for every event and a limiter; its first request fails."""
    ferry_sandbox.faults.add("rate_limited", "catalogue.ports", retry_after=0)

    def note(event):
        labels.append((type(event), event.label))

    return make_client(
        label="north", event_hooks={name: [note] for name in EVENTS}, limiter=Rate("900/second")
    )


def test_every_event_has_the_label(labelled, labels):
    labelled.catalogue.ports()
    assert {kind for kind, _ in labels} == {*EVENTS.values()}
    assert {label for _, label in labels} == {"north"}


def test_view_has_a_label_of_its_own(labelled, labels):
    labelled.with_options(label="south").catalogue.ports()
    assert {label for _, label in labels} == {"south"}
    labels.clear()
    labelled.catalogue.ports()
    assert {label for _, label in labels} == {"north"}


def test_view_without_a_label_keeps_that_of_the_client(labelled, labels):
    labelled.with_options(deadline=20).catalogue.ports()
    assert {label for _, label in labels} == {"north"}


def test_view_can_leave_the_label_out(labelled, labels):
    labelled.with_options(label=None).catalogue.ports()
    assert {label for _, label in labels} == {None}


def test_reads_of_a_write_have_the_label(labelled, labels, ferry_sandbox):
    booking = ferry_sandbox.make_booking("payment_due")
    ferry_sandbox.faults.add("lose_reply", "bookings.confirm")
    confirmed = labelled.bookings.confirm(booking.booking_id, expect_total=booking.total_price)
    assert confirmed.read_back
    assert {label for _, label in labels} == {"north"}


def test_searches_of_a_trip_have_the_label(labelled, labels):
    labelled.routes.find("Tarifa", "MATNG")
    assert len(labels) > 3
    assert {label for _, label in labels} == {"north"}


def test_accounts_are_told_apart(make_client, labels):
    def note(event):
        labels.append((event.label, event.call.operation))

    ferry = make_client(event_hooks={"outcome": [note]})
    for name in ("north", "south"):
        with suppress(FerryError):
            ferry.with_options(label=name, token=f"token-of-{name}").catalogue.ports()
    assert labels == [("north", "catalogue.ports"), ("south", "catalogue.ports")]


@pytest.mark.parametrize("label", ["n", "!", "~", "account:4711/EUR", "n" * 64])
def test_label_is_any_word(make_client, labels, label):
    hooks = {"outcome": [lambda event: labels.append(event.label)]}
    make_client(label=label, event_hooks=hooks).catalogue.ports()
    assert labels == [label]


def test_records_have_the_label(make_client, ferry_sandbox, caplog):
    caplog.set_level(logging.DEBUG, "ferry_sdk")
    ferry_sandbox.faults.add("rate_limited", "catalogue.ports", retry_after=0)
    make_client(label="north").catalogue.ports()
    records = [record for record in caplog.records if hasattr(record, "correlation_id")]
    assert len(records) > 2
    assert {record.label for record in records} == {"north"}


def test_records_without_a_label_say_so(make_client, caplog):
    caplog.set_level(logging.DEBUG, "ferry_sdk")
    make_client().catalogue.ports()
    records = [record for record in caplog.records if hasattr(record, "correlation_id")]
    assert {record.label for record in records} == {None}


def test_record_of_a_failing_hook_has_the_label(make_client, caplog):
    def fail(_):
        raise ZeroDivisionError

    make_client(label="north", event_hooks={"outcome": [fail]}).catalogue.ports()
    (record,) = [record for record in caplog.records if "hook" in record.msg]
    assert record.label == "north"


def spans_of(make_client, **settings):
    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    hooks = otel.event_hooks(tracer_provider=provider)
    make_client(event_hooks=hooks, **settings).catalogue.ports()
    return exporter.get_finished_spans()


def test_spans_have_the_label(make_client):
    spans = spans_of(make_client, label="north")
    assert [span.attributes["ferry.label"] for span in spans] == ["north", "north"]


def test_spans_without_a_label_have_no_attribute(make_client):
    assert [span for span in spans_of(make_client) if "ferry.label" in span.attributes] == []


@pytest.fixture
def read_points():
    """Return the points of every metric by its name, and the provider of the meters."""
    reader = InMemoryMetricReader()
    provider = MeterProvider([reader], shutdown_on_exit=False)

    def read():
        (resource,) = reader.get_metrics_data().resource_metrics
        metrics = [metric for scope in resource.scope_metrics for metric in scope.metrics]
        return {metric.name: metric.data.data_points for metric in metrics}

    yield read, provider
    provider.shutdown()


def test_metrics_have_the_label(make_client, ferry_sandbox, read_points):
    read, provider = read_points
    hooks = otel.event_hooks(meter_provider=provider)
    ferry = make_client(event_hooks=hooks, limiter=Rate("900/second"), max_retries=1)
    ferry_sandbox.faults.add("rate_limited", "catalogue.ports", retry_after=0)
    ferry_sandbox.faults.add("cut_before", "catalogue.journeys", times=2)
    for name in ("north", "south"):
        view = ferry.with_options(label=name)
        view.catalogue.ports()
        with suppress(FerryError):
            view.catalogue.journeys()

    points = read()
    connections = points.pop("http.client.open_connections")
    assert [point for point in connections if "ferry.label" in point.attributes] == []
    assert len(points) == 5
    for name, of_metric in points.items():
        assert {point.attributes["ferry.label"] for point in of_metric} <= {"north", "south"}, name
    seen = {point.attributes["ferry.label"] for point in points["ferry.call.duration"]}
    assert seen == {"north", "south"}


def test_label_is_never_sent(any_clients):
    heard = []

    def respond(method, path, headers, body):
        heard.append(f"{method} {path} {headers} {body}")
        return answer(body={"brands": []})

    with RawService(respond) as service:
        ferry = any_clients("token-4711", base_url=service.url, label="label-4711")
        ferry.catalogue.vehicle_brands()
        with suppress(FerryError):
            ferry.mcp.list_tools()
    assert "token-4711" in heard[0]
    assert [request for request in heard if "label-4711" in request] == []
