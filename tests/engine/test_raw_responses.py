"""An answer together with how it came: status, headers, ids, time, attempts."""

import json
import logging
import re
from unittest.mock import patch

import pytest

from ferry_sdk import RawResponse, Records
from ferry_sdk._engine.parsing import RecordList
from ferry_sdk._transport.exchange import Exchange
from ferry_sdk.types import Attempt
from tests.support.summer import booked, stopped

UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


@pytest.fixture(autouse=True)
def summer(ferry_sandbox):
    return stopped(ferry_sandbox)


@pytest.fixture
def replies(monkeypatch):
    """The replies that arrived."""
    arrived = []
    complete = Exchange._complete

    def note(exchange, reply):
        complete(exchange, reply)
        arrived.append(reply)

    monkeypatch.setattr(Exchange, "_complete", note)
    return arrived


def test_it_parses_to_what_the_call_would_have_given_and_has_status_headers_content_and_ids(both):
    raw = both.with_raw_response.catalogue.ports()
    assert isinstance(raw, RawResponse)
    assert isinstance(raw.parse(), Records)
    assert raw.parse() is raw.parse()
    assert raw.parse() == both.catalogue.ports()
    assert UUID.fullmatch(raw.request_id)
    assert raw.request_id == raw.headers["x-request-id"]
    assert raw.correlation_id == raw.headers["x-client-correlation-id"]
    assert raw.correlation_id != raw.request_id
    another = both.with_raw_response.catalogue.ports()
    assert another.correlation_id != raw.correlation_id
    assert another.request_id != raw.request_id
    with pytest.raises(AttributeError):
        raw.elapsed = 0.0
    with pytest.raises(TypeError):
        raw.headers["x"] = "y"
    raw = both.with_raw_response.catalogue.journeys()
    assert raw.status_code == 201
    headers = raw.headers
    assert headers["Content-Type"] == headers["content-type"] == "application/json"
    assert headers["CONTENT-ENCODING"] == "gzip"
    assert "X-Request-Id" in headers
    assert headers.get("x-nothing") is None
    assert repr(headers) == f"Headers({sorted(headers)})"
    assert len(headers) == len({*headers})
    with pytest.raises(KeyError):
        _ = headers["x-nothing"]
    assert len(json.loads(raw.content)["journeys"]) == len(raw.parse())


def test_a_call_that_nobody_watches_makes_no_record_of_itself(both, ferry_sandbox, caplog):
    caplog.set_level(logging.INFO, logger="ferry_sdk")
    booking = booked(both)

    def records_of(call):
        with (
            patch.object(Attempt, "__init__", autospec=True, side_effect=Attempt.__init__) as one,
            patch.object(RawResponse, "__init__", autospec=True, return_value=None) as raw,
        ):
            call()
        return one.call_count, raw.call_count

    def get():
        return both.bookings.get(booking.booking_id)

    assert records_of(lambda: booked(both)) == records_of(get) == (0, 0)
    assert records_of(lambda: both.bookings.confirm(booking.booking_id)) == (0, 0)
    assert records_of(lambda: both.with_raw_response.bookings.get(booking.booking_id)) == (1, 1)
    ferry_sandbox.faults.add("rate_limited", "bookings.get", retry_after=0)
    assert records_of(get)[0] > 0
    caplog.set_level(logging.DEBUG, logger="ferry_sdk")
    assert records_of(get) == (1, 0)


def test_no_body_is_kept_beside_its_records(both, replies, monkeypatch):
    bodies = []
    read = RecordList.read

    def look(answer, value):
        bodies.append(replies[-1].content)
        return read(answer, value)

    monkeypatch.setattr(RecordList, "read", look)
    assert both.catalogue.ports()
    assert bodies == [b""]


def test_the_reply_to_a_write_keeps_its_body(both, replies):
    """Another caller, who wants the raw response, may have joined the write."""
    booking = booked(both)
    assert json.loads(replies[-1].content)["booking_id"] == booking.booking_id
