"""What an answer counts for at a newer host, which repeats the call with it."""

from decimal import Decimal

import pytest
from mcp import types

from tests.agents.agent import PASSENGERS, book, error, order, result_of, sailings
from tests.stdio.conftest import NO, YES, Person, answer_of, named
from tests.support.effects import effects

pytestmark = pytest.mark.parametrize("hosts", ["modern"], indirect=True)
CREATE, CONFIRM, CANCEL = "bookings_create", "bookings_confirm", "bookings_cancel"


def send(host, name, arguments, state=None, answer=None):
    responses = {} if answer is None else {"input_responses": {"approval": answer}}
    more = {"request_state": state, "allow_input_required": True, **responses}

    async def call():
        return await host.client.session.call_tool(name, arguments, **more)

    return host.wait(call)


def ask(*call):
    """Return the state and the approval of the question that a call is answered with."""
    result = send(*call)
    assert isinstance(result, types.InputRequiredResult)
    (box,) = result.input_requests["approval"].params.requested_schema["properties"]
    return result.request_state, named(YES, box)


@pytest.fixture
def host(hosts):
    """A host that repeats its calls."""
    return hosts(Person(), "--writes")


def test_approval_makes_one_write(host, ferry_sandbox):
    wanted = order(sailings(host)[0])
    state, yes = ask(host, CREATE, wanted)
    result_of(answer_of(send(host, CREATE, wanted, state, yes)))
    error(answer_of(send(host, CREATE, wanted, state, yes)), "already_done")
    assert effects(ferry_sandbox) == ["bookings.create"]


@pytest.mark.parametrize("state", [None, "", "guessed"])
def test_approval_with_an_invented_state_is_asked_anew(host, ferry_sandbox, state):
    wanted = order(sailings(host)[0])
    _, yes = ask(host, CREATE, wanted)
    ask(host, CREATE, wanted, state, yes)
    assert effects(ferry_sandbox) == []


def test_state_without_an_answer_is_asked_anew(host, ferry_sandbox):
    wanted = order(sailings(host)[0])
    state, yes = ask(host, CREATE, wanted)
    ask(host, CREATE, wanted, state)
    ask(host, CREATE, wanted, state, yes)
    assert effects(ferry_sandbox) == []


def test_approval_is_used_up_by_other_arguments(host, ferry_sandbox):
    first, second = (order(sailing) for sailing in sailings(host)[:2])
    state, yes = ask(host, CREATE, first)
    for arguments in (second, first):
        ask(host, CREATE, arguments, state, yes)
    assert effects(ferry_sandbox) == []


def test_declined_question_cannot_be_approved(host, ferry_sandbox):
    wanted = order(sailings(host)[0])
    state, yes = ask(host, CREATE, wanted)
    error(answer_of(send(host, CREATE, wanted, state, NO)), "declined")
    ask(host, CREATE, wanted, state, yes)
    assert effects(ferry_sandbox) == []


def test_answer_reaches_another_process(hosts, ferry_sandbox, tmp_path):
    file = tmp_path / "agent.db"
    first, second = (hosts(Person(), "--writes", "--state", str(file)) for _ in range(2))
    arguments = order(sailings(first)[0])
    result_of(answer_of(send(second, CREATE, arguments, *ask(first, CREATE, arguments))))
    assert len(ferry_sandbox.counters.effects) == 1
    assert PASSENGERS[0]["last_name"].encode() not in file.read_bytes()


def test_approval_is_for_the_total_shown(host, ferry_sandbox):
    """It rises between the answer and the repeated call."""
    booking = book(host)
    which = {"booking_id": booking["booking_id"]}
    kept, recorded = ask(host, CONFIRM, which)
    (ticket,) = ferry_sandbox.service._sales["default"]._bookings[booking["booking_id"]].tickets
    ticket.reprice(Decimal(2), Decimal(0))
    for state in (None, kept):
        error(answer_of(send(host, CONFIRM, which, state, recorded)), "price_changed")
    dearer = which | {"expect_total": str(2 * Decimal(str(booking["total_price"])))}
    anew, _ = ask(host, CONFIRM, dearer)
    for old in (kept, anew):
        asked = ask(host, CONFIRM, dearer, old, recorded)
    assert ferry_sandbox.counters.requests["bookings.confirm"] == 0
    result_of(answer_of(send(host, CONFIRM, dearer, *asked)))


def test_approval_counts_for_an_equal_question(host, ferry_sandbox):
    arguments = order(sailings(host)[0])
    _, recorded = ask(host, CREATE, arguments)
    state, yes = ask(host, CREATE, arguments)
    assert yes == recorded
    made = result_of(answer_of(send(host, CREATE, arguments, state, recorded)))
    result_of(host.call(CANCEL, {"booking_id": made["booking_id"]}))
    state, yes = ask(host, CREATE, arguments)  # the same again, and yet another booking
    assert yes != recorded
    ask(host, CREATE, arguments, state, recorded)
    assert len(ferry_sandbox.counters.effects) == 2
