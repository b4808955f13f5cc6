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

MANY = 100_000


def new_ids(count):
    return [next_correlation_id() for _ in range(count)]


def test_ids_of_threads_are_unique_uuids():
    ids = [thread.value() for thread in at_once(*[lambda: new_ids(MANY // 20)] * 20)]
    assert len({text for some in ids for text in some}) == MANY
    for text in ids[0][:100]:
        assert (str(UUID(text)), UUID(text).version) == (text, 4)


def test_ids_do_not_use_the_programs_random_state():
    state = random.getstate()
    try:
        random.seed(7)
        first = new_ids(10)
        seeded = random.getstate()
        random.seed(7)
        assert not set(first) & set(new_ids(10))
        assert random.getstate() == seeded
    finally:
        random.setstate(state)


# The children use nothing that a thread of the parent may hold.
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")
def test_ids_of_forked_children_are_unique():
    new_ids(1)

    def grandchildren():
        return new_ids(50) + Child(lambda: new_ids(50)).result()

    children = [Child(grandchildren) for _ in range(8)]
    ids = [text for child in children for text in child.result()] + new_ids(50)
    assert len(set(ids)) == len(ids) == 8 * 100 + 50


# A reply that belongs to another booking or ticket


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
def test_reply_about_another_booking_is_lost(name):
    other = ANSWERS[name] | {id_of(name): "another"}
    result = scripted_driver(good(other), good(SHOWN[name])).raw(name).parse()
    assert result.read_back
    assert getattr(result, id_of(name)) in {"b-1", "t-1"}


@every_shown
def test_state_of_another_booking_shows_no_effect(name):
    member = "booking_id" if "booking_id" in SHOWN[name] else "id"
    driver = scripted_driver(reply(503), then=good(SHOWN[name] | {member: "another"}))
    driver.error(OutcomeUnknownError, name, deadline=2.0)


@pytest.mark.parametrize("name", READS)
def test_read_that_gives_another_is_repeated(name):
    answer, member = READS[name]
    driver = scripted_driver(good(answer | {member: "another"}), good(answer))
    driver.raw(name)
    assert len(driver.requests) == 2


@pytest.mark.parametrize("name", READS)
def test_read_that_gives_only_others_fails(name):
    answer, member = READS[name]
    driver = scripted_driver(then=good(answer | {member: "another"}))
    error = driver.error(UnexpectedResponseError, name)
    assert (error.field, error.body) == (member, None)
    assert len(driver.requests) == 3
    assert "another_" not in str(error)


CONFIRM_BY_ANY_TOOL = described("mcp.call_tool", name="confirm_booking", arguments={"id": "b-1"})


def test_known_tool_must_answer_about_its_argument():
    driver = scripted_driver(good(ANSWERS["bookings.confirm"] | {"booking_id": "b-2"}))
    driver.error(OutcomeUnknownError, CONFIRM_BY_ANY_TOOL)


@pytest.mark.parametrize(
    "answer", [ANSWERS["bookings.confirm"], {"status": "confirmed"}], ids=["its id", "no id"]
)
def test_known_tool_need_not_repeat_its_argument(answer):
    assert scripted_driver(good(answer)).raw(CONFIRM_BY_ANY_TOOL).parse()


# A reply that belongs to another call


@pytest.fixture
def other_call():
    """Make another call of this process, and give its id."""
    scripted_driver(good([])).raw("catalogue.ports", correlation_id="call-A")
    return "call-A"


@every_write
def test_reply_to_another_call_is_lost(name, other_call):
    lost = good(ANSWERS[name], **{HEADER: other_call})
    driver = scripted_driver(lost, then=good(SHOWN.get(name), **{HEADER: "call-B"}))
    if name in SHOWN:
        assert driver.raw(name, correlation_id="call-B").parse().read_back
    else:
        driver.error(OutcomeUnknownError, name, correlation_id="call-B")
        assert len(driver.requests) == 1


@every_write
def test_refusal_of_another_call_is_lost(name, other_call):
    refusal = reply(409, {"error": True, "code": "NO"}, **{HEADER: other_call})
    driver = scripted_driver(refusal, then=reply(404))
    driver.error(OutcomeUnknownError, name, correlation_id="call-B")


def test_unknown_correlation_id_is_logged_once(caplog):
    driver = scripted_driver(then=good([], **{HEADER: "a gateway's own"}))
    for _ in range(3):
        driver.raw("catalogue.ports")
    (record,) = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert "another correlation id" in record.getMessage()
    assert "gateway's own" not in record.getMessage()


def test_unknown_correlation_id_settles_nothing(caplog):
    scripted_driver(then=good([], **{HEADER: "a gateway's own"})).raw("catalogue.ports")
    (record,) = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert record.outcome == "unknown"


@given(st.lists(st.text(), max_size=60))
def test_ids_of_recent_calls_are_bounded(names):
    recent = RecentIds(most=10)
    for name in names:
        recent.add(name)
    distinct = [*dict.fromkeys(reversed(names))]
    assert all(name in recent for name in distinct[:10])
    assert sum(name in recent for name in distinct) <= 20
