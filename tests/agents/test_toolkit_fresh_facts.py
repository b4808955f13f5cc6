"""Changes during an approval are noticed before the write is sent."""

from datetime import datetime, timedelta
from decimal import Decimal

import pytest

from ferry_sdk import Records, SearchPassenger
from ferry_sdk.agents.policy.answers import RefusedError
from ferry_sdk.agents.policy.budget import Budget
from tests.agents.agent import (
    TRAVELLERS,
    approve_all,
    order,
    result_of,
    runner_of,
    selection_of,
)

PARTY = [SearchPassenger(**one) for one in TRAVELLERS]


@pytest.mark.parametrize(
    ("name", "subject"),
    [("bookings_cancel", "booking_id"), ("tickets_cancel", "ticket_id")],
    ids=["booking", "ticket"],
)
def test_a_penalty_that_rises_during_approval_is_refused(toolkit_of, ferry_sandbox, name, subject):
    def slowly(request):
        if request.tool == name:
            ferry_sandbox.clock.travel_to(leaving - timedelta(minutes=30))
        return True

    toolkit = toolkit_of(writes=True, approve=slowly)
    sailing = toolkit.sailings()[0]
    leaving = datetime.fromisoformat(sailing["depart_at"])
    flexible = {**selection_of(sailing), "tariff_id": f"{sailing['id']}.FLEX"}
    made = toolkit.do("bookings_create", **order(sailing, availabilities=[flexible]))
    confirmed = toolkit.pay(made["booking_id"])
    named = {subject: confirmed[subject]}
    assert toolkit.fail(name, "penalty_exceeded", "failed", **named)["outcome"] == "not_sent"
    assert ferry_sandbox.counters.requests[name.replace("_", ".")] == 0


def test_a_total_that_changes_during_approval_is_refused(toolkit_of, ferry_sandbox):
    def slowly(request):
        if request.tool == "bookings_confirm":
            (ticket,) = ferry_sandbox.service._sales["default"]._bookings[booking_id].tickets
            ticket.reprice(Decimal(2), Decimal(0))
        return True

    toolkit = toolkit_of(writes=True, approve=slowly)
    booking_id = toolkit.book()["booking_id"]
    refused = toolkit.fail("bookings_confirm", "price_changed", "failed", booking_id=booking_id)
    assert refused["outcome"] == "not_sent"
    assert ferry_sandbox.counters.requests["bookings.confirm"] == 0


@pytest.fixture
def changes():
    """What the service says otherwise once the person is asked; one change a question."""
    return []


@pytest.fixture
def changing(toolkit_of, ferry_sandbox, changes):
    """A toolkit whose person takes so long that the service's answers change."""

    def slowly(request):
        read = "bookings.get" if request.tool == "bookings_confirm" else "bookings.cancel_fee"
        if changes:
            ferry_sandbox.faults.add("unknown_enum", read, **changes.pop())
        return True

    limits = {"EUR": 1000, "KWD": 1000}
    return toolkit_of(writes=True, approve=slowly, spend_limit=limits, penalty_limit=limits)


def test_a_currency_that_changes_during_approval_is_refused(changing, changes):
    booking = changing.book()
    named = {"booking_id": booking["booking_id"]}
    changes.append({"field": "currency", "value": "KWD"})
    refused = changing.fail("bookings_confirm", "price_changed", "failed", **named)
    assert refused["expected"] == refused["found"] == booking["total_price"]
    assert (refused["expected_currency"], refused["currency"]) == ("EUR", "KWD")
    assert {"EUR", "KWD"} <= {*refused["message"].replace(",", "").split()}
    changing.do("bookings_confirm", **named)


each_cancellation = pytest.mark.parametrize(
    ("tool", "subject"),
    [("bookings_cancel", "booking_id"), ("tickets_cancel", "ticket_id")],
    ids=["booking", "ticket"],
)


@each_cancellation
def test_a_penalty_in_another_currency_is_refused(changing, changes, ferry_sandbox, tool, subject):
    named = {subject: changing.book_and_pay()[subject]}
    changes.append({"field": "currency", "value": "KWD"})
    refused = changing.fail(tool, "penalty_exceeded", "failed", **named)
    assert refused["max_penalty"] == refused["penalty"]
    assert (refused["expected_currency"], refused["currency"]) == ("EUR", "KWD")
    assert ferry_sandbox.counters.requests[tool.replace("_", ".")] == 0


@each_cancellation
def test_a_refund_that_falls_during_approval_is_refused(
    changing, changes, ferry_sandbox, tool, subject
):
    named = {subject: changing.book_and_pay()[subject]}
    changes.append({"field": "refund_amount", "value": "0.01"})
    refused = changing.fail(tool, "penalty_exceeded", "failed", **named)
    assert Decimal(refused["min_refund"]) > Decimal(refused["refund"]) == Decimal("0.01")
    assert refused["min_refund"] in refused["message"]
    assert ferry_sandbox.counters.requests[tool.replace("_", ".")] == 0
    changing.do(tool, **named)


@pytest.mark.parametrize(
    ("tool", "read", "code"),
    [
        ("bookings_confirm", "bookings.get", "spend_limit"),
        ("bookings_cancel", "bookings.cancel_fee", "penalty_limit"),
    ],
    ids=["confirm", "cancel"],
)
def test_a_currency_without_a_limit_asks_nobody(
    toolkit_of, agree, asked, ferry_sandbox, sending_nothing, tool, read, code
):
    limits = {"EUR": 1000}
    toolkit = toolkit_of(writes=True, approve=agree, spend_limit=limits, penalty_limit=limits)
    named = {"booking_id": toolkit.book()["booking_id"]}
    ferry_sandbox.faults.add("unknown_enum", read, field="currency", value="KWD")
    with sending_nothing():
        assert toolkit.fail(tool, code, **named)["currency"] == "KWD"
    assert [request.tool for request in asked] == ["bookings_create"]


@pytest.fixture
def maker(toolkit_of):
    """A toolkit whose bookings another one has read."""
    return toolkit_of(writes=True, approve=approve_all)


@pytest.fixture
def codes_of(toolkit_of, agree, asked, sending_nothing):
    """Return the codes of calls by a toolkit that has read the booking; nobody is asked."""

    def call(booking_id, *calls):
        toolkit = toolkit_of(writes=True, approve=agree)
        toolkit.do("bookings_get", booking_id=booking_id)
        with sending_nothing():
            answers = [toolkit.call(*each) for each in calls]
        assert {answer["status"] for answer in answers} == {"refused"}
        assert all(answer["error"]["next_step"] for answer in answers)
        assert asked == []
        return [answer["error"]["code"] for answer in answers]

    return call


def calls_for(booking_id, ticket_id):
    """Return calls that confirm and cancel a booking, and that cancel its ticket."""
    return [
        ("bookings_confirm", {"booking_id": booking_id}),
        ("bookings_cancel", {"booking_id": booking_id}),
        ("tickets_cancel", {"ticket_id": ticket_id}),
    ]


def test_nobody_is_asked_to_pay_twice(maker, codes_of):
    booking_id = maker.book_and_pay()["booking_id"]
    confirm, *_ = calls_for(booking_id, "")
    assert codes_of(booking_id, confirm) == ["already_paid"]


def test_nobody_is_asked_while_tickets_are_issued(maker, codes_of, ferry_sandbox):
    booking_id = maker.book()["booking_id"]
    ferry_sandbox.faults.add("fails_later", "bookings.confirm", seconds=3600)
    maker.pay(booking_id)
    confirm, *_ = calls_for(booking_id, "")
    assert codes_of(booking_id, confirm) == ["already_paid"]


def test_nobody_is_asked_about_a_cancelled_booking(maker, codes_of):
    paid = maker.book_and_pay()
    booking_id = paid["booking_id"]
    maker.do("bookings_cancel", booking_id=booking_id)
    calls = calls_for(booking_id, paid["ticket_id"])
    assert codes_of(booking_id, *calls) == ["already_cancelled"] * 3


def test_a_refused_fee_shows_that_cancelling_is_done(maker, codes_of, ferry_sandbox):
    booking_id = maker.book_and_pay()["booking_id"]
    maker.do("bookings_cancel", booking_id=booking_id)
    ferry_sandbox.faults.add("refused", "bookings.cancel_fee", status=409, code="CONFLICT")
    _, cancel, _ = calls_for(booking_id, "")
    assert codes_of(booking_id, cancel) == ["already_cancelled"]


def test_nobody_is_asked_about_a_lapsed_booking(maker, codes_of, ferry_sandbox):
    booking_id = maker.book(1)["booking_id"]
    read = maker.do("bookings_get", booking_id=booking_id)
    ferry_sandbox.clock.advance(timedelta(hours=3))
    calls = calls_for(booking_id, read["tickets"][0]["id"])
    assert codes_of(booking_id, *calls) == ["booking_ended"] * 3


def test_a_lapsed_booking_may_be_made_again(maker, ferry_sandbox):
    booking_id = maker.book(1)["booking_id"]
    ferry_sandbox.clock.advance(timedelta(hours=3))
    maker.fail("bookings_confirm", "booking_ended", booking_id=booking_id)
    maker.book(1)


def test_a_repeated_confirmation_tells_the_present_state(
    toolkit, ferry, ferry_sandbox, sending_nothing
):
    named = {"booking_id": toolkit.book()["booking_id"]}
    confirmed = toolkit.do("bookings_confirm", **named)
    with sending_nothing():
        assert toolkit.fail("bookings_confirm", "already_done", **named)["result"] == confirmed
        ferry_sandbox.faults.add("server_error", "bookings.get", times=None)
        toolkit.fail("bookings_confirm", "already_done", **named)
        ferry_sandbox.faults.clear()
    ferry.bookings.cancel(**named)
    with sending_nothing():
        toolkit.fail("bookings_confirm", "already_cancelled", **named)


def test_a_failed_read_before_a_write_sends_nothing(toolkit_of, agree, ferry_sandbox):
    toolkit = toolkit_of({"max_retries": 0}, writes=True, approve=agree)
    named = {"booking_id": toolkit.book()["booking_id"]}
    ferry_sandbox.faults.add("cut_before", "bookings.get")
    failed = toolkit.fail("bookings_confirm", "connection_failed", "failed", **named)
    assert failed["outcome"] == "not_sent"


def test_a_fee_of_a_cancelled_ticket_ends_nothing(toolkit, ferry_sandbox):
    named = {"booking_id": toolkit.book()["booking_id"]}
    ended = {"field": "ticket_status", "value": "Canceled"}
    ferry_sandbox.faults.add("unknown_enum", "bookings.cancel_fee", **ended)
    toolkit.do("bookings_cancel", **named)


@pytest.fixture
def outpaced(toolkit_of, ferry):
    """A toolkit whose person makes the write by hand before they agree, except a booking."""

    def approve(request):
        if request.tool == "bookings_confirm":
            ferry.bookings.confirm(**request.subject)
        if request.tool == "bookings_cancel":
            ferry.bookings.cancel(**request.subject)
        return True

    return toolkit_of(writes=True, approve=approve)


@pytest.mark.parametrize(
    ("tool", "code"),
    [("bookings_confirm", "already_paid"), ("bookings_cancel", "already_cancelled")],
    ids=["confirm", "cancel"],
)
def test_a_write_made_during_approval_is_not_repeated(outpaced, sending_nothing, tool, code):
    named = {"booking_id": outpaced.book()["booking_id"]}
    refused = outpaced.fail(tool, code, "failed", **named)
    assert refused["outcome"] == "not_sent"
    assert refused["result"]["booking_id"] == named["booking_id"]
    with sending_nothing():
        outpaced.fail(tool, code, **named)


def test_a_booking_cancelled_elsewhere_may_be_repeated(outpaced):
    named = {"booking_id": outpaced.book()["booking_id"]}
    outpaced.fail("bookings_cancel", "already_cancelled", "failed", **named)
    outpaced.book()


@pytest.mark.parametrize("is_refused", [False, True], ids=["declined", "refused"])
def test_an_unsent_write_frees_its_amount(toolkit_of, ferry_sandbox, is_refused):
    found = toolkit_of().sailings()[:2]
    price = max((one["tariffs"][0]["amount"] for one in found), key=Decimal)
    saying = iter([is_refused, True])
    toolkit = toolkit_of(writes=True, approve=lambda _: next(saying), spend_limit={"EUR": price})
    first, second = toolkit.sailings()[:2]
    if is_refused:
        ferry_sandbox.faults.add("unauthorized", "bookings.create", status=403)
        toolkit.fail("bookings_create", "forbidden", "failed", **order(first))
    else:
        toolkit.fail("bookings_create", "declined", **order(first))
    toolkit.do("bookings_create", **order(second))


def test_a_booking_in_another_currency_has_a_note(toolkit_of, ferry_sandbox):
    limits = {"EUR": 100, "GBP": 100}
    toolkit = toolkit_of(writes=True, approve=approve_all, spend_limit=limits)
    ferry_sandbox.faults.add("unknown_enum", "bookings.create", field="currency", value="GBP")
    sailing = toolkit.sailings()[0]
    answer = toolkit.call("bookings_create", order(sailing))
    price = sailing["tariffs"][0]["amount"]
    assert (result_of(answer)["total_price"], result_of(answer)["currency"]) == (price, "GBP")
    (note,) = answer["notes"]
    assert f"approved were {price} EUR, the booking costs {price} GBP" in note


def test_a_later_search_in_another_currency_counts(toolkit, sending_nothing):
    sailing = toolkit.sailings()[1]
    known_ids = runner_of(toolkit).writes.state.known_ids
    shown = known_ids.sailings.get(sailing["id"]).sailing
    tariffs = [tariff.model_copy(update={"currency": "GBP"}) for tariff in shown.tariffs]
    again = shown.model_copy(update={"id": "another", "tariffs": tariffs})
    known_ids.remember(Records([again]), {"passengers": PARTY})
    with sending_nothing():
        toolkit.fail("bookings_create", "price_changed", **order(sailing))


@pytest.fixture
def spent():
    """A budget in which all that may be spent and kept is, in two currencies."""
    budget = Budget({"EUR": 20, "GBP": 20}, {"EUR": 20, "GBP": 20})
    for currency in ("EUR", "GBP"):
        budget.hold(f"in {currency}", Decimal(20), currency)
        budget.hold_penalty("b-1", f"in {currency}", Decimal(20), currency)
    return budget


def test_money_is_counted_by_currency(spent):
    with pytest.raises(RefusedError) as caught:
        spent.hold("more", Decimal("0.01"), "EUR")
    assert caught.value.answer["error"]["spent"] == "20"


def test_penalties_are_counted_by_currency(spent):
    with pytest.raises(RefusedError) as caught:
        spent.hold_penalty("b-1", "more", Decimal("0.01"), "GBP")
    assert caught.value.answer["error"]["kept"] == "20"


def test_penalties_are_counted_by_booking(spent):
    spent.hold_penalty("b-2", "more", Decimal(20), "GBP")
