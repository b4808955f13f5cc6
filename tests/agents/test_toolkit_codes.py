"""A confirmation code is valid for one write at one price, once, for five minutes."""

from datetime import datetime, timedelta

import pytest

from ferry_sdk import Records
from ferry_sdk.agents.policy.answers import RefusedError
from ferry_sdk.agents.policy.approval import Codes
from ferry_sdk.agents.policy.known_ids import KnownIds, KnownSailing
from ferry_sdk.agents.policy.state import State
from ferry_sdk.models import BookingCreated
from tests.agents.agent import PASSENGERS, approve_all, error, order, runner_of
from tests.support.samples import BOOKING_CREATED


def with_code(toolkit, name, arguments):
    answer = toolkit.call(name, arguments)
    assert answer["status"] == "approval_needed", answer
    return {**arguments, "confirmation_code": answer["approval"]["confirmation_code"]}


@pytest.fixture
def booking_id(toolkit_of):
    return toolkit_of(writes=True, approve=approve_all).book()["booking_id"]


@pytest.fixture
def toolkit(toolkit_of, booking_id):
    """Return a toolkit that accepts codes and has shown the booking."""
    made = toolkit_of(writes=True)
    made.do("bookings_get", booking_id=booking_id)
    return made


def test_a_code_for_another_booking_is_used_up(toolkit, ferry_sandbox):
    first, second = (order(sailing) for sailing in toolkit.sailings()[:2])
    coded = with_code(toolkit, "bookings_create", first)
    toolkit.fail(
        "bookings_create",
        "code_invalid",
        **{**second, "confirmation_code": coded["confirmation_code"]},
    )
    toolkit.fail("bookings_create", "code_invalid", **coded)
    assert ferry_sandbox.counters.requests["bookings.create"] == 1


def test_a_code_is_for_the_same_travellers(toolkit, ferry_sandbox):
    coded = with_code(toolkit, "bookings_create", order(toolkit.sailings()[0]))
    somebody = {**PASSENGERS[0], "first_name": "Somebody"}
    toolkit.fail("bookings_create", "code_invalid", **{**coded, "passengers": [somebody]})
    assert ferry_sandbox.counters.requests["bookings.create"] == 1


def test_a_code_is_for_the_sailing_shown(toolkit, ferry_sandbox):
    wanted = order(toolkit.sailings()[0])
    coded = with_code(toolkit, "bookings_create", wanted)
    known_ids = runner_of(toolkit).writes.state.known_ids
    sailing = known_ids.sailings.get(wanted["availabilities"][0]["availability_id"]).sailing
    later = sailing.model_copy(update={"depart_at": sailing.depart_at + timedelta(days=1)})
    known_ids.remember(Records([later]), {"passengers": []})
    toolkit.fail("bookings_create", "code_invalid", **coded)  # the same id, another sailing
    assert ferry_sandbox.counters.requests["bookings.create"] == 1


@pytest.mark.parametrize("code", ["BBBBBBBBBB", "é", "yes"], ids=ascii)
def test_an_invented_code_is_refused(toolkit, ferry_sandbox, booking_id, code):
    with_code(toolkit, "bookings_confirm", {"booking_id": booking_id})
    wanted = {"booking_id": booking_id, "confirmation_code": code}
    toolkit.fail("bookings_confirm", "code_invalid", **wanted)
    assert ferry_sandbox.counters.requests["bookings.confirm"] == 0


def test_a_code_for_another_tool_is_refused(toolkit, ferry_sandbox, booking_id):
    other = with_code(toolkit, "bookings_cancel", {"booking_id": booking_id})
    toolkit.fail("bookings_confirm", "code_invalid", **other)
    assert ferry_sandbox.counters.requests["bookings.confirm"] == 0


def test_a_new_code_replaces_the_earlier_one(toolkit, ferry_sandbox, booking_id):
    first = with_code(toolkit, "bookings_confirm", {"booking_id": booking_id})
    second = with_code(toolkit, "bookings_confirm", {"booking_id": booking_id})
    toolkit.fail("bookings_confirm", "code_invalid", **first)
    assert ferry_sandbox.counters.requests["bookings.confirm"] == 0
    toolkit.do("bookings_confirm", **second)


def test_a_code_is_refused_the_second_time(toolkit, ferry_sandbox, booking_id):
    coded = with_code(toolkit, "bookings_confirm", {"booking_id": booking_id})
    ferry_sandbox.faults.add("rate_limited", "bookings.confirm", retry_after=3600)
    toolkit.fail("bookings_confirm", "rate_limited", "failed", **coded)
    toolkit.fail("bookings_confirm", "code_invalid", **coded)
    assert ferry_sandbox.counters.effects_of("bookings.confirm") == ()


@pytest.fixture
def coded_at_zero(toolkit, booking_id):
    """A confirmation whose code was issued when the clock showed 0."""
    runner_of(toolkit).writes.approvals.clock = lambda: 0.0
    return with_code(toolkit, "bookings_confirm", {"booking_id": booking_id})


def test_a_code_is_valid_for_five_minutes(toolkit, coded_at_zero):
    runner_of(toolkit).writes.approvals.clock = lambda: 299.0
    toolkit.do("bookings_confirm", **coded_at_zero)


def test_a_code_is_refused_after_five_minutes(toolkit, coded_at_zero):
    runner_of(toolkit).writes.approvals.clock = lambda: 301.0
    toolkit.fail("bookings_confirm", "code_invalid", **coded_at_zero)


def test_a_late_approval_is_refused(toolkit, sending_nothing):
    def slowly(_):
        runner_of(toolkit).writes.approvals.clock = lambda: 1e12
        return True

    runner_of(toolkit).approve = slowly
    with sending_nothing():
        answer = toolkit.toolkit.call("bookings_create", order(toolkit.sailings()[0]))
    error(answer, "approval_expired")


def test_a_code_for_another_price_is_refused(toolkit, ferry_sandbox, booking_id):
    confirm = with_code(toolkit, "bookings_confirm", {"booking_id": booking_id})
    cancel = {"ticket_id": toolkit.do("bookings_confirm", **confirm)["ticket_id"]}
    coded = with_code(toolkit, "tickets_cancel", cancel)
    journey = toolkit.do("tickets_get", **cancel)["availability"]["outward"]["journey"]
    leaving = datetime.fromisoformat(journey["depart_at"])
    ferry_sandbox.clock.travel_to(leaving - timedelta(hours=1))  # everything is kept by now
    toolkit.fail("tickets_cancel", "code_invalid", **coded)
    assert ferry_sandbox.counters.requests["tickets.cancel"] == 0


def test_an_expired_code_is_used_up():
    codes = Codes(State())
    code = codes.issue("it", 10.0)
    with pytest.raises(RefusedError):
        codes.use(code, "it", 10.0)
    with pytest.raises(RefusedError):
        codes.use(code, "it", 0.0)


def test_the_oldest_code_is_forgotten(monkeypatch):
    monkeypatch.setattr("ferry_sdk.agents.policy.approval._MAX_ENTRIES", 2)
    codes = Codes(State())
    first, second, third = (codes.issue(name, 10.0) for name in ("one", "two", "three"))
    codes.use(second, "two", 5.0)
    codes.use(third, "three", 5.0)
    with pytest.raises(RefusedError):
        codes.use(first, "one", 5.0)


def test_a_code_has_ten_letters():
    assert len(Codes(State()).issue("one", 10.0)) == 10


def test_the_oldest_id_is_forgotten(monkeypatch):
    monkeypatch.setattr("ferry_sdk.agents.policy.known_ids.REMEMBERED", 2)
    known_ids = KnownIds(State())
    names = ("b-1", "b-2", "b-3")
    for name in names:
        booking = BookingCreated.model_validate(BOOKING_CREATED | {"booking_id": name})
        known_ids.remember(booking, {}, None)
    assert [known_ids.record("booking_id", name) is None for name in names] == [True, False, False]


def test_the_repr_of_a_sailing_hides_it():
    sailing = KnownSailing("the sailing", "the question", vehicle_code=None)
    assert repr(sailing) == "KnownSailing(vehicle_code=None)"
