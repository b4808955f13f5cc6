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


def test_raw_response_parses_to_the_result(both):
    raw = both.with_raw_response.catalogue.ports()
    assert isinstance(raw, RawResponse)
    assert isinstance(raw.parse(), Records)
    assert raw.parse() is raw.parse()
    assert raw.parse() == both.catalogue.ports()


def test_raw_response_has_the_ids(both):
    raw = both.with_raw_response.catalogue.ports()
    assert UUID.fullmatch(raw.request_id)
    assert raw.request_id == raw.headers["x-request-id"]
    assert raw.correlation_id == raw.headers["x-client-correlation-id"]
    assert raw.correlation_id != raw.request_id


def test_each_raw_response_has_its_own_ids(both):
    first = both.with_raw_response.catalogue.ports()
    second = both.with_raw_response.catalogue.ports()
    assert second.correlation_id != first.correlation_id
    assert second.request_id != first.request_id


def test_raw_response_cannot_be_changed(both):
    raw = both.with_raw_response.catalogue.ports()
    with pytest.raises(AttributeError):
        raw.elapsed = 0.0
    with pytest.raises(TypeError):
        raw.headers["x"] = "y"


def test_raw_response_has_status_with_content(both):
    raw = both.with_raw_response.catalogue.journeys()
    assert raw.status_code == 201
    assert len(json.loads(raw.content)["journeys"]) == len(raw.parse())


def test_headers_have_names_without_case(both):
    headers = both.with_raw_response.catalogue.journeys().headers
    assert headers["Content-Type"] == headers["content-type"] == "application/json"
    assert headers["CONTENT-ENCODING"] == "gzip"
    assert "X-Request-Id" in headers
    assert headers.get("x-nothing") is None
    with pytest.raises(KeyError):
        _ = headers["x-nothing"]
    assert len(headers) == len({*headers})


def test_headers_show_no_values(both):
    headers = both.with_raw_response.catalogue.journeys().headers
    assert repr(headers) == f"Headers({sorted(headers)})"


def records_of(call):
    """Return how many attempts and raw responses a call makes."""
    with (
        patch.object(Attempt, "__init__", autospec=True, side_effect=Attempt.__init__) as attempts,
        patch.object(RawResponse, "__init__", autospec=True, return_value=None) as responses,
    ):
        call()
    return attempts.call_count, responses.call_count


@pytest.fixture
def booking_id(both, caplog):
    """Give the id of a booking; the log is above INFO, where it counts the attempts of a call."""
    caplog.set_level(logging.WARNING, logger="ferry_sdk")
    return booked(both).booking_id


def test_call_that_nobody_watches_records_no_attempt(both, booking_id):
    assert records_of(lambda: booked(both)) == (0, 0)
    assert records_of(lambda: both.bookings.get(booking_id)) == (0, 0)
    assert records_of(lambda: both.bookings.confirm(booking_id)) == (0, 0)


def test_raw_response_records_its_attempt(both, booking_id):
    assert records_of(lambda: both.with_raw_response.bookings.get(booking_id)) == (1, 1)


def test_failed_attempt_is_recorded(both, ferry_sandbox, booking_id):
    ferry_sandbox.faults.add("rate_limited", "bookings.get", retry_after=0)
    attempts, _ = records_of(lambda: both.bookings.get(booking_id))
    assert attempts > 0


@pytest.mark.parametrize("level", [logging.DEBUG, logging.INFO])
def test_log_records_the_attempt(both, booking_id, caplog, level):
    caplog.set_level(level, logger="ferry_sdk")
    assert records_of(lambda: both.bookings.get(booking_id)) == (1, 0)


def test_no_body_is_kept_beside_its_records(both, replies, monkeypatch):
    bodies = []
    read = RecordList.read

    def look(answer, value):
        bodies.append(replies[-1].content)
        return read(answer, value)

    monkeypatch.setattr(RecordList, "read", look)
    assert both.catalogue.ports()
    assert bodies == [b""]


def test_reply_to_a_write_keeps_its_body(both, replies):
    """Another caller, who wants the raw response, may have joined the write."""
    booking = booked(both)
    assert json.loads(replies[-1].content)["booking_id"] == booking.booking_id
