"""The ids of calls, and replies that belong to another call, booking or ticket."""

import logging
import random
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferry_sdk import OutcomeUnknownError, UnexpectedResponseError
from ferry_sdk._engine.correlation import RecentIds, next_correlation_id
from tests.backend.children import Child
from tests.backend.gathering import at_once
from tests.engine.replies import booking, good, reply, scripted_driver
from tests.engine.writes import ANSWERS, SHOWN, every_shown, every_write
from tests.support.operations import described
from tests.support.samples import TICKET
from tests.support.tables import each

MANY = 100_000


def new_ids(count):
    return [next_correlation_id() for _ in range(count)]


def test_no_two_ids_are_alike_a_tool_is_held_to_its_argument_and_a_strange_id_logged_once(caplog):
    ids = [one.value() for one in at_once(*[lambda: new_ids(MANY // 20)] * 20)]
    assert len({text for some in ids for text in some}) == MANY
    for text in ids[0][:100]:
        assert (str(UUID(text)), UUID(text).version) == (text, 4)
    state = random.getstate()
    try:
        random.seed(7)
        first, seeded = new_ids(10), random.getstate()
        random.seed(7)
        assert not set(first) & set(new_ids(10))
        assert random.getstate() == seeded, "the program's own dice were thrown"
    finally:
        random.setstate(state)
    operation = described("mcp.call_tool", name="confirm_booking", arguments={"id": "b-1"})
    driver = scripted_driver(good(ANSWERS["bookings.confirm"] | {"booking_id": "b-2"}))
    driver.error(OutcomeUnknownError, operation)
    for answer in (ANSWERS["bookings.confirm"], {"status": "confirmed"}):
        assert scripted_driver(good(answer)).raw(operation).parse()
    driver = scripted_driver(then=good([], **{HEADER: "a gateway's own"}))
    for _ in range(3):
        driver.raw("catalogue.ports")
    (record,) = [one for one in caplog.records if one.levelno >= logging.WARNING]
    assert "another correlation id" in record.getMessage()
    assert "gateway's own" not in record.getMessage()


# The children use nothing that a thread of the parent may hold.
@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")
def test_no_two_of_many_children_are_alike():
    new_ids(1)

    def grandchildren():
        return new_ids(50) + Child(lambda: new_ids(50)).result()

    children = [Child(grandchildren) for _ in range(8)]
    ids = [text for child in children for text in child.result()] + new_ids(50)
    assert len(set(ids)) == len(ids) == 8 * 100 + 50


READS = {
    "bookings.get": (booking(), "booking_id"),
    "tickets.get": (TICKET | {"id": "t-1"}, "id"),
    "tickets.pdf": ({"url": None, "ticket_id": "t-1"}, "ticket_id"),
    "mcp.view_ticket": (TICKET | {"id": "t-1"}, "id"),
}
HEADER = "x_client_correlation_id"


def id_of(name):
    return "booking_id" if "booking" in name else "ticket_id"


@every_shown
def test_a_reply_or_a_state_of_another_booking_shows_no_effect(name):
    other = ANSWERS[name] | {id_of(name): "another"}
    result = scripted_driver(good(other), good(SHOWN[name])).raw(name).parse()
    assert result.read_back
    assert getattr(result, id_of(name)) in {"b-1", "t-1"}
    member = "booking_id" if "booking_id" in SHOWN[name] else "id"
    driver = scripted_driver(reply(503), then=good(SHOWN[name] | {member: "another"}))
    driver.error(OutcomeUnknownError, name, deadline=2.0)


@each("name", READS)
def test_a_read_that_gives_another_one_is_made_again(name):
    mine, member = READS[name]
    driver = scripted_driver(good(mine | {member: "another"}), good(mine))
    driver.raw(name)
    assert len(driver.requests) == 2
    driver = scripted_driver(then=good(mine | {member: "another"}))
    error = driver.error(UnexpectedResponseError, name)
    assert (error.field, error.body) == (member, None)
    assert len(driver.requests) == 3
    assert "another_" not in str(error)


@every_write
def test_a_reply_to_another_call_of_this_process_counts_as_lost_whatever_it_says(name):
    scripted_driver(good([])).raw("catalogue.ports", correlation_id="call-A")
    lost = good(ANSWERS[name], **{HEADER: "call-A"})
    driver = scripted_driver(lost, then=good(SHOWN.get(name), **{HEADER: "call-B"}))
    if name in SHOWN:
        assert driver.raw(name, correlation_id="call-B").parse().read_back
    else:
        driver.error(OutcomeUnknownError, name, correlation_id="call-B")
        assert len(driver.requests) == 1
    refusal = reply(409, {"error": True, "code": "NO"}, **{HEADER: "call-A"})
    scripted_driver(refusal, then=reply(404)).error(
        OutcomeUnknownError, name, correlation_id="call-B"
    )


@given(st.lists(st.text(), max_size=60))
def test_the_ids_of_recent_calls_are_known_and_no_more_than_a_bounded_number(names):
    recent = RecentIds(most=10)
    for name in names:
        recent.add(name)
    distinct = [*dict.fromkeys(reversed(names))]
    assert all(name in recent for name in distinct[:10])
    assert sum(name in recent for name in distinct) <= 20
