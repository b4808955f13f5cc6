"""The envelopes and troubles that the local service can make, through real sockets."""

from __future__ import annotations

import pytest

from ferry_sdk import (
    APIError,
    AuthenticationError,
    AvailabilityError,
    BookingCreateError,
    ConnectionFailedError,
    NotFoundError,
    OutcomeUnknownError,
    PermissionDeniedError,
    RateLimitError,
    RequestTimeoutError,
    ServerError,
    TicketNotFoundError,
    UnexpectedResponseError,
)
from tests.support.tiers import mostly_long
from tests.support.trip import PASSENGERS, booked, found, search_arguments

READABLE = [
    "structured_and_text",
    "structured",
    "structured_result",
    "structured_array",
    "text",
    "n_blocks",
    "split_text",
    "embedded_resource",
    "extra_blocks",
    "bare",
    "batch",
    "complete_result_type",
]
UNREADABLE = ["plain_text", "naked", "input_required", "unknown_result_type"]
NAMED = [
    "is_error",
    "is_error_text",
    "tool_error_text",
    "error_as_success",
    "error_as_success_text",
    "json_rpc_error_data",
    "bare",
    "naked",
]
LOST = [
    ("html_page", {}),
    ("html_page", {"status": 200}),
    ("not_json", {}),
    ("not_utf8", {}),
    ("empty_body", {}),
    ("empty_body", {"status": 202}),
    ("lose_reply", {}),
    ("lose_reply", {"reset": True}),
    ("truncate", {}),
    ("truncate", {"chunked": True, "reset": True}),
    ("server_error_after", {"status": 500}),
    ("server_error_after", {"status": 502}),
    ("request_timeout_after", {}),
]


@pytest.fixture
def clients(mostly_sync_clients):
    return mostly_sync_clients


@pytest.fixture(params=mostly_long(["sse", "json"]))
def carrier(request, ferry_sandbox):
    ferry_sandbox.mcp.set(reply=request.param)
    return request.param


@pytest.fixture
def selection(both):
    sailing = found(both)
    return sailing.select(tariff=sailing.tariffs[0], place=sailing.places[0])


@pytest.fixture
def ticket_id(both):
    return both.bookings.confirm(booked(both).booking_id).ticket_id


def impossible_search(both):
    return {**search_arguments(), "company": "NONE"}


def book(both, selection):
    return both.mcp.create_booking(availabilities=[selection], passengers=PASSENGERS)


@pytest.mark.usefixtures("carrier")
@pytest.mark.parametrize("shape", READABLE)
def test_a_search_is_read_from_every_shape(both, ferry_sandbox, shape):
    arguments = search_arguments()
    expected = [each.sailing_id for each in both.availability.search(**arguments)]
    ferry_sandbox.mcp.set(result=shape)
    found_now = both.mcp.search_availability(**arguments)
    assert [each.sailing_id for each in found_now] == expected
    assert found_now.unreadable == ()


@pytest.mark.usefixtures("carrier")
@pytest.mark.parametrize("shape", READABLE)
def test_records_are_read_from_every_shape(both, ferry_sandbox, selection, shape):
    ferry_sandbox.mcp.set(result=shape)
    booking = book(both, selection)
    confirmed = both.mcp.confirm_booking(booking.booking_id)
    ticket = both.mcp.view_ticket(confirmed.ticket_id)
    assert ticket == both.tickets.get(confirmed.ticket_id).model_copy(update=ticket.model_extra)
    both.mcp.cancel_ticket(ticket.id, ticket_number=ticket.ticket_number)
    assert both.tickets.get(ticket.id).status == "Canceled"
    assert [effect.operation for effect in ferry_sandbox.counters.effects] == [
        "bookings.create",
        "bookings.confirm",
        "tickets.cancel",
    ]


@pytest.mark.usefixtures("carrier")
@pytest.mark.parametrize("status", [200, 400, 404, 500])
def test_a_result_counts_at_any_status(both, ferry_sandbox, selection, status):
    both.mcp.ports()
    ferry_sandbox.mcp.set(status=status)
    assert book(both, selection).booking_id
    assert len(both.mcp.ports()) > 1
    assert len(ferry_sandbox.counters.effects_of("bookings.create")) == 1


@pytest.mark.usefixtures("carrier")
def test_empty_content_is_an_empty_search(both, ferry_sandbox):
    arguments = search_arguments()
    ferry_sandbox.mcp.set(result="empty")
    assert len(both.mcp.search_availability(**arguments)) == 0


@pytest.mark.usefixtures("carrier")
@pytest.mark.parametrize("shape", [*UNREADABLE, "empty"])
def test_a_write_whose_result_cannot_be_read_is_unknown(both, ferry_sandbox, selection, shape):
    ferry_sandbox.mcp.set(result=shape)
    with pytest.raises(OutcomeUnknownError) as caught:
        book(both, selection)
    assert isinstance(caught.value.__cause__, UnexpectedResponseError)
    assert ferry_sandbox.counters.requests["mcp.create_booking"] == 1
    assert len(ferry_sandbox.counters.effects_of("bookings.create")) == 1


@pytest.mark.usefixtures("carrier")
@pytest.mark.parametrize("shape", [*UNREADABLE, "empty"])
def test_a_read_whose_result_cannot_be_read_is_tried_again(both, ferry_sandbox, ticket_id, shape):
    for _ in range(2):
        ferry_sandbox.faults.add("mcp_envelope", "mcp.view_ticket", result=shape)
    assert both.mcp.view_ticket(ticket_id).id == ticket_id
    assert ferry_sandbox.counters.requests["mcp.view_ticket"] == 3


@pytest.mark.usefixtures("carrier")
@pytest.mark.parametrize("shape", NAMED)
def test_a_failure_is_named_in_every_shape(both, ferry_sandbox, selection, shape):
    impossible = impossible_search(both)
    ferry_sandbox.mcp.set(error=shape)
    with pytest.raises(TicketNotFoundError) as caught:
        both.mcp.view_ticket("none")
    assert (caught.value.code, caught.value.outcome) == ("TICKET_NOT_FOUND", "rejected")
    with pytest.raises(AvailabilityError):
        both.mcp.search_availability(**impossible)
    other = selection.model_copy(update={"availability_id": "none"})
    with pytest.raises(BookingCreateError) as caught:
        book(both, other)
    assert caught.value.outcome == "rejected"
    counted = ferry_sandbox.counters.requests
    assert [counted[f"mcp.{name}"] for name in ("view_ticket", "create_booking")] == [1, 1]


@pytest.mark.usefixtures("carrier")
@pytest.mark.parametrize("shape", ["is_error_prose", "json_rpc_error"])
def test_a_failure_without_a_code_leaves_a_write_unknown(both, ferry_sandbox, selection, shape):
    ferry_sandbox.mcp.set(error=shape)
    with pytest.raises(APIError) as caught:
        both.with_options(max_retries=0).mcp.view_ticket("none")
    assert not isinstance(caught.value, TicketNotFoundError)
    assert caught.value.code in (None, "-32603")
    with pytest.raises(OutcomeUnknownError):
        book(both, selection.model_copy(update={"availability_id": "none"}))
    assert ferry_sandbox.counters.requests["mcp.create_booking"] == 1


CATALOGUES = [
    pytest.param(["ports", "countries"], id="short"),
    pytest.param(["companies", "vehicle_brands", "vehicle_data", "departures"], id="long"),
]


@pytest.mark.usefixtures("carrier")
@pytest.mark.parametrize("names", mostly_long(CATALOGUES))
@pytest.mark.parametrize(
    "shape",
    [
        "text",
        "text_without_type",
        "text_without_uri",
        "blob",
        "split",
        "bare_list",
        "bare_object",
    ],
)
def test_every_catalogue_is_read_from_every_shape(both, ferry_sandbox, shape, names):
    ferry_sandbox.clock.freeze()  # a ship that leaves between two reads is in one of them only
    reads = [getattr(both.mcp, name) for name in names]
    expected = [read() for read in reads]
    ferry_sandbox.mcp.set(resource=shape)
    for read, records in zip(reads, expected, strict=True):
        assert len(records) > 1
        assert read() == records


@pytest.mark.usefixtures("carrier")
def test_a_resource_without_contents_is_empty(both, ferry_sandbox):
    ferry_sandbox.mcp.set(resource="empty")
    assert len(both.mcp.ports()) == 0


@pytest.mark.parametrize("code", [-32602, -32002, 0])
@pytest.mark.parametrize("error_id", ["same", "null", "server_error"])
def test_an_unknown_resource_is_not_found(both, ferry_sandbox, code, error_id):
    ferry_sandbox.mcp.set(unknown_resource_code=code, error_id=error_id)
    with pytest.raises(NotFoundError) as caught:
        both.mcp.read_resource("resource://service/tides")
    assert "tides" in caught.value.message


@pytest.mark.usefixtures("carrier")
def test_an_unknown_tool_is_refused(both):
    with pytest.raises(APIError, match="Unknown tool") as caught:
        both.mcp.call_tool("pay", {})
    assert caught.value.outcome == "rejected"


@pytest.mark.parametrize(("kind", "details"), LOST)
def test_a_write_whose_reply_is_lost_is_sent_once(both, ferry_sandbox, selection, kind, details):
    ferry_sandbox.faults.add(kind, "mcp.create_booking", **details)
    with pytest.raises(OutcomeUnknownError) as caught:
        book(both, selection)
    assert caught.value.correlation_id
    assert [attempt.sent for attempt in caught.value.attempts] == [True]
    assert ferry_sandbox.counters.requests["mcp.create_booking"] == 1
    assert len(ferry_sandbox.counters.effects_of("bookings.create")) == 1


@pytest.mark.parametrize(("kind", "details"), LOST)
def test_a_read_whose_reply_is_lost_is_sent_again(both, ferry_sandbox, ticket_id, kind, details):
    ferry_sandbox.faults.add(kind, "mcp.view_ticket", times=2, **details)
    assert both.mcp.view_ticket(ticket_id).id == ticket_id
    assert ferry_sandbox.counters.requests["mcp.view_ticket"] == 3


def test_a_slow_write_is_unknown_and_a_slow_read_is_repeated(both, ferry_sandbox, selection):
    both.mcp.ports()
    impatient = both.with_options(timeout=1)
    ferry_sandbox.faults.add("delay_after", "mcp.create_booking", seconds=20)
    with pytest.raises(OutcomeUnknownError) as caught:
        book(impatient, selection)
    assert isinstance(caught.value.__cause__, RequestTimeoutError)
    assert len(ferry_sandbox.counters.effects_of("bookings.create")) == 1
    ferry_sandbox.faults.add("delay_after", "mcp.ports", seconds=20)
    assert len(impatient.mcp.ports()) > 1


@pytest.mark.parametrize(
    ("kind", "cause"),
    [
        ("cut_before", ConnectionFailedError),
        ("server_error", ServerError),
        ("request_timeout", APIError),
    ],
)
def test_a_write_of_which_nothing_is_heard_is_unknown_though_nothing_was_done(
    both, ferry_sandbox, selection, kind, cause
):
    ferry_sandbox.faults.add(kind, "mcp.create_booking")
    with pytest.raises(OutcomeUnknownError) as caught:
        book(both, selection)
    assert isinstance(caught.value.__cause__, cause)
    assert ferry_sandbox.counters.requests["mcp.create_booking"] == 1
    assert ferry_sandbox.counters.effects == ()


def test_a_service_that_does_not_listen_was_sent_nothing(both, ferry_sandbox, selection):
    both.mcp.ports()
    ferry_sandbox.stop()
    with pytest.raises(ConnectionFailedError) as caught:
        book(both, selection)
    assert caught.value.outcome == "not_sent"
    assert [attempt.sent for attempt in caught.value.attempts] == [False, False, False]


@pytest.mark.parametrize("as_date", [False, True])
def test_too_many_requests_are_waited_for_even_by_a_write(both, ferry_sandbox, selection, as_date):
    ferry_sandbox.faults.add("rate_limited", "mcp.create_booking", retry_after=0, as_date=as_date)
    assert book(both, selection).booking_id
    assert len(ferry_sandbox.counters.effects_of("bookings.create")) == 1
    ferry_sandbox.faults.add("rate_limited", "mcp.create_booking", retry_after=3600)
    with pytest.raises(RateLimitError) as caught:
        book(both, selection)
    assert (caught.value.retry_after, caught.value.outcome) == (3600, "rejected")


@pytest.mark.parametrize(
    ("kind", "details", "error"),
    [
        ("unauthorized", {}, AuthenticationError),
        ("unauthorized", {"status": 403}, PermissionDeniedError),
        ("not_acceptable", {}, APIError),
        ("not_acceptable", {"status": 415}, APIError),
    ],
)
def test_a_refusal_for_good_is_not_tried_again(
    both, ferry_sandbox, selection, kind, details, error
):
    ferry_sandbox.faults.add(kind, "mcp.create_booking", times=None, **details)
    with pytest.raises(error) as caught:
        book(both, selection)
    assert caught.value.outcome == "rejected"
    assert ferry_sandbox.counters.requests["mcp.create_booking"] == 1
    assert ferry_sandbox.counters.requests["mcp.initialize"] == 1


def test_a_token_that_only_reads_is_refused_a_write(clients, ferry_sandbox):
    reader = clients(ferry_sandbox.read_only_token, base_url=ferry_sandbox.base_url)
    assert len(reader.mcp.ports()) > 1
    with pytest.raises(PermissionDeniedError) as caught:
        reader.mcp.confirm_booking("b1")
    assert (caught.value.code, caught.value.outcome) == ("FORBIDDEN", "rejected")


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(both, ferry_sandbox, selection, status):
    ferry_sandbox.faults.add("redirect", "mcp.create_booking", status=status)
    with pytest.raises(UnexpectedResponseError) as caught:
        book(both, selection)
    assert caught.value.status_code == status
    assert ferry_sandbox.counters.effects == ()
