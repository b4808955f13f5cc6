"""How often a person is asked the same, and how often about one tool."""

from threading import Event, Thread

import pytest

from ferry_sdk.agents import Toolkit
from ferry_sdk.agents.policy.approval import _MAX_QUESTIONS
from tests.agents.agent import PASSENGERS, approve_all, error, order, result_of, runner_of
from tests.agents.conftest import Checked
from tests.support.tiers import mostly_long


@pytest.fixture
def asked():
    """Return the requests that a person has seen, and refused."""
    return []


@pytest.fixture
def toolkit(toolkit_of, asked):
    """Return a toolkit whose person refuses everything, and whose clock stands still."""
    toolkit = toolkit_of(writes=True, approve=asked.append)  # None approves nothing
    runner_of(toolkit).writes.approvals.clock = lambda: 0.0
    return toolkit


def named(first_name):
    return [{**PASSENGERS[0], "first_name": first_name}]


def test_a_new_search_makes_no_new_question(toolkit, asked, sending_nothing):
    with sending_nothing():
        for _ in range(5):
            toolkit.fail("bookings_create", "declined", **order(toolkit.sailings()[0]))
    assert len(asked) == 2
    assert asked[0].subject != asked[1].subject
    assert asked[0].summary == asked[1].summary


@pytest.mark.parametrize(
    "spelling", mostly_long(["MARGUERITE", "Márguerite", "Marguerite.", "marguerite"])
)
def test_another_spelling_makes_no_new_question(toolkit, asked, spelling):
    sailing = toolkit.sailings()[0]
    for first_name in ("Marguerite", spelling, spelling):
        toolkit.fail("bookings_create", "declined", **order(sailing, passengers=named(first_name)))
    assert len(asked) == 2


def test_hidden_arguments_make_no_new_question(toolkit, asked):
    sailing = toolkit.sailings()[0]
    for nationality in ("GB", "FR", "IT"):
        passengers = [{**PASSENGERS[0], "nationality": nationality}]
        toolkit.fail("bookings_create", "declined", **order(sailing, passengers=passengers))
    assert len(asked) == 2


def name_of(number):
    """Return one of many names that nobody takes for another spelling of one."""
    return f"Ib{'bcdfghjklmnpqrst'[number]}o"


@pytest.fixture
def refused_often(toolkit, asked):
    """Return a sailing of a toolkit that has used up its questions about bookings."""
    sailing = toolkit.sailings()[0]
    for number in range(_MAX_QUESTIONS):
        wanted = order(sailing, passengers=named(name_of(number)))
        toolkit.fail("bookings_create", "declined", **wanted)
    assert len(asked) == _MAX_QUESTIONS
    return sailing


def test_a_tool_asks_ten_questions_without_approval(toolkit, asked, refused_often):
    other = order(refused_often, passengers=named("Zoe"))
    refused = toolkit.fail("bookings_create", "declined", **other)
    assert "10 questions" in refused["message"]
    assert error(toolkit.preview("bookings_create", other), "declined") == refused
    assert len(asked) == _MAX_QUESTIONS


def test_questions_count_for_ten_minutes(toolkit, asked, refused_often):
    runner_of(toolkit).writes.approvals.clock = lambda: 601.0
    toolkit.fail("bookings_create", "declined", **order(toolkit.sailings()[0]))
    assert len(asked) == _MAX_QUESTIONS + 1


def test_forgotten_refusals_make_room_for_questions(toolkit, asked, refused_often):
    toolkit.forget_refusals()
    toolkit.fail("bookings_create", "declined", **order(refused_often))
    assert len(asked) == _MAX_QUESTIONS + 1


def test_each_tool_has_questions_of_its_own(toolkit, asked, refused_often):
    again = order(refused_often, passengers=named(name_of(0)))
    made = result_of(toolkit.perform("bookings_create", again, approve=approve_all))
    toolkit.fail("bookings_create", "declined", **order(refused_often, passengers=named("Zoe")))
    toolkit.fail("bookings_cancel", "declined", booking_id=made["booking_id"])
    assert asked[-1].tool == "bookings_cancel"


@pytest.mark.parametrize("way", ["callback", "digest"])
def test_approved_questions_do_not_count(toolkit, way):
    sailing = toolkit.sailings()[0]
    for number in range(_MAX_QUESTIONS + 2):
        wanted = order(sailing, passengers=named(name_of(number)))
        approve = approve_all
        if way == "digest":
            approve = toolkit.preview("bookings_create", wanted).digest
        result_of(toolkit.perform("bookings_create", wanted, approve=approve))


class SuspendedError(Exception):
    """What an approver raises that asks a person while the program is suspended."""


def test_suspended_questions_count_until_they_are_approved(toolkit):
    def suspend(_):
        raise SuspendedError

    sailing = toolkit.sailings()[0]
    orders = [
        order(sailing, passengers=named(name_of(number))) for number in range(_MAX_QUESTIONS + 1)
    ]
    for wanted in orders[:-1]:
        with pytest.raises(SuspendedError):
            toolkit.perform("bookings_create", wanted, approve=suspend)
    error(toolkit.perform("bookings_create", orders[-1], approve=suspend), "declined")
    digest = toolkit.preview("bookings_create", orders[0]).digest
    result_of(toolkit.perform("bookings_create", orders[0], approve=digest))
    with pytest.raises(SuspendedError):
        toolkit.perform("bookings_create", orders[-1], approve=suspend)


def test_refusals_are_shared_by_a_state_file(toolkit_of, asked, tmp_path):
    settings = {"writes": True, "approve": asked.append, "state": tmp_path / "agent.db"}
    for _ in range(4):
        toolkit = toolkit_of(**settings)
        toolkit.fail("bookings_create", "declined", **order(toolkit.sailings()[0]))
    assert len(asked) == 2


def test_equal_calls_at_once_ask_once(ferry, asked, ferry_sandbox):
    asking, over = Event(), Event()

    def approve(request):
        asked.append(request)
        asking.set()
        return over.wait(30)

    toolkit = Checked(Toolkit(ferry, tools="all", writes=True, approve=approve))
    wanted = order(toolkit.sailings()[0])
    answers = []
    first = Thread(target=lambda: answers.append(toolkit.call("bookings_create", wanted)))
    first.start()
    assert asking.wait(30)
    again = order(toolkit.sailings()[0])  # the same booking, found by another search
    error(toolkit.call("bookings_create", again), "under_way")
    over.set()
    first.join()
    result_of(answers[0])
    assert len(asked) == 1
    assert len(ferry_sandbox.counters.effects) == 1
