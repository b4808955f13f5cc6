"""What a toolkit says while a company issues the tickets of a paid booking."""

from datetime import timedelta

import pytest

from tests.agents.agent import result_of
from tests.backend.gathering import UnderWay, eventually

WAIT = "bookings_get and `wait` 20"
"""What every text names that is about tickets which are being issued."""


@pytest.fixture
def in_progress(toolkit, ferry_sandbox):
    """The answer of a confirmation whose ticket the company issues for a minute, and rejects."""
    booking = toolkit.book()
    ferry_sandbox.faults.add("fails_later", "bookings.confirm", seconds=60)
    return toolkit.call("bookings_confirm", {"booking_id": booking["booking_id"]})


@pytest.fixture
def booking_id(in_progress):
    return result_of(in_progress)["booking_id"]


@pytest.fixture
def ticket_id(in_progress):
    return result_of(in_progress)["ticket_id"]


def test_confirmation_names_the_wait(in_progress):
    (note,) = in_progress["notes"]
    assert WAIT in note


def test_wait_ends_with_the_tickets(toolkit, booking_id, ferry_sandbox):
    reads = ferry_sandbox.counters.requests["bookings.get"]
    arguments = {"booking_id": booking_id, "wait": 60}
    waiting = UnderWay(lambda: toolkit.call("bookings_get", arguments))
    eventually(lambda: ferry_sandbox.counters.requests["bookings.get"] > reads)
    assert not waiting.is_over
    ferry_sandbox.clock.advance(timedelta(seconds=61))
    answer = waiting.value()
    assert answer["notes"] == ["Every ticket is issued, rejected or cancelled."]
    assert result_of(answer)["tickets"][0]["status"] == "Failed"


def test_wait_ends_with_the_time(toolkit, booking_id):
    answer = toolkit.call("bookings_get", {"booking_id": booking_id, "wait": 1})
    assert result_of(answer)["stage"] == "in_progress"
    (note,) = answer["notes"]
    assert note.startswith("The 1 seconds are over, and not every ticket is issued")


def test_wait_for_issued_tickets_reads_once(toolkit, ferry_sandbox):
    booking_id = toolkit.book_and_pay()["booking_id"]
    ferry_sandbox.counters.reset()
    answer = toolkit.call("bookings_get", {"booking_id": booking_id, "wait": 60})
    assert answer["notes"] == ["Every ticket is issued, rejected or cancelled."]
    assert ferry_sandbox.counters.requests["bookings.get"] == 1


def test_read_without_wait_has_no_note(toolkit, booking_id):
    assert "notes" not in toolkit.call("bookings_get", {"booking_id": booking_id})


@pytest.mark.parametrize(
    "wait",
    [
        pytest.param(-1, id="negative"),
        pytest.param(61, id="more than a minute"),
        pytest.param(0.5, id="no whole number"),
        pytest.param("20", id="a text"),
    ],
)
def test_other_waits_are_refused(toolkit, wait):
    error = toolkit.fail("bookings_get", "invalid_arguments", booking_id="b-1", wait=wait)
    assert error["field"] == "wait"


def test_booking_that_cannot_be_read_fails(toolkit, ferry_sandbox, booking_id):
    ferry_sandbox.faults.add("server_error", "bookings.get", times=None)
    arguments = {"booking_id": booking_id, "wait": 1}
    toolkit.fail("bookings_get", "request_timeout", "failed", **arguments)


def test_missing_voucher_says_when_to_ask_again(toolkit, ticket_id):
    answer = toolkit.call("tickets_pdf", {"ticket_id": ticket_id})
    assert result_of(answer)["url"] is None
    (note,) = answer["notes"]
    assert WAIT in note
    assert "in 20 seconds" in note


@pytest.mark.parametrize("tool", ["bookings_cancel", "tickets_cancel"])
def test_nobody_is_asked_to_cancel_meanwhile(toolkit, asked, in_progress, tool):
    subject = "booking_id" if tool == "bookings_cancel" else "ticket_id"
    asked.clear()
    named = {subject: result_of(in_progress)[subject]}
    error = toolkit.fail(tool, "not_changeable", **named)
    assert WAIT in error["next_step"]
    assert error["retry_after"] == 20
    assert not asked
