"""A token that a service echoes anywhere in a reply is in no event, log, span, repr or journal."""

import logging
from unittest.mock import patch

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from ferry_sdk import Ferry, FerryError, ResponseEvent, otel
from ferry_sdk._engine.redaction import Redactor
from ferry_sdk.journal import Journal
from tests.support.mcp_samples import PASSENGERS, SELECTION, failure
from tests.support.raw_service import RawService, answer
from tests.support.samples import BOOKING_CREATED

TOKEN = "tok.secret.zz.1234567890"
ORGANISATION = "org:secret:yy:0987654321"
UUID = "9f8b3c1e-5a7d-4e2f-8b6a-0c1d2e3f4a5b"

HEADERS = [
    "x-request-id",
    "x-client-correlation-id",
    "content-type",
    "retry-after",
    "location",
    "www-authenticate",
    "mcp-session-id",
    "date",
    "set-cookie",
]
ECHOES = {
    "the token": TOKEN,
    "within an id": f"req-{TOKEN}-1",
    "a part of it": TOKEN[:16],
    "the organisation's": ORGANISATION,
}
WHOLE = (TOKEN, ORGANISATION)


class Watched:
    """A client with everything that shows what a reply says."""

    def __init__(self, url, folder, caplog):
        self.events = []
        self._caplog = caplog
        self._spans = InMemorySpanExporter()
        self._reader = InMemoryMetricReader()
        tracers = TracerProvider(shutdown_on_exit=False)
        tracers.add_span_processor(SimpleSpanProcessor(self._spans))
        names = ("request", "response", "retry", "outcome")
        self._journal = Journal(f"sqlite:///{folder}/journal.db")
        self.ferry = Ferry(
            TOKEN,
            organisation_token=ORGANISATION,
            base_url=url,
            max_retries=0,
            journal=self._journal,
            event_hooks=otel.event_hooks(
                {name: [self.events.append] for name in names},
                tracer_provider=tracers,
                meter_provider=MeterProvider([self._reader], shutdown_on_exit=False),
            ),
        )

    def shown(self):
        spans = [(span.name, dict(span.attributes)) for span in self._spans.get_finished_spans()]
        records = [vars(record) for record in self._caplog.records]
        metrics = self._reader.get_metrics_data()
        return repr([self.events, spans, records, metrics.to_json(), [*self._journal.entries()]])

    def close(self):
        self.ferry.close()
        self._journal.close()


@pytest.fixture
def watch(tmp_path, caplog):
    """Makes a watched client of a service that answers with a function."""
    caplog.set_level(logging.DEBUG, logger="ferry_sdk")
    left = []

    def start(respond):
        service = RawService(respond).__enter__()
        watched = Watched(service.url, tmp_path, caplog)
        left.append((service, watched))
        return watched

    yield start
    for service, watched in left:
        watched.close()
        service.__exit__()


def create(ferry):
    return ferry.bookings.create(availabilities=SELECTION, passengers=PASSENGERS)


@pytest.mark.parametrize("echo", ECHOES.values(), ids=ECHOES)
@pytest.mark.parametrize("header", HEADERS)
def test_a_header_of_a_success_shows_no_token(watch, header, echo):
    watched = watch(lambda *_: answer(201, BOOKING_CREATED, **{header: echo}))
    raw = create(watched.ferry.with_raw_response)
    shown = watched.shown() + repr(raw) + str(raw.request_id)
    assert [secret for secret in (*WHOLE, TOKEN[:16]) if secret in shown] == []
    assert "bookings.create" in shown


@pytest.mark.parametrize("echo", ECHOES.values(), ids=ECHOES)
@pytest.mark.parametrize("status", [302, 401, 409, 422, 429, 500])
def test_a_refusal_full_of_tokens_shows_none(watch, status, echo):
    body = failure(echo, f"for {echo}") | {"field": echo}
    watched = watch(lambda *_: answer(status, body, **dict.fromkeys(HEADERS, echo)))
    with pytest.raises(FerryError) as info:
        create(watched.ferry)
    error = info.value
    texts = [str(error), repr(error), repr(error.attempts), error.request_id]
    shown = watched.shown() + repr(texts)
    assert [secret for secret in WHOLE if secret in shown] == []


def test_a_request_id_of_random_digits_is_shown(watch):
    watched = watch(lambda *_: answer(201, BOOKING_CREATED, **{"x-request-id": UUID}))
    raw = create(watched.ferry.with_raw_response)
    assert raw.request_id == raw.attempts[0].request_id == UUID


def test_a_traveller_in_a_request_id_is_hidden(watch):
    request_id = f"req-{PASSENGERS[0]['last_name']}-1"
    watched = watch(lambda *_: answer(201, BOOKING_CREATED, **{"x-request-id": request_id}))
    assert create(watched.ferry.with_raw_response).request_id == "req-[hidden]-1"


def test_a_request_id_within_a_token_is_hidden(watch):
    watched = watch(lambda *_: answer(201, BOOKING_CREATED, **{"x-request-id": TOKEN[:16]}))
    assert create(watched.ferry.with_raw_response).request_id == "[hidden]"


def test_a_random_request_id_needs_no_redactor(watch):
    watched = watch(lambda *_: answer(201, BOOKING_CREATED, **{"x-request-id": UUID}))
    with patch.object(Redactor, "__init__", autospec=True) as made:
        create(watched.ferry.with_raw_response)
    assert made.call_count == 0


PLAIN_ID = "gw-7Q2.k:41"
"""The id of a gateway that makes no UUIDs; it names nobody."""


@pytest.fixture
def redactors():
    """Count the redactors that are made."""
    initialise = Redactor.__init__
    with patch.object(Redactor, "__init__", autospec=True, side_effect=initialise) as made:
        yield made


def test_a_request_id_is_redacted_once_a_reply(watch, redactors):
    watched = watch(lambda *_: answer(201, BOOKING_CREATED, **{"x-request-id": PLAIN_ID}))
    raw = create(watched.ferry.with_raw_response)
    assert raw.request_id == PLAIN_ID
    assert redactors.call_count == 1


def test_all_who_look_see_the_same_id(watch):
    request_id = f"req-{PASSENGERS[0]['last_name']}-1"
    watched = watch(lambda *_: answer(201, BOOKING_CREATED, **{"x-request-id": request_id}))
    raw = create(watched.ferry.with_raw_response)
    response = next(event for event in watched.events if isinstance(event, ResponseEvent))
    assert response.request_id == raw.request_id == "req-[hidden]-1"


def test_each_reply_has_its_own_id(watch):
    ids = [f"gw-{number}" for number in range(3)]
    left = iter(ids)
    watched = watch(lambda *_: answer(503, {}, **{"x-request-id": next(left)}))
    with pytest.raises(FerryError) as info:
        watched.ferry.with_options(max_retries=2).catalogue.ports()
    assert [attempt.request_id for attempt in info.value.attempts] == ids


@pytest.mark.parametrize("name", ["request", "retry", "limiter", "connections"])
def test_an_id_unseen_by_hooks_is_not_redacted(redactors, name):
    reply = answer(201, BOOKING_CREATED, **{"x-request-id": PLAIN_ID})
    seen = []
    with (
        RawService(lambda *_: reply) as service,
        Ferry(TOKEN, base_url=service.url, event_hooks={name: [seen.append]}) as ferry,
    ):
        create(ferry)
    assert redactors.call_count == 0


def test_a_plain_request_id_is_not_searched(watch):
    watched = watch(lambda *_: answer(201, BOOKING_CREATED, **{"x-request-id": PLAIN_ID}))
    with patch.object(Redactor, "show", autospec=True) as searched:
        assert create(watched.ferry.with_raw_response).request_id == PLAIN_ID
    assert searched.call_count == 0
