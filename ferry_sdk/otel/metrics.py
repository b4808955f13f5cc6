"""Counts and durations of calls and requests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sized
from typing import Final
from weakref import WeakKeyDictionary

from opentelemetry import metrics as otel_metrics

from ferry_sdk._runtime.version import __version__
from ferry_sdk.hooks import (
    ConnectionsEvent,
    LimiterEvent,
    OutcomeEvent,
    ResponseEvent,
    RetryEvent,
)
from ferry_sdk.otel.attributes import (
    Attributes,
    call_attributes,
    result_attributes,
    server_attributes,
)

_KNOWN_METHODS: Final = frozenset(
    {"CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "TRACE"}
)
_SECONDS: Final = (0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10)
"""The buckets that the semantic conventions advise."""
_SECONDS_WITH_WAITS: Final = (*_SECONDS, 30, 60, 120)
"""The buckets of what includes waits."""


class Meters:
    """The instruments of one provider, for all its clients."""

    def __init__(self, provider: otel_metrics.MeterProvider | None) -> None:
        meter = otel_metrics.get_meter("ferry_sdk", __version__, provider)

        self._requests = meter.create_histogram(
            "http.client.request.duration",
            unit="s",
            description="Duration of HTTP client requests.",
            explicit_bucket_boundaries_advisory=_SECONDS,
        )
        self._calls = meter.create_histogram(
            "ferry.call.duration",
            unit="s",
            description="Duration of calls, with their retries, waits and additional reads.",
            explicit_bucket_boundaries_advisory=_SECONDS_WITH_WAITS,
        )
        self._limiter = meter.create_histogram(
            "ferry.limiter.wait",
            unit="s",
            description="How long requests waited for the client's limiter.",
            explicit_bucket_boundaries_advisory=_SECONDS_WITH_WAITS,
        )

        self._retries = meter.create_counter(
            "ferry.retry",
            unit="{retry}",
            description="Attempts that failed and were followed by another.",
        )
        self._unknown = meter.create_counter(
            "ferry.outcome.unknown",
            unit="{call}",
            description="Calls that may have happened.",
        )

        self._clients: WeakKeyDictionary[Sized, Attributes] = WeakKeyDictionary()
        meter.create_observable_up_down_counter(
            "http.client.open_connections",
            callbacks=[self._observe_connections],
            unit="{connection}",
            description="Number of outbound HTTP connections that are currently active or idle on "
            "the client.",
        )

    def time_request(self, response: ResponseEvent) -> None:
        """Record the duration of a request."""
        request = response.request
        method = request.method if request.method in _KNOWN_METHODS else "_OTHER"
        attributes = server_attributes(request.host, request.port)
        attributes |= {"http.request.method": method, "url.template": request.route}
        if request.call.label is not None:
            attributes["ferry.label"] = request.call.label
        self._requests.record(response.seconds, attributes | result_attributes(response))

    def count_retry(self, retry: RetryEvent) -> None:
        """Count a retry."""
        self._retries.add(1, call_attributes(retry.call, retry.operation, retry.problem))

    def time_call(self, outcome: OutcomeEvent) -> None:
        """Record the duration of a call and its outcome."""
        attributes = call_attributes(outcome.call, outcome.call.operation, outcome.problem)
        self._calls.record(outcome.seconds, {**attributes, "ferry.outcome": outcome.outcome})
        if outcome.outcome == "unknown":
            self._unknown.add(1, attributes)

    def time_limiter(self, turn: LimiterEvent) -> None:
        """Record a wait for the limiter."""
        self._limiter.record(turn.seconds, call_attributes(turn.call, turn.operation, turn.problem))

    def watch_connections(self, event: ConnectionsEvent) -> None:
        """Count the connections of a client from now on, as long as it exists."""
        self._clients[event.connections] = server_attributes(event.host, event.port)

    def _observe_connections(self, _: object) -> Iterable[otel_metrics.Observation]:
        """Return the number of open connections for each server."""
        counts: Counter[tuple[tuple[str, str | int], ...]] = Counter()
        for client in self._clients.keyrefs():  # a copy: other threads may add to it
            connections = client()
            if connections is not None:
                counts[tuple(self._clients[connections].items())] += len(connections)
        return [otel_metrics.Observation(count, dict(server)) for server, count in counts.items()]


_meters: WeakKeyDictionary[object, Meters] = WeakKeyDictionary()


def meters_of(provider: otel_metrics.MeterProvider | None) -> Meters:
    """Return the instruments of a provider; None: of the global one.

    A provider has one set of them: it never asks a second observable instrument of the same name.
    """
    owner = Meters if provider is None else provider
    if owner not in _meters:
        _meters[owner] = Meters(provider)
    return _meters[owner]
