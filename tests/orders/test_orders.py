"""Orders over real sockets, with both clients, in both databases."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from ferry_sdk import (
    FerryError,
    InvalidInputError,
    JournalError,
    OrderError,
    PenaltyExceededError,
    PriceChangedError,
    ReadOnlyError,
    orders,
)
from tests.support.trip import DAY, PASSENGERS, TRAVELLERS

if TYPE_CHECKING:
    from ferry_sdk.orders import Order

pytestmark = pytest.mark.usefixtures("look_once")


def states(order: Order) -> list[str]:
    return [part.state for part in order.parts]


def stages(desk: Any, order: Order) -> list[str]:
    return [desk.booking(order, index).stage for index in range(len(order.parts))]


def change(desk: Any, old: Order, **limits: Any) -> Any:
    """Change the first booking of an order to another berth on its sailing."""
    (to,) = desk.selections(1)
    allowed = {"expect_totals": old.totals, "max_penalty": {"EUR": 1000}, **limits}
    return desk.run(orders.change, old.parts[0].booking_id, to=to, passengers=PASSENGERS, **allowed)


def test_two_bookings_are_held_confirmed_and_cancelled_as_one(desk) -> None:
    order = desk.hold()
    assert (order.state, states(order), order.kind) == ("held", ["held", "held"], "hold")
    assert order.totals == {"EUR": sum(part.total for part in order.parts)}
    assert order.expires_at == min(part.expires_at for part in order.parts)
    assert orders.unfinished(journal=desk.journal) == ()
    assert orders.get(order.id, journal=desk.journal) == order
    (record,) = desk.journal.load_orders()
    assert "Okonkwo" not in record.content
    assert "Th\u00e9o" not in record.content

    confirmed = desk.run(orders.confirm, order, expect_totals=order.totals)
    assert confirmed.state == "confirmed"
    assert desk.run(orders.resume, order.id) == confirmed
    assert stages(desk, order) == ["ticketed", "ticketed"]

    fees = [desk.ferry.bookings.cancel_fee(part.booking_id) for part in order.parts]
    allowed = sum(fee.penalty_amount for fee in fees)
    with pytest.raises(PenaltyExceededError) as raised:
        desk.run(orders.cancel, confirmed, max_penalty={"EUR": allowed - Decimal("0.01")})
    assert (raised.value.penalty, raised.value.currency) == (allowed, "EUR")
    with pytest.raises(PenaltyExceededError) as raised:
        desk.run(orders.cancel, confirmed, max_penalty={"USD": allowed})
    assert (raised.value.limit, raised.value.expected_currency) == (allowed, "USD")
    assert (raised.value.penalty, raised.value.currency) == (allowed, "EUR")
    assert str(raised.value) == (
        f"the cancellation costs {allowed:.2f} EUR, the limit is {allowed:.2f} USD, "
        "which is in another currency: pass an amount in EUR"
    )
    assert desk.booking(order).stage == "ticketed"
    cancelled = desk.run(orders.cancel, confirmed, max_penalty={"EUR": allowed})
    assert cancelled.state == "cancelled"
    assert stages(desk, order) == ["voided", "voided"]


def test_a_refused_booking_cancels_those_before_it(desk) -> None:
    selections = desk.selections(3)
    desk.sandbox.faults.add("refused", "bookings.create", after=2)
    with pytest.raises(OrderError) as raised:
        desk.run(orders.hold, selections, passengers=PASSENGERS)
    order = raised.value.order
    assert (order.state, raised.value.outcome) == ("cancelled", "rejected")
    assert order.parts[2].booking_id is None
    assert order.parts[2].error is raised.value.cause
    assert desk.booking(order).stage == desk.booking(order, 1).stage == "voided"
    assert "Okonkwo" not in str(raised.value)
    with pytest.raises(OrderError):  # as the first call
        desk.run(orders.resume, order.id)


def test_an_unknown_booking_stops_what_would_follow(desk) -> None:
    selections = desk.selections(3)
    desk.sandbox.faults.add("lose_reply", "bookings.create", after=1)
    with pytest.raises(OrderError) as raised:
        desk.run(orders.hold, selections, passengers=PASSENGERS)
    order = raised.value.order
    assert raised.value.outcome == "unknown"
    assert states(order) == ["held", "unknown", "cancelled"]
    assert orders.unfinished(journal=desk.journal) == (order,)
    with pytest.raises(InvalidInputError, match="resume it first"):
        desk.run(orders.cancel, order, max_penalty={})
    with pytest.raises(OrderError, match="settle journal entry"):
        desk.run(orders.resume, order.id)
    assert desk.booking(order).stage == "payment_due"

    (entry,) = desk.journal.unresolved()
    made = desk.sandbox.counters.effects_of("bookings.create")[-1].subject
    desk.journal.settle(entry, happened=True, booking_id=made)
    settled = desk.run(orders.resume, order.id)  # the third cannot be made any more
    assert (settled.state, settled.parts[1].booking_id) == ("cancelled", made)
    assert {desk.booking(settled, index).stage for index in (0, 1)} == {"voided"}
    assert orders.unfinished(journal=desk.journal) == ()


def test_nothing_is_confirmed_at_another_price(desk) -> None:
    order = desk.hold()
    total = order.totals["EUR"]
    rows = [
        ("sum", {"EUR": total + 1}),
        ("part of it", {"EUR": order.parts[0].total}),
        ("nothing named", {}),
    ]
    for name, totals in rows:
        with pytest.raises(PriceChangedError):
            desk.run(orders.confirm, order, expect_totals=totals)
        assert desk.booking(order).stage == "payment_due", name
    with pytest.raises(InvalidInputError, match="USD"):
        desk.run(orders.confirm, order, expect_totals={"EUR": total, "USD": 1})
    dearer, cheaper = order.parts
    parts = replace(dearer, total=dearer.total - 1), replace(cheaper, total=cheaper.total + 1)
    seen = replace(order, parts=parts)  # the sum is the same
    with pytest.raises(PriceChangedError):
        desk.run(orders.confirm, seen, expect_totals=order.totals)
    assert stages(desk, order) == ["payment_due", "payment_due"]
    desk.ferry.bookings.cancel(dearer.booking_id)
    with pytest.raises(PriceChangedError, match="cancelled; nothing was confirmed"):
        desk.run(orders.confirm, order, expect_totals=order.totals)
    assert desk.booking(order, 1).stage == "payment_due"


@pytest.mark.parametrize("if_refused", ["keep", "cancel"])
def test_a_refused_confirmation_keeps_or_cancels(desk, if_refused) -> None:
    order = desk.hold(3)
    desk.sandbox.faults.add("refused", "bookings.confirm", after=1)
    with pytest.raises(OrderError) as raised:
        desk.run(
            orders.confirm,
            order,
            expect_totals=order.totals,
            if_refused=if_refused,
            max_penalty={"EUR": 1000},
        )
    stands = raised.value.order
    kept = 1 if if_refused == "keep" else 0
    assert sorted(states(stands)) == ["cancelled"] * (3 - kept) + ["confirmed"] * kept
    assert stands.state == ("partial" if kept else "cancelled")
    expected = {"confirmed": "ticketed", "cancelled": "voided"}
    assert stages(desk, stands) == [expected[one] for one in states(stands)]
    with pytest.raises(OrderError):
        desk.run(orders.resume, order.id)


def test_a_confirmation_that_is_lost_or_of_somebody_else_counts(desk) -> None:
    order = desk.hold()
    desk.ferry.bookings.confirm(order.parts[0].booking_id)
    desk.sandbox.faults.add("lose_reply", "bookings.confirm")
    assert desk.run(orders.confirm, order, expect_totals=order.totals).state == "confirmed"


def test_an_order_whose_tickets_are_being_issued_is_resumed_again_and_not_settled(desk) -> None:
    desk.sandbox.clock.freeze()
    trips = desk.ferry.trips.search(
        "Tarifa", "MATNG", on=DAY, passengers=TRAVELLERS, companies=["FRSIBERIA"]
    )
    order = desk.run(orders.hold, [trips[0].select()], passengers=PASSENGERS)
    desk.sandbox.faults.add("lose_reply", "bookings.confirm")
    with pytest.raises(OrderError) as raised:
        desk.run(orders.confirm, order, expect_totals=order.totals)
    assert raised.value.order.state == "unknown"
    assert desk.booking(order).stage == "in_progress"
    with pytest.raises(OrderError, match="being issued: resume the order again") as raised:
        desk.run(orders.resume, order.id)
    assert "settle" not in str(raised.value)
    assert raised.value.outcome == "unknown"
    assert [one.id for one in orders.unfinished(journal=desk.journal)] == [order.id]
    desk.sandbox.clock.advance(600)
    assert desk.run(orders.resume, order.id).state == "confirmed"
    assert desk.sandbox.counters.requests["bookings.confirm"] == 1


def test_a_change_confirms_the_new_booking_before_it_cancels_the_old_one(desk) -> None:
    old = desk.confirmed(1)
    with pytest.raises(PenaltyExceededError):
        change(desk, old, max_penalty={"USD": 1000})
    with pytest.raises(OrderError) as raised:
        change(desk, old, expect_totals={"EUR": 1})
    assert isinstance(raised.value.cause, PriceChangedError)
    assert states(raised.value.order) == ["cancelled", "confirmed"]
    assert desk.booking(old).stage == "ticketed"
    changed = change(desk, old)
    assert (changed.kind, changed.state) == ("change", "confirmed")
    assert [part.role for part in changed.parts] == ["new", "old"]
    assert changed.totals == old.totals
    assert desk.booking(changed).stage == "ticketed"
    assert desk.booking(old).stage == "voided"
    entries = desk.journal.entries()
    with pytest.raises(InvalidInputError) as refused:  # it was cancelled
        change(desk, old)
    assert refused.value.field == "booking_id"
    assert desk.journal.entries() == entries


def test_a_change_whose_old_booking_cannot_be_cancelled_says_that_both_stand(desk) -> None:
    old = desk.confirmed(1)
    desk.sandbox.faults.add("refused", "bookings.cancel")
    with pytest.raises(OrderError) as raised:
        change(desk, old)
    assert raised.value.order.state == "partial"
    assert states(raised.value.order) == ["confirmed", "confirmed"]
    order = raised.value.order
    assert raised.value.cause is order.parts[1].error
    with pytest.raises(OrderError, match="ConflictError, HTTP 409"):
        desk.run(orders.resume, order.id)
    desk.ferry.bookings.cancel(order.parts[1].booking_id)
    assert desk.run(orders.resume, order.id).state == "confirmed"


def test_a_confirmation_that_a_person_settles_as_not_done_is_named(desk) -> None:
    order = desk.hold()
    desk.sandbox.faults.add("cut_before", "bookings.confirm")
    with pytest.raises(OrderError) as raised:
        desk.run(orders.confirm, order, expect_totals=order.totals)
    assert raised.value.outcome == "unknown"
    (entry,) = desk.journal.unresolved()
    desk.journal.settle(entry, happened=False)
    with pytest.raises(OrderError, match="confirm has not happened") as raised:
        desk.run(orders.resume, order.id)
    assert raised.value.order.state == "cancelled"


@pytest.mark.parametrize("reads", range(4))
def test_a_refund_that_falls_at_any_time_stops_a_change(desk, reads) -> None:
    old = desk.confirmed(1)
    old_id = old.parts[0].booking_id
    high = {"field": "refund_amount", "value": "50.00"}
    desk.sandbox.faults.add("unknown_enum", "bookings.cancel_fee", times=1 + reads, **high)
    fee = desk.ferry.bookings.cancel_fee(old_id)
    given = {"min_refund": {"EUR": fee.refund_amount}} if reads == 0 else {}
    with pytest.raises(FerryError) as raised:
        change(desk, old, max_penalty={"EUR": fee.penalty_amount}, **given)
    cause = raised.value.cause if isinstance(raised.value, OrderError) else raised.value
    assert isinstance(cause, PenaltyExceededError)
    assert (cause.min_refund, cause.refund) == (Decimal("50.00"), 0)
    assert desk.booking(old).stage == "ticketed"
    assert desk.sandbox.counters.requests["bookings.cancel"] == (reads == 1)  # the new one
    assert desk.sandbox.counters.requests["bookings.create"] == 1 + (reads > 0)


def test_what_is_refused_begins_no_order(desk) -> None:
    (one,) = desk.selections(1)
    bad = {"availability_id": "a"}
    good = {"to": one, "passengers": PASSENGERS, "expect_totals": {"EUR": 1}, "max_penalty": {}}

    def change(**wrong: Any) -> Any:
        return desk.run(orders.change, "b", **{**good, **wrong})

    rows = [
        (
            "selections[1][0].tariff_id",
            lambda: desk.run(orders.hold, [one, [bad]], passengers=PASSENGERS),
        ),
        ("selections", lambda: desk.run(orders.hold, [], passengers=PASSENGERS)),
        ("passengers", lambda: desk.run(orders.hold, [one], passengers=[])),
        ("order_id", lambda: desk.run(orders.resume, "none")),
        ("to[0].tariff_id", lambda: change(to=[bad])),
        ("expect_totals", lambda: change(expect_totals={})),
    ]
    for field, call in rows:
        with pytest.raises(InvalidInputError) as raised:
            call()
        assert raised.value.field == field
    assert desk.journal.entries() == ()
    view = desk.ferry.with_options(read_only=True)
    with pytest.raises(ReadOnlyError):
        orders.hold(view, [one], passengers=PASSENGERS, journal=desk.journal)
    assert desk.journal.load_orders() == ()


def test_a_journal_of_an_earlier_version_gets_the_table_with_its_first_order(desk) -> None:
    with desk.journal._engine.connect() as connection:
        desk.journal.entries()  # makes the tables
        connection.exec_driver_sql("DROP TABLE ferry_journal_orders")
    assert orders.unfinished(journal=desk.journal) == ()
    assert desk.journal.forget(older_than=0) == 0
    order = desk.hold(1)
    assert orders.get(order.id, journal=desk.journal) == order
    (record,) = desk.journal.load_orders(order.id)
    desk.journal.save_order(record)
    with pytest.raises(JournalError, match="another program"):
        desk.journal.save_order(record)


def test_forgetting_keeps_what_an_unfinished_order_needs(desk) -> None:
    held = desk.hold(1)
    desk.sandbox.faults.add("lose_reply", "bookings.create")
    with pytest.raises(OrderError) as raised:
        desk.run(orders.hold, desk.selections(1), passengers=PASSENGERS)
    (entry,) = desk.journal.unresolved()
    desk.journal.settle(entry, happened=False)
    desk.journal.forget(older_than=0)
    assert [one.id for one in desk.journal.entries()] == [entry.id]
    with pytest.raises(InvalidInputError):
        orders.get(held.id, journal=desk.journal)
    with pytest.raises(OrderError):
        desk.run(orders.resume, raised.value.order.id)
    assert orders.unfinished(journal=desk.journal) == ()
    desk.journal.forget(older_than=0)
    assert desk.journal.entries() == desk.journal.load_orders() == ()


def test_two_town_names_become_two_confirmed_bookings(desk) -> None:
    adult = [{"type": "Adult", "gender": "Female", "age": 34}]
    party = [{"type": "Adult", "first_name": "Zoë", "last_name": "Reyes"}]
    found = desk.ferry.trips.connections(
        "Barcelona", "Tunis", on=date(2050, 6, 6), passengers=adult, max_calls=20
    )
    order = desk.run(orders.hold, found[0].select(), passengers=party)
    order = desk.run(orders.confirm, order, expect_totals=found[0].prices)
    assert (order.state, len(order.parts)) == ("confirmed", 2)
