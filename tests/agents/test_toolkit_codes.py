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


def test_a_code_for_another_booking_is_refused_and_used_up(toolkit, ferry_sandbox):
    first, second = (order(one) for one in toolkit.sailings()[:2])
    somebody = {**first, "passengers": [{**PASSENGERS[0], "first_name": "Somebody"}]}
    for other in (second, somebody):
        coded = with_code(toolkit, "bookings_create", first)
        code = {"confirmation_code": coded["confirmation_code"]}
        toolkit.fail("bookings_create", "code_invalid", **(other | code))
        toolkit.fail("bookings_create", "code_invalid", **coded)
    coded = with_code(toolkit, "bookings_create", first)
    known_ids = runner_of(toolkit).writes.state.known_ids
    sailing = known_ids.sailings.get(first["availabilities"][0]["availability_id"]).sailing
    later = sailing.model_copy(update={"depart_at": sailing.depart_at + timedelta(days=1)})
    known_ids.remember(Records([later]), {"passengers": []})
    toolkit.fail("bookings_create", "code_invalid", **coded)  # the same id, another sailing
    assert ferry_sandbox.counters.requests["bookings.create"] == 1


def test_an_invented_code_or_one_for_another_tool_or_an_earlier_one_is_refused(
    toolkit, ferry_sandbox, booking_id
):
    named = {"booking_id": booking_id}
    first, second = (with_code(toolkit, "bookings_confirm", named) for _ in range(2))
    other = with_code(toolkit, "bookings_cancel", named)
    invented = [{**named, "confirmation_code": code} for code in ("BBBBBBBBBB", "é", "yes")]
    for wrong in (first, *invented, other):
        toolkit.fail("bookings_confirm", "code_invalid", **wrong)
    assert ferry_sandbox.counters.requests["bookings.confirm"] == 0
    toolkit.do("bookings_confirm", **second)


def test_a_code_is_refused_the_second_time(toolkit, ferry_sandbox, booking_id):
    coded = with_code(toolkit, "bookings_confirm", {"booking_id": booking_id})
    ferry_sandbox.faults.add("rate_limited", "bookings.confirm", retry_after=3600)
    toolkit.fail("bookings_confirm", "rate_limited", "failed", **coded)
    toolkit.fail("bookings_confirm", "code_invalid", **coded)
    assert ferry_sandbox.counters.effects_of("bookings.confirm") == ()


@pytest.mark.parametrize(("seconds", "is_good"), [(299, True), (301, False)])
def test_a_code_is_valid_for_five_minutes_and_a_late_approval_refused(
    toolkit, ferry_sandbox, booking_id, seconds, is_good
):
    writes = runner_of(toolkit).writes
    writes.clock = lambda: 0.0
    coded = with_code(toolkit, "bookings_confirm", {"booking_id": booking_id})
    writes.clock = lambda: float(seconds)
    if is_good:
        toolkit.do("bookings_confirm", **coded)
        return
    toolkit.fail("bookings_confirm", "code_invalid", **coded)

    def slowly(_):
        writes.clock = lambda: 1e12
        return True

    runner_of(toolkit).approve = slowly
    before = ferry_sandbox.counters.requests["bookings.create"]
    error(toolkit.toolkit.call("bookings_create", order(toolkit.sailings()[0])), "approval_expired")
    assert ferry_sandbox.counters.requests["bookings.create"] == before


def test_a_code_for_another_price_is_refused(toolkit, ferry_sandbox, booking_id):
    confirm = with_code(toolkit, "bookings_confirm", {"booking_id": booking_id})
    cancel = {"ticket_id": toolkit.do("bookings_confirm", **confirm)["ticket_id"]}
    coded = with_code(toolkit, "tickets_cancel", cancel)
    journey = toolkit.do("tickets_get", **cancel)["availability"]["outward"]["journey"]
    leaving = datetime.fromisoformat(journey["depart_at"])
    ferry_sandbox.clock.travel_to(leaving - timedelta(hours=1))  # everything is kept by now
    toolkit.fail("tickets_cancel", "code_invalid", **coded)
    assert ferry_sandbox.counters.requests["tickets.cancel"] == 0


def test_expired_and_the_oldest_codes_and_ids_are_forgotten_and_an_offer_is_hidden(monkeypatch):
    codes = Codes(State())
    code = codes.issue("it", 10.0)
    for now in (10.0, 0.0):
        with pytest.raises(RefusedError):
            codes.use(code, "it", now)
    monkeypatch.setattr("ferry_sdk.agents.policy.approval._MAX_ENTRIES", 2)
    codes = Codes(State())
    first, second, third = (codes.issue(name, 10.0) for name in ("one", "two", "three"))
    assert {len(code) for code in (first, second, third)} == {10}
    codes.use(second, "two", 5.0)
    codes.use(third, "three", 5.0)
    with pytest.raises(RefusedError):
        codes.use(first, "one", 5.0)
    monkeypatch.setattr("ferry_sdk.agents.policy.known_ids.REMEMBERED", 2)
    known_ids, names = KnownIds(State()), ("b-1", "b-2", "b-3")
    for name in names:
        booking = BookingCreated.model_validate(BOOKING_CREATED | {"booking_id": name})
        known_ids.remember(booking, {}, None)
    assert [known_ids.record("booking_id", one) is None for one in names] == [True, False, False]
    offer = KnownSailing("the sailing", "the question", vehicle_code=None)
    assert repr(offer) == "KnownSailing(vehicle_code=None)"
