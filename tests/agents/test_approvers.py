"""What `approve` may return, and what happens if it raises."""

from contextlib import suppress
from datetime import timedelta

import pytest

from ferry_sdk import ConflictError
from ferry_sdk.agents import Toolkit
from tests.agents.agent import PASSENGERS, approve_all, error, order, result_of, runner_of
from tests.agents.conftest import Checked
from tests.support.tiers import mostly_long


@pytest.mark.parametrize("returned", mostly_long([False, None, 1, "yes", ["yes"]]))
def test_only_true_approves_a_write(toolkit_of, sending_nothing, returned):
    toolkit = toolkit_of(writes=True, approve=lambda _: returned)
    wanted = order(toolkit.sailings()[0])
    with sending_nothing():
        refused = toolkit.fail("bookings_create", "declined", **wanted)
        assert "Do not ask again" in refused["next_step"]
        # Generators and coroutines turn a StopIteration into a RuntimeError.
        with suppress(RuntimeError):
            answer = toolkit.perform("bookings_create", wanted, approve=lambda _: next(iter(())))
            assert error(answer, "internal_error", status="failed")["outcome"] == "not_sent"
    result_of(toolkit.perform("bookings_create", wanted, approve=approve_all))


class SuspendedError(Exception):
    """An exception that suspends a program, such as LangGraph's GraphInterrupt."""


@pytest.mark.parametrize(
    "raised", [SuspendedError(), ZeroDivisionError(), ConflictError("late", status_code=409)]
)
def test_an_exception_of_approve_reaches_the_caller_and_nothing_is_sent(
    toolkit_of, sending_nothing, raised
):
    def approve(_):
        raise raised

    records = []
    price = toolkit_of().sailings()[0]["tariffs"][0]["amount"]
    settings = {"writes": True, "spend_limit": {"EUR": price}, "audit": records.append}
    toolkit = toolkit_of(approve=approve, **settings)
    wanted = order(toolkit.sailings()[0])
    with sending_nothing():
        for _ in range(2):
            with pytest.raises(type(raised)) as caught:
                toolkit.call("bookings_create", wanted)
            assert caught.value is raised
            record = records[-1]
            assert (record.code, record.outcome) == ("interrupted", "not_sent")
        with pytest.raises(type(raised)):
            toolkit.perform("bookings_create", wanted, approve=approve)
    assert toolkit.unresolved == ()
    result_of(toolkit.perform("bookings_create", wanted, approve=approve_all))
    assert not toolkit.is_sending


def test_an_interruption_of_approve_frees_the_amount(ferry, sending_nothing):
    answers = iter([KeyboardInterrupt, None])

    def approve(_):
        if interruption := next(answers):
            raise interruption
        return True

    settings = {"tools": "all", "writes": True, "approve": approve, "spend_limit": {"EUR": 20}}
    toolkit = Checked(Toolkit(ferry, **settings))
    sailing = toolkit.sailings()[0]
    assert float(sailing["tariffs"][0]["amount"]) * 2 > 20
    with sending_nothing(), pytest.raises(KeyboardInterrupt):
        toolkit.call("bookings_create", order(sailing))
    toolkit.do("bookings_create", **order(sailing))


def test_a_digest_approves_only_the_request_that_a_person_saw(
    toolkit_of, ferry_sandbox, sending_nothing
):
    toolkit = toolkit_of(writes=True, approve=approve_all)
    booking_id = toolkit.book()["booking_id"]
    toolkit.do("bookings_confirm", booking_id=booking_id)
    named = {"booking_id": booking_id}
    seen = toolkit.preview("bookings_cancel", named)
    ferry_sandbox.clock.advance(timedelta(days=29, hours=12))
    with sending_nothing():
        for digest in (seen.digest, ""):
            error(toolkit.perform("bookings_cancel", named, approve=digest), "price_changed")
    dearer = toolkit.preview("bookings_cancel", named)
    assert dearer.amount > seen.amount
    result_of(toolkit.perform("bookings_cancel", named, approve=dearer.digest))


def test_a_digest_approves_only_the_arguments_that_a_person_saw(toolkit_of, sending_nothing):
    toolkit = toolkit_of(writes=True, approve=approve_all)
    document = {"doc_type": "Passport", "doc_number": "X1234567", "doc_expiration": "2090-01-01"}
    traveller = {**PASSENGERS[0], **document, "email": "marguerite@example.org"}
    contact = {"name": "Noel Okonkwo", "email": "n@example.org", "prefix": "+44", "phone": "770123"}
    wanted = order(toolkit.sailings()[0], passengers=[traveller], contact=contact)
    seen = toolkit.preview("bookings_create", wanted)
    mails = ('"n@example.org"', '"+44 770123"', '"marguerite@example.org"')
    assert seen.contact == ('"Noel Okonkwo"', *mails)
    for private in ("Okonkwo", "example.org", "X1234567"):
        assert private not in repr(seen)
    mail = {"email": "somebody@example.net"}
    others = [
        {"passengers": [{**traveller, **change}]}
        for change in ({"doc_number": "Z7654321"}, mail, {"nationality": "FR"})
    ]
    others += [
        {"contact": {**contact, **change}}
        for change in (mail, {"name": "Somebody"}, {"phone": "780123"})
    ]
    with sending_nothing():
        for other in (*others, {"contact": None}):
            refused = toolkit.perform("bookings_create", wanted | other, approve=seen.digest)
            error(refused, "price_changed")
    result_of(toolkit.perform("bookings_create", wanted, approve=seen.digest))


def test_a_person_who_refused_twice_is_not_asked_for_ten_minutes(toolkit_of, sending_nothing):
    asked, records = [], []
    settings = {"writes": True, "audit": records.append}
    toolkit = toolkit_of(**settings, approve=asked.append)  # None approves nothing
    runner = runner_of(toolkit)
    runner.writes.clock = lambda: 0.0
    wanted, other = (order(one) for one in toolkit.sailings()[:2])

    def refuse(arguments, *, times):
        before = len(asked)
        for _ in range(times):
            toolkit.fail("bookings_create", "declined", **arguments)
        return len(asked) - before

    with sending_nothing():
        assert refuse(wanted, times=5) == 2
        error(toolkit.preview("bookings_create", wanted), "declined")
        assert [one.approval for one in records[-2:]] == ["callback", None]
        assert refuse(other, times=1) == 1  # another request
        runner.writes.clock = lambda: 599.0
        assert refuse(wanted, times=1) == 0
        runner.writes.clock = lambda: 601.0
        assert refuse(wanted, times=5) == 2
        toolkit.forget_refusals()
        assert refuse(wanted, times=5) == 2
    digest = asked[-1].digest  # the person agrees after all, and the program says so
    result_of(toolkit.perform("bookings_create", wanted, approve=digest))
