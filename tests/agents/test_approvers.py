"""What `approve` may return, and what happens if it raises."""

from contextlib import suppress
from datetime import timedelta

import pytest

from ferry_sdk import ConflictError
from ferry_sdk.agents import Toolkit
from tests.agents.agent import PASSENGERS, approve_all, error, order, result_of, runner_of
from tests.agents.conftest import Checked
from tests.support.tiers import mostly_long


@pytest.mark.parametrize("returned", mostly_long([False, None, 1, "yes", ["yes"]]), ids=repr)
def test_only_true_approves_a_write(toolkit_of, sending_nothing, returned):
    toolkit = toolkit_of(writes=True, approve=lambda _: returned)
    wanted = order(toolkit.sailings()[0])
    with sending_nothing():
        refused = toolkit.fail("bookings_create", "declined", **wanted)
    assert "Do not ask again" in refused["next_step"]
    result_of(toolkit.perform("bookings_create", wanted, approve=approve_all))


def test_the_end_of_an_iterator_approves_nothing(toolkit_of, sending_nothing):
    """Generators and coroutines turn a StopIteration into a RuntimeError."""
    toolkit = toolkit_of(writes=True)
    wanted = order(toolkit.sailings()[0])
    with sending_nothing(), suppress(RuntimeError):
        answer = toolkit.perform("bookings_create", wanted, approve=lambda _: next(iter(())))
        assert error(answer, "internal_error", status="failed")["outcome"] == "not_sent"


class SuspendedError(Exception):
    """An exception that suspends a program, such as LangGraph's GraphInterrupt."""


@pytest.mark.parametrize(
    "raised",
    [SuspendedError(), ZeroDivisionError(), ConflictError("late", status_code=409)],
    ids=lambda raised: type(raised).__name__,
)
def test_an_exception_of_approve_reaches_the_caller(toolkit_of, sending_nothing, raised):
    def approve(_):
        raise raised

    records = []
    price = toolkit_of().sailings()[0]["tariffs"][0]["amount"]
    settings = {"writes": True, "spend_limit": {"EUR": price}, "audit": records.append}
    toolkit = toolkit_of(approve=approve, **settings)
    wanted = order(toolkit.sailings()[0])
    with sending_nothing():
        with pytest.raises(type(raised)) as caught:
            toolkit.call("bookings_create", wanted)
        assert caught.value is raised
        assert (records[-1].code, records[-1].outcome) == ("interrupted", "not_sent")
        with pytest.raises(type(raised)):  # the write is not registered any more
            toolkit.perform("bookings_create", wanted, approve=approve)
    assert toolkit.unresolved == ()
    assert not toolkit.is_sending
    result_of(toolkit.perform("bookings_create", wanted, approve=approve_all))


def test_an_interruption_of_approve_frees_the_amount(ferry, sending_nothing):
    answers = iter([KeyboardInterrupt, None])

    def approve(_):
        interruption = next(answers)
        if interruption is not None:
            raise interruption
        return True

    settings = {"tools": "all", "writes": True, "approve": approve, "spend_limit": {"EUR": 20}}
    toolkit = Checked(Toolkit(ferry, **settings))
    sailing = toolkit.sailings()[0]
    assert float(sailing["tariffs"][0]["amount"]) * 2 > 20
    with sending_nothing(), pytest.raises(KeyboardInterrupt):
        toolkit.call("bookings_create", order(sailing))
    toolkit.do("bookings_create", **order(sailing))


def test_a_digest_approves_only_the_price_seen(toolkit_of, ferry_sandbox, sending_nothing):
    toolkit = toolkit_of(writes=True, approve=approve_all)
    named = {"booking_id": toolkit.book_and_pay()["booking_id"]}
    seen = toolkit.preview("bookings_cancel", named)
    ferry_sandbox.clock.advance(timedelta(days=29, hours=12))
    with sending_nothing():
        error(toolkit.perform("bookings_cancel", named, approve=seen.digest), "price_changed")
        error(toolkit.perform("bookings_cancel", named, approve=""), "price_changed")
    dearer = toolkit.preview("bookings_cancel", named)
    assert dearer.amount > seen.amount
    result_of(toolkit.perform("bookings_cancel", named, approve=dearer.digest))


DOCUMENT = {"doc_type": "Passport", "doc_number": "X1234567", "doc_expiration": "2090-01-01"}
TRAVELLER = {**PASSENGERS[0], **DOCUMENT, "email": "marguerite@example.org"}
CONTACT = {"name": "Noel Okonkwo", "email": "n@example.org", "prefix": "+44", "phone": "770123"}


def with_contact(toolkit):
    return order(toolkit.sailings()[0], passengers=[TRAVELLER], contact=CONTACT)


def test_the_repr_of_a_request_hides_the_contact(toolkit_of):
    toolkit = toolkit_of(writes=True)
    seen = toolkit.preview("bookings_create", with_contact(toolkit))
    mails = ('"n@example.org"', '"+44 770123"', '"marguerite@example.org"')
    assert seen.contact == ('"Noel Okonkwo"', *mails)
    shown = repr(seen)
    assert [text for text in ("Okonkwo", "example.org", "X1234567") if text in shown] == []


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"passengers": [{**TRAVELLER, "doc_number": "Z7654321"}]}, id="document"),
        pytest.param({"passengers": [{**TRAVELLER, "email": "s@example.net"}]}, id="mail"),
        pytest.param({"passengers": [{**TRAVELLER, "nationality": "FR"}]}, id="nationality"),
        pytest.param({"contact": {**CONTACT, "email": "s@example.net"}}, id="contact's mail"),
        pytest.param({"contact": {**CONTACT, "name": "Somebody"}}, id="contact's name"),
        pytest.param({"contact": {**CONTACT, "phone": "780123"}}, id="contact's phone"),
        pytest.param({"contact": None}, id="no contact"),
    ],
)
def test_a_digest_approves_only_the_arguments_seen(toolkit_of, sending_nothing, changes):
    toolkit = toolkit_of(writes=True)
    wanted = with_contact(toolkit)
    seen = toolkit.preview("bookings_create", wanted)
    with sending_nothing():
        refused = toolkit.perform("bookings_create", wanted | changes, approve=seen.digest)
    error(refused, "price_changed")


def test_a_digest_approves_the_arguments_seen(toolkit_of):
    toolkit = toolkit_of(writes=True)
    wanted = with_contact(toolkit)
    seen = toolkit.preview("bookings_create", wanted)
    result_of(toolkit.perform("bookings_create", wanted, approve=seen.digest))


class RefusingPerson:
    """A person who refuses everything, and the toolkit that asks them.

    Attributes:
        asked: The questions that they were asked.
    """

    def __init__(self, toolkit_of, records):
        self.asked = []
        # `append` returns None, which approves nothing.
        self.toolkit = toolkit_of(writes=True, audit=records.append, approve=self.asked.append)
        self.set_clock(0.0)

    def set_clock(self, seconds):
        runner_of(self.toolkit).writes.approvals.clock = lambda: seconds

    def refuse(self, arguments, *, times):
        """Call for a booking so often; return how often the person was asked."""
        before = len(self.asked)
        for _ in range(times):
            self.toolkit.fail("bookings_create", "declined", **arguments)
        return len(self.asked) - before


@pytest.fixture
def records():
    return []


@pytest.fixture
def person(toolkit_of, records):
    return RefusingPerson(toolkit_of, records)


@pytest.fixture
def twice_refused(person, sending_nothing):
    """A booking that the person has refused twice, of five calls."""
    wanted = order(person.toolkit.sailings()[0])
    with sending_nothing():
        assert person.refuse(wanted, times=5) == 2
    return wanted


def test_a_preview_does_not_ask_a_third_time(person, twice_refused, records):
    error(person.toolkit.preview("bookings_create", twice_refused), "declined")
    assert [record.approval for record in records[-2:]] == ["callback", None]


@pytest.mark.usefixtures("twice_refused")
def test_another_request_is_asked_about(person):
    assert person.refuse(order(person.toolkit.sailings()[1]), times=1) == 1


def test_a_refusal_counts_for_ten_minutes(person, twice_refused):
    person.set_clock(599.0)
    assert person.refuse(twice_refused, times=1) == 0
    person.set_clock(601.0)
    assert person.refuse(twice_refused, times=5) == 2


def test_forgotten_refusals_are_asked_about_again(person, twice_refused):
    person.toolkit.forget_refusals()
    assert person.refuse(twice_refused, times=5) == 2


def test_a_digest_counts_after_two_refusals(person, twice_refused):
    """The person agrees after all, and the program says so."""
    digest = person.asked[-1].digest
    result_of(person.toolkit.perform("bookings_create", twice_refused, approve=digest))
