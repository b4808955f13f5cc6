"""Threads and tasks that share a toolkit make a write once, and share its limits."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from time import sleep

from ferry_sdk import BookingConfirmation
from ferry_sdk.agents.policy.known_ids import KnownIds
from ferry_sdk.agents.policy.state import State
from tests.agents.agent import order, result_of
from tests.support.hold import Hold

MANY = 6


def book_concurrently(toolkit, sandbox, orders):
    """Return the results of concurrent calls, of which the first that is sent ends last."""
    hold = Hold(sandbox, "bookings.create")
    with ThreadPoolExecutor(len(orders)) as pool:
        calls = [pool.submit(toolkit.call, "bookings_create", one) for one in orders]
        while sum(call.done() for call in calls) < len(orders) - 1:
            sleep(0.01)
        hold.release()
        answers = [call.result() for call in calls]
    return Counter(
        answer["error"]["code"] if "error" in answer else answer["status"] for answer in answers
    )


def test_concurrent_calls_make_a_booking_once(toolkit, asked, ferry_sandbox):
    wanted = order(toolkit.sailings()[0])
    codes = book_concurrently(toolkit, ferry_sandbox, [wanted] * MANY)
    assert codes == {"done": 1, "under_way": MANY - 1}
    assert len(asked) == 1
    assert len(ferry_sandbox.counters.effects) == 1


def test_concurrent_bookings_share_one_limit(toolkit_of, ferry_sandbox):
    found = toolkit_of().sailings()
    price = min(float(one["tariffs"][0]["amount"]) for one in found)
    limit = f"{price * 1.9:.2f}"
    toolkit = toolkit_of(writes=True, approve=lambda _: True, spend_limit={"EUR": limit})
    orders = [order(one) for one in toolkit.sailings()]
    assert len(orders) > 1
    codes = book_concurrently(toolkit, ferry_sandbox, orders)
    assert codes == {"done": 1, "spend_limit": len(orders) - 1}
    assert len(ferry_sandbox.counters.effects) == 1


def test_writes_of_one_booking_exclude_each_other(toolkit, ferry_sandbox):
    def meanwhile(writing, wanted, other, subject):
        hold = Hold(ferry_sandbox, writing.replace("_", "."))
        with ThreadPoolExecutor(1) as pool:
            written = pool.submit(toolkit.call, writing, wanted)
            while not hold.held:
                sleep(0.01)
            toolkit.fail(other, "under_way", **subject)
            hold.release()
            return result_of(written.result())

    named = {"booking_id": toolkit.book()["booking_id"]}
    confirmed = meanwhile("bookings_confirm", named, "bookings_cancel", named)
    ticket = {"ticket_id": confirmed["ticket_id"]}
    toolkit.do("tickets_get", **ticket)
    meanwhile("bookings_cancel", named, "tickets_cancel", ticket)


def test_a_confirmation_shows_the_booking_of_a_ticket():
    known_ids = KnownIds(State())
    confirmed = {"booking_id": "b-1", "status": "CONFIRMED", "ticket_id": "t-1"}
    known_ids.remember(BookingConfirmation.model_validate({**confirmed, "ticket_number": None}), {})
    known = known_ids.record("ticket_id", "t-1")
    assert known is not None
    assert known.booking_id == "b-1"
