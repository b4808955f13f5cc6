"""The metrics of calls and requests, by the in-memory reader, over real connections."""

import gc
import time
import weakref
from contextlib import suppress
from functools import partial
from urllib.parse import urlsplit

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader

from ferry_sdk import Ferry, FerryError, Rate, otel
from tests.backend.children import Child
from tests.observability.conftest import call_in_vain, shown_canaries
from tests.transport.scripted import Service, over_tls

COUNTED = ("ferry.retry", "ferry.outcome.unknown", "http.client.open_connections")
SECONDS = (0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10)


class Meters:
    """A provider of meters whose metrics are read in memory."""

    def __init__(self):
        self._reader = InMemoryMetricReader()
        self.provider = MeterProvider([self._reader], shutdown_on_exit=False)

    def metrics(self):
        data = self._reader.get_metrics_data()
        scopes = [] if data is None else data.resource_metrics[0].scope_metrics
        assert {scope.scope.name for scope in scopes} <= {"ferry_sdk"}
        return {metric.name: metric for scope in scopes for metric in scope.metrics}

    def points(self, name):
        """Return the attributes and the count of each point of a metric."""
        metric = self.metrics().get(name)
        points = [] if metric is None else metric.data.data_points
        count = "value" if name in COUNTED else "count"
        return [(dict(point.attributes), getattr(point, count)) for point in points]


@pytest.fixture
def meters():
    made = Meters()
    yield made
    made.provider.shutdown()


@pytest.fixture
def make_metered_client(make_client, meters):
    return lambda: make_client(event_hooks=otel.event_hooks(meter_provider=meters.provider))


@pytest.fixture
def server(ferry_sandbox):
    there = urlsplit(ferry_sandbox.base_url)
    return {"server.address": there.hostname, "server.port": there.port}


@pytest.fixture
def timed(make_metered_client, meters):
    """The metrics of three reads, two of which find nothing."""
    ferry = make_metered_client()
    ferry.catalogue.ports()
    for booking_id in ("b-4711", "b-4712"):
        with suppress(FerryError):
            ferry.bookings.get(booking_id)
    return meters


def test_requests_are_timed(timed, server):
    get = {**server, "http.request.method": "GET"}
    ports = {"url.template": "/api/port", "http.response.status_code": 200}
    booking = {"url.template": "/api/booking/{id}", "http.response.status_code": 404}
    assert timed.points("http.client.request.duration") == [
        (get | ports, 1),
        (get | booking | {"error.type": "404"}, 2),
    ]


def test_calls_are_timed(timed):
    failed = {"ferry.operation": "bookings.get", "error.type": "NotFoundError"}
    assert timed.points("ferry.call.duration") == [
        ({"ferry.operation": "catalogue.ports", "ferry.outcome": "done"}, 1),
        (failed | {"ferry.outcome": "rejected"}, 2),
    ]


@pytest.mark.parametrize(
    ("name", "most"),
    [
        pytest.param("http.client.request.duration", 10, id="requests"),
        pytest.param("ferry.call.duration", 120, id="calls"),
    ],
)
def test_durations_have_the_advised_buckets(timed, name, most):
    metric = timed.metrics()[name]
    bounds = metric.data.data_points[0].explicit_bounds
    assert (metric.unit, bounds[: len(SECONDS)], bounds[-1]) == ("s", SECONDS, most)
    assert 0 < metric.data.data_points[0].sum < 60


def test_retries_are_counted(make_metered_client, meters, ferry_sandbox):
    ferry_sandbox.faults.add("rate_limited", "catalogue.ports", retry_after=0)
    make_metered_client().catalogue.ports()
    assert meters.points("ferry.retry") == [
        ({"ferry.operation": "catalogue.ports", "error.type": "RateLimitError"}, 1)
    ]
    assert not meters.points("ferry.outcome.unknown")


def test_unknown_outcomes_are_counted(make_metered_client, meters, ferry_sandbox):
    ferry_sandbox.faults.add("lose_reply", "mcp.confirm_booking")
    with pytest.raises(FerryError):
        make_metered_client().mcp.call_tool("confirm_booking", {"booking_id": "b-4711"})
    unknown = {"ferry.operation": "mcp.confirm_booking", "error.type": "OutcomeUnknownError"}
    assert meters.points("ferry.outcome.unknown") == [(unknown, 1)]
    assert not meters.points("ferry.retry")


class SlowLimiter:
    """Lets each request wait, and fails for the journeys."""

    def acquire(self, operation):
        if operation == "catalogue.journeys":
            raise LookupError
        time.sleep(0.02)


@pytest.fixture
def waits(make_client, meters):
    """The events of three requests that asked a limiter, the last one in vain."""
    events = []
    hooks = otel.event_hooks({"limiter": [events.append]}, meter_provider=meters.provider)
    ferry = make_client(event_hooks=hooks, limiter=SlowLimiter())
    ferry.catalogue.ports()
    ferry.catalogue.ports()
    with pytest.raises(LookupError):
        ferry.catalogue.journeys()
    return events


@pytest.mark.usefixtures("waits")
def test_waits_for_a_limiter_are_timed(meters):
    assert meters.points("ferry.limiter.wait") == [
        ({"ferry.operation": "catalogue.ports"}, 2),
        ({"ferry.operation": "catalogue.journeys", "error.type": "LookupError"}, 1),
    ]
    assert meters.metrics()["ferry.limiter.wait"].data.data_points[0].sum >= 0.04


def test_hooks_see_waits_for_a_limiter(waits):
    assert [event.problem for event in waits] == [None, None, "LookupError"]
    assert {type(event.call.correlation_id) for event in waits} == {str}


def test_waits_for_a_rate_are_timed(make_client, meters):
    hooks = otel.event_hooks(meter_provider=meters.provider)
    make_client(event_hooks=hooks, limiter=Rate("1000/second")).catalogue.ports()
    assert meters.points("ferry.limiter.wait") == [({"ferry.operation": "catalogue.ports"}, 1)]


def count_connections(meters, server, first, second):
    """Use two clients, and check the number of their open connections after each call."""
    name = "http.client.open_connections"
    assert not meters.points(name)
    first.catalogue.ports()
    assert meters.points(name) == [(server, 1)]
    first.catalogue.ports()
    assert meters.points(name) == [(server, 1)]
    second.catalogue.ports()
    assert meters.points(name) == [(server, 2)]
    assert meters.metrics()[name].data.is_monotonic is False
    first.close()
    assert meters.points(name) == [(server, 1)]


def test_open_connections_are_those_of_a_provider(make_client, make_metered_client, meters, server):
    make_client(event_hooks=None).catalogue.ports()
    count_connections(meters, server, make_metered_client(), make_metered_client())


@pytest.mark.own_http_client(reason="a caller's own client trusts what the caller says")
def test_open_connections_over_tls_are_counted(
    any_clients, meters, authority, good, tmp_path, monkeypatch
):
    authority.cert_pem.write_to_path(str(tmp_path / "authority.pem"))
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "authority.pem"))
    hooks = otel.event_hooks(meter_provider=meters.provider)
    with Service(over_tls(good)) as service:
        first = any_clients("t", base_url=service.secure_url, event_hooks=hooks)
        second = any_clients("t", base_url=service.secure_url, event_hooks=hooks)
        server = {"server.address": "localhost", "server.port": service.port}
        count_connections(meters, server, first, second)
        assert service.accepted == 2


@pytest.mark.own_http_client(reason="a caller's own client is of one process")
@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")
def test_a_fork_counts_its_own_connections(meters, server, ferry_sandbox):
    hooks = otel.event_hooks(meter_provider=meters.provider)
    counted = partial(meters.points, "http.client.open_connections")
    with Ferry(ferry_sandbox.token, base_url=ferry_sandbox.base_url, event_hooks=hooks) as ferry:
        ferry.catalogue.ports()
        assert counted() == [(server, 1)]

        def child():
            before = counted()
            ferry.catalogue.ports()
            during = counted()
            ferry.close()
            return before, during, counted()

        before, during, after = Child(child).result()
        assert [value for _, value in before] in ([], [0])
        assert during == [(server, 1)]
        assert [value for _, value in after] in ([], [0])
        ferry.catalogue.ports()
        assert counted() == [(server, 1)]


def test_without_metrics_nothing_is_measured():
    assert set(otel.event_hooks()) == {"request", "response", "retry", "outcome"}


def test_metrics_without_a_provider_are_dropped(make_client, event_log):
    hooks = otel.event_hooks(event_log.hooks, metrics=True)
    assert set(hooks) == {*otel.event_hooks(), "limiter", "connections"}
    make_client(event_hooks=hooks).catalogue.ports()
    assert event_log.kinds == ["request", "response", "outcome"]


@pytest.fixture
def rounds(make_metered_client, meters):
    """The number of points of each metric, after each of three rounds of calls that fail.

    Each round has ids, a verb and names of its own.
    """
    ferry = make_metered_client()
    counts = []
    for number, verb in enumerate(("VERBA", "VERBB", "VERBC")):
        some_id = f"id-471{number}"
        call_in_vain(ferry, some_id)
        for call in (
            partial(ferry.mcp.call_tool, f"tool-{some_id}", {"id": some_id}),
            partial(ferry.mcp.read_resource, f"resource://service/{some_id}"),
            partial(ferry.request, verb, f"api/unknown/{some_id}", params={"id": some_id}),
        ):
            with suppress(FerryError):
                call()
        counts.append({name: len(meters.points(name)) for name in meters.metrics()})
    return counts


def test_other_ids_make_no_new_points(rounds):
    assert rounds[1:] == [rounds[0], rounds[0]]


@pytest.mark.usefixtures("rounds")
def test_an_unknown_verb_is_other(meters):
    points = meters.points("http.client.request.duration")
    methods = {attributes["http.request.method"] for attributes, _ in points}
    assert methods == {"GET", "POST", "_OTHER"}


@pytest.mark.usefixtures("rounds")
def test_no_metric_shows_ids_or_travellers(meters, ferry_sandbox):
    text = "".join(metric.to_json() for metric in meters.metrics().values())
    assert shown_canaries(text, "VERB", ferry_sandbox.token) == []


def test_an_unused_provider_is_freed():
    provider = MeterProvider(shutdown_on_exit=False)
    otel.event_hooks(meter_provider=provider)
    provider.shutdown()
    left = weakref.ref(provider)
    del provider
    gc.collect()
    assert left() is None
