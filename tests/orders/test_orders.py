"""Orders over real sockets, with both clients, in both databases."""

from dataclasses import replace
from datetime import date
from decimal import Decimal

import pytest

from ferry_sdk import errors, orders
from ferry_sdk.orders.order import OrderPart, OrderPlan
from tests.journal.intents import run_sql
from tests.support.exchanges import caught
from tests.support.trip import DAY, PASSENGERS, TRAVELLERS

pytestmark = pytest.mark.usefixtures("look_once")


def states(order):
    return [part.state for part in order.parts]


def stages(desk, order):
    return [desk.booking(order, index).stage for index in range(len(order.parts))]


def hold(desk, count):
    call = (desk.run, orders.hold, desk.selections(count))
    return caught(errors.OrderError, *call, passengers=PASSENGERS)


def resume(desk, order):
    return caught(errors.OrderError, desk.run, orders.resume, order.id)


def change(desk, old, **limits):
    (to,) = desk.selections(1)
    allowed = {"expect_totals": old.totals, "max_penalty": {"EUR": 1000}, **limits}
    return desk.run(orders.change, old.parts[0].booking_id, to=to, passengers=PASSENGERS, **allowed)


def test_two_bookings_are_held_confirmed_and_cancelled_as_one(desk):
    order = desk.hold()
    assert (order.state, states(order), order.kind) == ("held", ["held", "held"], "hold")
    assert order.totals == {"EUR": sum(part.total for part in order.parts)}
    assert order.expires_at == min(part.expires_at for part in order.parts)
    assert orders.unfinished(journal=desk.journal) == ()
    assert orders.get(order.id, journal=desk.journal) == order
    (record,) = desk.journal.load_orders()
    assert "Okonkwo" not in record.content
    assert "Th\u00e9o" not in record.content

    confirmed = desk.confirm(order)
    assert (confirmed.state, desk.run(orders.resume, order.id)) == ("confirmed", confirmed)
    assert stages(desk, order) == ["ticketed", "ticketed"]

    fees = [desk.ferry.bookings.cancel_fee(part.booking_id) for part in order.parts]
    allowed = sum(fee.penalty_amount for fee in fees)
    for limit in ({"EUR": allowed - Decimal("0.01")}, {"USD": allowed}):
        call = (desk.run, orders.cancel, confirmed)
        refused = caught(errors.PenaltyExceededError, *call, max_penalty=limit)
        assert (refused.penalty, refused.currency) == (allowed, "EUR")
    assert (refused.limit, refused.expected_currency) == (allowed, "USD")
    assert str(refused) == (
        f"the cancellation costs {allowed:.2f} EUR, the limit is {allowed:.2f} USD, "
        "which is in another currency: pass an amount in EUR"
    )
    assert desk.booking(order).stage == "ticketed"
    assert desk.run(orders.cancel, confirmed, max_penalty={"EUR": allowed}).state == "cancelled"
    assert stages(desk, order) == ["voided", "voided"]


def test_a_refused_booking_cancels_those_before_it_and_an_unknown_one_stops_what_would_follow(desk):
    desk.sandbox.faults.add("refused", "bookings.create", after=2)
    refused = hold(desk, 3)
    order = refused.order
    assert (order.state, refused.outcome) == ("cancelled", "rejected")
    assert order.parts[2].booking_id is None
    assert order.parts[2].error is refused.cause
    assert desk.booking(order).stage == desk.booking(order, 1).stage == "voided"
    assert "Okonkwo" not in str(refused)
    resume(desk, order)  # as the first call
    desk.sandbox.faults.add("lose_reply", "bookings.create", after=1)
    lost = hold(desk, 3)
    order = lost.order
    assert (lost.outcome, states(order)) == ("unknown", ["held", "unknown", "cancelled"])
    assert orders.unfinished(journal=desk.journal) == (order,)
    with pytest.raises(errors.InvalidInputError, match="resume it first"):
        desk.run(orders.cancel, order, max_penalty={})
    assert "settle journal entry" in str(resume(desk, order))
    assert desk.booking(order).stage == "payment_due"

    (entry,) = desk.journal.unresolved()
    made = desk.sandbox.counters.effects_of("bookings.create")[-1].subject
    desk.journal.settle(entry, happened=True, booking_id=made)
    settled = desk.run(orders.resume, order.id)  # the third cannot be made any more
    assert (settled.state, settled.parts[1].booking_id) == ("cancelled", made)
    assert {desk.booking(settled, index).stage for index in (0, 1)} == {"voided"}
    assert orders.unfinished(journal=desk.journal) == ()


def test_nothing_is_confirmed_at_another_price(desk):
    order = desk.hold()
    total = order.totals["EUR"]
    dearer, cheaper = order.parts
    parts = replace(dearer, total=dearer.total - 1), replace(cheaper, total=cheaper.total + 1)
    for name, seen, totals in [
        ("sum", order, {"EUR": total + 1}),
        ("part of it", order, {"EUR": dearer.total}),
        ("nothing named", order, {}),
        ("the same sum of other parts", replace(order, parts=parts), order.totals),
    ]:
        caught(errors.PriceChangedError, desk.confirm, seen, expect_totals=totals)
        assert stages(desk, order) == ["payment_due", "payment_due"], name
    with pytest.raises(errors.InvalidInputError, match="USD"):
        desk.confirm(order, expect_totals={"EUR": total, "USD": 1})
    desk.ferry.bookings.cancel(dearer.booking_id)
    with pytest.raises(errors.PriceChangedError, match="cancelled; nothing was confirmed"):
        desk.confirm(order)
    assert desk.booking(order, 1).stage == "payment_due"


@pytest.mark.parametrize("if_refused", ["keep", "cancel"])
def test_a_refused_confirmation_keeps_or_cancels(desk, if_refused):
    order = desk.hold(3)
    desk.sandbox.faults.add("refused", "bookings.confirm", after=1)
    wanted = {"if_refused": if_refused, "max_penalty": {"EUR": 1000}}
    stands = caught(errors.OrderError, desk.confirm, order, **wanted).order
    kept = 1 if if_refused == "keep" else 0
    assert sorted(states(stands)) == ["cancelled"] * (3 - kept) + ["confirmed"] * kept
    assert stands.state == ("partial" if kept else "cancelled")
    expected = {"confirmed": "ticketed", "cancelled": "voided"}
    assert stages(desk, stands) == [expected[one] for one in states(stands)]
    resume(desk, order)


def test_a_lost_confirmation_counts_and_two_town_names_become_two_bookings(desk):
    order = desk.hold()
    desk.ferry.bookings.confirm(order.parts[0].booking_id)
    desk.sandbox.faults.add("lose_reply", "bookings.confirm")
    assert desk.confirm(order).state == "confirmed"
    trip = {"on": date(2050, 6, 6), "passengers": TRAVELLERS[:1], "max_calls": 20}
    found = desk.ferry.trips.connections("Barcelona", "Tunis", **trip)
    party = [{"type": "Adult", "first_name": "Zoë", "last_name": "Reyes"}]
    order = desk.run(orders.hold, found[0].select(), passengers=party)
    order = desk.confirm(order, expect_totals=found[0].prices)
    assert (order.state, len(order.parts)) == ("confirmed", 2)


def test_an_order_whose_tickets_are_being_issued_is_resumed_again_and_not_settled(desk):
    desk.sandbox.clock.freeze()
    trip = {"on": DAY, "passengers": TRAVELLERS, "companies": ["FRSIBERIA"]}
    trips = desk.ferry.trips.search("Tarifa", "MATNG", **trip)
    order = desk.run(orders.hold, [trips[0].select()], passengers=PASSENGERS)
    desk.sandbox.faults.add("lose_reply", "bookings.confirm")
    assert caught(errors.OrderError, desk.confirm, order).order.state == "unknown"
    assert desk.booking(order).stage == "in_progress"
    again = resume(desk, order)
    assert "being issued: resume the order again" in str(again)
    assert "settle" not in str(again)
    assert again.outcome == "unknown"
    assert [one.id for one in orders.unfinished(journal=desk.journal)] == [order.id]
    desk.sandbox.clock.advance(600)
    assert desk.run(orders.resume, order.id).state == "confirmed"
    assert desk.sandbox.counters.requests["bookings.confirm"] == 1


def test_a_change_confirms_the_new_booking_before_it_cancels_the_old_one(desk):
    old = desk.confirm(desk.hold(1))
    caught(errors.PenaltyExceededError, change, desk, old, max_penalty={"USD": 1000})
    dearer = caught(errors.OrderError, change, desk, old, expect_totals={"EUR": 1})
    assert isinstance(dearer.cause, errors.PriceChangedError)
    assert states(dearer.order) == ["cancelled", "confirmed"]
    assert desk.booking(old).stage == "ticketed"
    changed = change(desk, old)
    assert (changed.kind, changed.state) == ("change", "confirmed")
    assert [part.role for part in changed.parts] == ["new", "old"]
    assert changed.totals == old.totals
    assert (desk.booking(changed).stage, desk.booking(old).stage) == ("ticketed", "voided")
    entries = desk.journal.entries()
    refused = caught(errors.InvalidInputError, change, desk, old)  # it was cancelled
    assert (refused.field, desk.journal.entries()) == ("booking_id", entries)


def test_a_change_that_leaves_both_says_so_and_a_confirmation_settled_as_not_done_is_named(desk):
    desk.sandbox.faults.add("refused", "bookings.cancel")
    refused = caught(errors.OrderError, change, desk, desk.confirm(desk.hold(1)))
    order = refused.order
    assert (order.state, states(order)) == ("partial", ["confirmed", "confirmed"])
    assert refused.cause is order.parts[1].error
    assert "ConflictError, HTTP 409" in str(resume(desk, order))
    desk.ferry.bookings.cancel(order.parts[1].booking_id)
    assert desk.run(orders.resume, order.id).state == "confirmed"
    order = desk.hold()
    desk.sandbox.faults.add("cut_before", "bookings.confirm")
    assert caught(errors.OrderError, desk.confirm, order).outcome == "unknown"
    (entry,) = desk.journal.unresolved()
    desk.journal.settle(entry, happened=False)
    settled = resume(desk, order)
    assert "confirm has not happened" in str(settled)
    assert settled.order.state == "cancelled"


@pytest.mark.parametrize("reads", range(4))
def test_a_refund_that_falls_at_any_time_stops_a_change(desk, reads):
    old = desk.confirm(desk.hold(1))
    high = {"field": "refund_amount", "value": "50.00"}
    desk.sandbox.faults.add("unknown_enum", "bookings.cancel_fee", times=1 + reads, **high)
    fee = desk.ferry.bookings.cancel_fee(old.parts[0].booking_id)
    limits = {"max_penalty": {"EUR": fee.penalty_amount}}
    if reads:
        cause = caught(errors.OrderError, change, desk, old, **limits).cause
    else:
        limits["min_refund"] = {"EUR": fee.refund_amount}
        cause = caught(errors.PenaltyExceededError, change, desk, old, **limits)
    assert isinstance(cause, errors.PenaltyExceededError)
    assert (cause.min_refund, cause.refund) == (Decimal("50.00"), 0)
    assert desk.booking(old).stage == "ticketed"
    assert desk.sandbox.counters.requests["bookings.cancel"] == (reads == 1)  # the new one
    assert desk.sandbox.counters.requests["bookings.create"] == 1 + (reads > 0)


def test_what_is_refused_begins_no_order_and_an_earlier_journal_gets_its_table(desk):
    (one,) = desk.selections(1)
    bad = {"availability_id": "a"}
    who = {"passengers": PASSENGERS}
    good = {"to": one, **who, "expect_totals": {"EUR": 1}, "max_penalty": {}}
    for field, call, subject, arguments in [
        ("selections[1][0].tariff_id", orders.hold, [one, [bad]], who),
        ("selections", orders.hold, [], who),
        ("passengers", orders.hold, [one], {"passengers": []}),
        ("order_id", orders.resume, "none", {}),
        ("to[0].tariff_id", orders.change, "b", good | {"to": [bad]}),
        ("expect_totals", orders.change, "b", good | {"expect_totals": {}}),
    ]:
        assert caught(errors.InvalidInputError, desk.run, call, subject, **arguments).field == field
    assert desk.journal.entries() == ()
    view = desk.ferry.with_options(read_only=True)
    caught(errors.ReadOnlyError, orders.hold, view, [one], **who, journal=desk.journal)
    assert desk.journal.load_orders() == ()
    with desk.journal._engine.connect() as connection:
        desk.journal.entries()  # makes the tables
        connection.exec_driver_sql("DROP TABLE ferry_journal_orders")
    assert orders.unfinished(journal=desk.journal) == ()
    assert desk.journal.forget(older_than=0) == 0
    order = desk.hold(1)
    assert orders.get(order.id, journal=desk.journal) == order
    (record,) = desk.journal.load_orders(order.id)
    desk.journal.save_order(record)
    with pytest.raises(errors.JournalError, match="another program"):
        desk.journal.save_order(record)


def test_forgetting_keeps_what_an_unfinished_order_needs(desk):
    held = desk.hold(1)
    desk.sandbox.faults.add("lose_reply", "bookings.create")
    left = hold(desk, 1).order
    (entry,) = desk.journal.unresolved()
    desk.journal.settle(entry, happened=False)
    desk.journal.forget(older_than=0)
    assert [one.id for one in desk.journal.entries()] == [entry.id]
    caught(errors.InvalidInputError, orders.get, held.id, journal=desk.journal)
    resume(desk, left)
    assert orders.unfinished(journal=desk.journal) == ()
    desk.journal.forget(older_than=0)
    assert desk.journal.entries() == desk.journal.load_orders() == ()


ODD = {"field": "currency", "value": "?"}
"""The details of a fault that makes a created booking unreadable."""


def test_created_booking_with_an_odd_field_is_held(desk):
    desk.sandbox.faults.add("unknown_enum", "bookings.create", **ODD)
    order = desk.hold()
    assert (order.state, desk.booking(order).stage) == ("held", "payment_due")


@pytest.fixture
def named(desk):
    """A hold of two whose second create failed, named its booking, and could not be read."""
    desk.sandbox.faults.add("unknown_enum", "bookings.create", after=1, **ODD)
    desk.sandbox.faults.add("unauthorized", "bookings.get", times=None)
    error = hold(desk, 2)
    desk.sandbox.faults.clear()
    return error


def test_failed_create_names_the_booking_of_its_part(desk, named):
    made = desk.sandbox.counters.effects_of("bookings.create")[-1].subject
    assert (named.outcome, named.order.parts[1].booking_id) == ("unknown", made)
    assert named.cause.booking_id == made
    assert f"{made} is unknown" in str(named)
    assert desk.run(orders.resume, named.order.id).state == "held"
    assert desk.journal.unresolved() == ()


def test_named_booking_that_is_not_there_stays_unknown(desk, named):
    part = named.order.parts[1]
    desk.sandbox.faults.add("refused", "bookings.get", after=1, status=404, code="NOT_FOUND")
    again = resume(desk, named.order)
    assert (again.outcome, again.order.parts[1].booking_id) == ("unknown", part.booking_id)
    (entry,) = desk.journal.unresolved()
    desk.journal.settle(entry, happened=False)
    assert resume(desk, named.order).order.parts[1].booking_id is None


def test_booking_on_record_is_known_after_a_crash(desk, named):
    (record,) = desk.journal.load_orders()
    plan = OrderPlan.of(record.id, record.content)
    plan.parts[1] = OrderPart()  # the process ended before it saved the order again
    desk.journal.save_order(replace(record, content=plan.to_text()))
    assert orders.get(record.id, journal=desk.journal).parts[1] == replace(
        named.order.parts[1], total=None
    )
    assert desk.run(orders.resume, record.id).state == "held"


def test_resumed_order_keeps_the_text_of_its_cause(desk):
    old = desk.confirm(desk.hold(1))
    dearer = caught(errors.OrderError, change, desk, old, expect_totals={"EUR": 1})
    again = resume(desk, dearer.order)
    assert str(again.cause) == str(dearer.cause)
    assert "expected 1.00 EUR" in str(again)


def test_resumed_order_keeps_the_code_and_not_the_words(desk):
    desk.sandbox.faults.add("refused", "bookings.create", after=1)
    refused = hold(desk, 2)
    again = resume(desk, refused.order)
    assert refused.cause.code in str(again)
    assert refused.cause.message not in str(again)


def test_a_damaged_order_takes_no_other_with_it(desk, url):
    desk.sandbox.faults.add("lose_reply", "bookings.create", after=1, times=None)
    damaged, whole = hold(desk, 2).order, hold(desk, 2).order
    run_sql(url, f"UPDATE ferry_journal_orders SET content = 'x' WHERE id = '{damaged.id}'")  # noqa: S608 -- an id of the test
    first, second = orders.unfinished(journal=desk.journal)
    assert (first.id, first.state) == (damaged.id, "unknown")
    assert isinstance(first.parts[0].error, errors.JournalError)
    assert damaged.id in str(first.parts[0].error)
    assert second == whole
    with pytest.raises(errors.JournalError, match=damaged.id):
        desk.run(orders.resume, damaged.id)
