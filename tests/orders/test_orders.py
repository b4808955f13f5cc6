"""Orders over real sockets, with both clients, in both databases."""

from dataclasses import replace
from datetime import date, timedelta
from decimal import Context, Decimal, localcontext
from functools import partial

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
    """Return the error of a hold that fails."""
    call = (desk.run, orders.hold, desk.selections(count))
    return caught(errors.OrderError, *call, passengers=PASSENGERS)


def resume(desk, order):
    """Return the error of an order that cannot be completed."""
    return caught(errors.OrderError, desk.run, orders.resume, order.id)


def change(desk, old, **limits):
    """Change the first booking of an order, at its own price and any fee by default."""
    (to,) = desk.selections(1)
    allowed = {"expect_totals": old.totals, "max_penalty": {"EUR": 1000}, **limits}
    return desk.run(orders.change, old.parts[0].booking_id, to=to, passengers=PASSENGERS, **allowed)


@pytest.fixture
def held(desk):
    """An order of two bookings that are not paid."""
    return desk.hold()


@pytest.fixture
def confirmed(desk, held):
    """An order of two paid bookings."""
    return desk.confirm(held)


# ---- hold -------------------------------------------------------------------------------------


def test_two_bookings_are_held_as_one(held):
    assert (held.state, states(held), held.kind) == ("held", ["held", "held"], "hold")
    assert held.totals == {"EUR": sum(part.total for part in held.parts)}
    assert held.expires_at == min(part.expires_at for part in held.parts)


def test_held_order_is_on_record_without_names(desk, held):
    assert orders.unfinished(journal=desk.journal) == ()
    assert orders.get(held.id, journal=desk.journal) == held
    (record,) = desk.journal.load_orders(held.id)
    assert "Okonkwo" not in record.content
    assert "Théo" not in record.content


@pytest.fixture
def refused_hold(desk):
    """The error of a hold whose third booking was refused."""
    desk.sandbox.faults.add("refused", "bookings.create", after=2)
    return hold(desk, 3)


def test_refused_booking_cancels_those_before_it(desk, refused_hold):
    order = refused_hold.order
    assert (order.state, refused_hold.outcome) == ("cancelled", "rejected")
    assert desk.booking(order).stage == desk.booking(order, 1).stage == "voided"
    assert order.parts[2].booking_id is None
    assert order.parts[2].error is refused_hold.cause
    assert "Okonkwo" not in str(refused_hold)


def test_refused_hold_is_refused_again(desk, refused_hold):
    resume(desk, refused_hold.order)


@pytest.fixture
def lost_hold(desk):
    """The error of a hold of three, of whose second booking the reply was lost."""
    desk.sandbox.faults.add("lose_reply", "bookings.create", after=1)
    return hold(desk, 3)


def test_unknown_booking_stops_what_would_follow(desk, lost_hold):
    order = lost_hold.order
    assert (lost_hold.outcome, states(order)) == ("unknown", ["held", "unknown", "cancelled"])
    assert desk.booking(order).stage == "payment_due"
    assert orders.unfinished(journal=desk.journal) == (order,)


def test_unknown_order_is_resumed_first(desk, lost_hold):
    with pytest.raises(errors.InvalidInputError, match="resume it first"):
        desk.run(orders.cancel, lost_hold.order, max_penalty={})


def test_unknown_booking_is_settled_in_the_journal(desk, lost_hold):
    assert "settle journal entry" in str(resume(desk, lost_hold.order))


def test_settled_hold_is_cancelled(desk, lost_hold):
    (entry,) = desk.journal.unresolved()
    made = desk.sandbox.counters.effects_of("bookings.create")[-1].subject
    desk.journal.settle(entry, happened=True, booking_id=made)
    settled = desk.run(orders.resume, lost_hold.order.id)  # the third cannot be made any more
    assert (settled.state, settled.parts[1].booking_id) == ("cancelled", made)
    assert {desk.booking(settled, index).stage for index in (0, 1)} == {"voided"}
    assert orders.unfinished(journal=desk.journal) == ()


def test_unknown_cancellation_stops_those_after_it(desk):
    desk.sandbox.faults.add("refused", "bookings.create", after=2)
    desk.sandbox.faults.add("cut_before", "bookings.cancel")
    order = hold(desk, 3).order
    assert states(order) == ["unknown", "held", "cancelled"]
    assert desk.booking(order, 1).stage == "payment_due"


@pytest.mark.slow
def test_two_names_of_towns_become_two_bookings(desk):
    trip = {"on": date(2050, 6, 6), "passengers": TRAVELLERS[:1], "max_calls": 20}
    itinerary = desk.ferry.trips.connections("Barcelona", "Tunis", **trip)[0]
    party = [{"type": "Adult", "first_name": "Zoë", "last_name": "Reyes"}]
    order = desk.run(orders.hold, itinerary.select(), passengers=party)
    order = desk.confirm(order, expect_totals=itinerary.prices)
    assert (order.state, len(order.parts)) == ("confirmed", 2)


# ---- confirm ----------------------------------------------------------------------------------


def test_confirmed_order_stays_confirmed(desk, confirmed):
    assert confirmed.state == "confirmed"
    assert desk.run(orders.resume, confirmed.id) == confirmed
    assert stages(desk, confirmed) == ["ticketed", "ticketed"]


@pytest.mark.parametrize("expected", ["more", "a part", "nothing"])
def test_nothing_is_confirmed_at_another_sum(desk, held, expected):
    totals = {
        "more": {"EUR": held.totals["EUR"] + 1},
        "a part": {"EUR": held.parts[0].total},
        "nothing": {},
    }
    caught(errors.PriceChangedError, desk.confirm, held, expect_totals=totals[expected])
    assert stages(desk, held) == ["payment_due", "payment_due"]


def test_other_parts_of_the_sum_confirm_nothing(desk, held):
    first, second = held.parts
    cheaper = replace(first, total=first.total - 1)
    dearer = replace(second, total=second.total + 1)
    shown = replace(held, parts=(cheaper, dearer))
    caught(errors.PriceChangedError, desk.confirm, shown, expect_totals=held.totals)
    assert stages(desk, held) == ["payment_due", "payment_due"]


def test_sum_in_another_currency_is_refused(desk, held):
    with pytest.raises(errors.InvalidInputError, match="USD"):
        desk.confirm(held, expect_totals={**held.totals, "USD": 1})


def test_nothing_is_confirmed_beside_a_cancelled_part(desk, held):
    desk.ferry.bookings.cancel(held.parts[0].booking_id)
    with pytest.raises(errors.PriceChangedError, match="cancelled; nothing was confirmed"):
        desk.confirm(held)
    assert desk.booking(held, 1).stage == "payment_due"


@pytest.mark.parametrize(
    ("if_refused", "state", "parts"),
    [
        pytest.param("keep", "partial", ["cancelled", "cancelled", "confirmed"], id="keep"),
        pytest.param("cancel", "cancelled", ["cancelled", "cancelled", "cancelled"], id="cancel"),
    ],
)
def test_refused_confirmation_keeps_or_cancels(desk, if_refused, state, parts):
    order = desk.hold(3)
    desk.sandbox.faults.add("refused", "bookings.confirm", after=1)
    wanted = {"if_refused": if_refused, "max_penalty": {"EUR": 1000}}
    stands = caught(errors.OrderError, desk.confirm, order, **wanted).order
    assert (stands.state, sorted(states(stands))) == (state, parts)
    stage_of = {"confirmed": "ticketed", "cancelled": "voided"}
    assert stages(desk, stands) == [stage_of[part] for part in states(stands)]
    resume(desk, order)


def test_lost_confirmation_counts(desk, held):
    desk.ferry.bookings.confirm(held.parts[0].booking_id)
    desk.sandbox.faults.add("lose_reply", "bookings.confirm")
    assert desk.confirm(held).state == "confirmed"


def test_confirmation_settled_as_not_done_is_named(desk, held):
    desk.sandbox.faults.add("cut_before", "bookings.confirm")
    assert caught(errors.OrderError, desk.confirm, held).outcome == "unknown"
    (entry,) = desk.journal.unresolved()
    desk.journal.settle(entry, happened=False)
    settled = resume(desk, held)
    assert "confirm has not happened" in str(settled)
    assert settled.order.state == "cancelled"


@pytest.fixture
def slow_trip(desk):
    """A trip of a company that issues tickets with a delay; the clock stands still."""
    desk.sandbox.clock.freeze()
    trip = {"on": DAY, "passengers": TRAVELLERS, "companies": ["FRSIBERIA"]}
    return desk.ferry.trips.search("Tarifa", "MATNG", **trip)[0]


@pytest.fixture
def slow_held(desk, slow_trip):
    """An order of one booking of that trip."""
    return desk.run(orders.hold, [slow_trip.select()], passengers=PASSENGERS)


def test_order_is_confirmed_while_its_tickets_are_issued(desk, slow_held):
    desk.sandbox.faults.add("lose_reply", "bookings.confirm")
    assert desk.confirm(slow_held).state == "confirmed"
    assert desk.booking(slow_held).stage == "in_progress"


@pytest.mark.slow
def test_order_is_resumed_while_its_tickets_are_issued(desk, slow_held):
    desk.sandbox.faults.add("lose_reply", "bookings.confirm")
    desk.sandbox.faults.add("server_error", "bookings.get", after=2, times=None)
    assert caught(errors.OrderError, desk.confirm, slow_held).order.state == "unknown"
    assert [order.id for order in orders.unfinished(journal=desk.journal)] == [slow_held.id]

    desk.sandbox.faults.clear()
    assert desk.run(orders.resume, slow_held.id).state == "confirmed"
    assert desk.booking(slow_held).stage == "in_progress"
    assert desk.sandbox.counters.requests["bookings.confirm"] == 1


@pytest.mark.slow
def test_order_is_resumed_when_one_ticket_is_issued(desk):
    desk.sandbox.clock.freeze()
    trip = {
        "on": DAY,
        "back": DAY + timedelta(days=7),
        "passengers": TRAVELLERS,
        "companies": ["MOBY"],
    }
    selection = desk.ferry.trips.search("Livorno", "Olbia", **trip)[0].select()
    order = desk.run(orders.hold, [selection], passengers=PASSENGERS)
    desk.sandbox.faults.add("ticket_fails", "bookings.confirm")
    desk.sandbox.faults.add("lose_reply", "bookings.confirm")
    assert caught(errors.OrderError, desk.confirm, order).order.state == "unknown"

    again = resume(desk, order)
    assert "being issued: resume the order again" in str(again)
    assert "settle" not in str(again)
    assert again.outcome == "unknown"


# ---- cancel -----------------------------------------------------------------------------------


@pytest.fixture
def fee(desk, confirmed):
    """What cancelling the paid bookings costs."""
    fees = [desk.ferry.bookings.cancel_fee(part.booking_id) for part in confirmed.parts]
    return sum(fee.penalty_amount for fee in fees)


def refused_cancellation(desk, order, **limits):
    call = (desk.run, orders.cancel, order)
    return caught(errors.PenaltyExceededError, *call, max_penalty=limits)


def test_limit_of_cancellation_is_sum_of_fees(desk, confirmed, fee):
    error = refused_cancellation(desk, confirmed, EUR=fee - Decimal("0.01"))
    assert (error.penalty, error.currency) == (fee, "EUR")
    assert stages(desk, confirmed) == ["ticketed", "ticketed"]

    assert desk.run(orders.cancel, confirmed, max_penalty={"EUR": fee}).state == "cancelled"
    assert stages(desk, confirmed) == ["voided", "voided"]


def test_fees_in_another_currency_are_refused(desk, confirmed, fee):
    error = refused_cancellation(desk, confirmed, USD=fee)
    assert (error.penalty, error.currency) == (fee, "EUR")
    assert (error.limit, error.expected_currency) == (fee, "USD")
    assert str(error) == (
        f"the cancellation costs {fee:.2f} EUR, the limit is {fee:.2f} USD, "
        "which is in another currency: pass an amount in EUR"
    )
    assert stages(desk, confirmed) == ["ticketed", "ticketed"]


# ---- change -----------------------------------------------------------------------------------


@pytest.fixture
def old(desk):
    """An order of one paid booking, to be changed."""
    return desk.confirm(desk.hold(1))


def test_change_limit_in_another_currency_is_refused(desk, old):
    caught(errors.PenaltyExceededError, change, desk, old, max_penalty={"USD": 1000})
    assert desk.booking(old).stage == "ticketed"


def test_change_at_another_price_keeps_the_old_booking(desk, old):
    dearer = caught(errors.OrderError, change, desk, old, expect_totals={"EUR": 1})
    assert isinstance(dearer.cause, errors.PriceChangedError)
    assert states(dearer.order) == ["cancelled", "confirmed"]
    assert desk.booking(old).stage == "ticketed"


def test_change_replaces_the_old_booking(desk, old):
    changed = change(desk, old)
    assert (changed.kind, changed.state) == ("change", "confirmed")
    assert [part.role for part in changed.parts] == ["new", "old"]
    assert changed.totals == old.totals
    assert (desk.booking(changed).stage, desk.booking(old).stage) == ("ticketed", "voided")


def test_cancelled_booking_is_not_changed(desk, old):
    desk.ferry.bookings.cancel(old.parts[0].booking_id)
    entries = desk.journal.entries()
    error = caught(errors.InvalidInputError, change, desk, old)
    assert (error.field, desk.journal.entries()) == ("booking_id", entries)


def test_booking_that_is_being_issued_is_not_changed(desk, slow_held):
    confirmed = desk.confirm(slow_held)
    entries = desk.journal.entries()
    error = caught(errors.InvalidInputError, change, desk, confirmed)
    assert "being issued" in str(error)
    assert (error.field, desk.journal.entries()) == ("booking_id", entries)


@pytest.fixture
def both_stand(desk, old):
    """The error of a change that could not cancel the old booking."""
    desk.sandbox.faults.add("refused", "bookings.cancel")
    return caught(errors.OrderError, change, desk, old)


def test_change_that_leaves_both_bookings_says_so(desk, both_stand):
    order = both_stand.order
    assert (order.state, states(order)) == ("partial", ["confirmed", "confirmed"])
    assert both_stand.cause is order.parts[1].error
    assert "ConflictError, HTTP 409" in str(resume(desk, order))


def change_to(desk, old, trip):
    """Return the error of a change to a trip that fails."""
    return caught(
        errors.OrderError,
        desk.run,
        orders.change,
        old.parts[0].booking_id,
        to=trip.select(),
        passengers=PASSENGERS,
        expect_totals={trip.currency: trip.price},
        max_penalty={"EUR": 1000},
    )


@pytest.fixture
def slow_change(desk, old, slow_trip):
    """The error of a change whose new booking is not issued in time."""
    return change_to(desk, old, slow_trip)


def test_old_booking_stands_until_the_new_one_is_issued(desk, slow_change):
    order = slow_change.order
    assert (order.state, states(order)) == ("partial", ["confirmed", "confirmed"])
    assert "still being issued, so the old one was not cancelled" in str(slow_change)


def test_change_is_resumed_when_the_new_booking_is_issued(desk, slow_change):
    desk.sandbox.clock.advance(60)
    assert desk.run(orders.resume, slow_change.order.id).state == "confirmed"
    assert desk.booking(slow_change.order, 1).stage == "voided"


def test_rejected_new_booking_keeps_the_old_one(desk, old, slow_trip):
    desk.sandbox.faults.add("fails_later", "bookings.confirm", seconds=0)
    error = change_to(desk, old, slow_trip)
    assert states(error.order) == ["cancelled", "confirmed"]
    assert "the new booking is rejected, so the old one was not cancelled" in str(error)


def test_old_booking_may_be_cancelled_by_itself(desk, both_stand):
    order = both_stand.order
    resume(desk, order)
    desk.ferry.bookings.cancel(order.parts[1].booking_id)
    assert desk.run(orders.resume, order.id).state == "confirmed"


@pytest.fixture
def interrupted_change(desk, old):
    """A change whose new booking is made and not confirmed, at just the fee of the old one."""
    desk.sandbox.clock.freeze()
    limit = desk.ferry.bookings.cancel_fee(old.parts[0].booking_id).penalty_amount
    assert limit > 0
    desk.sandbox.faults.add("unauthorized", "bookings.confirm", status=403)
    order = caught(errors.OrderError, change, desk, old, max_penalty={"EUR": limit}).order
    assert states(order) == ["held", "confirmed"]
    return order


def test_change_counts_a_fee_that_was_paid_once(desk, interrupted_change):
    desk.ferry.bookings.cancel(interrupted_change.parts[1].booking_id)
    resumed = desk.run(orders.resume, interrupted_change.id)
    assert (resumed.state, states(resumed)) == ("confirmed", ["confirmed", "cancelled"])


HIGH_REFUND = {"field": "refund_amount", "value": "50.00"}


def check_refund(desk, old, error):
    assert (error.min_refund, error.refund) == (Decimal("50.00"), 0)
    assert desk.booking(old).stage == "ticketed"


def test_refund_below_the_limit_stops_a_change(desk, old):
    booking_id = old.parts[0].booking_id
    desk.sandbox.faults.add("unknown_enum", "bookings.cancel_fee", times=1, **HIGH_REFUND)
    fee = desk.ferry.bookings.cancel_fee(booking_id)
    limits = {
        "max_penalty": {"EUR": fee.penalty_amount},
        "min_refund": {"EUR": fee.refund_amount},
    }
    check_refund(desk, old, caught(errors.PenaltyExceededError, change, desk, old, **limits))
    assert desk.sandbox.counters.requests["bookings.create"] == 1
    assert desk.sandbox.counters.requests["bookings.cancel"] == 0


@pytest.mark.parametrize(
    ("reads", "cancelled"),
    [
        pytest.param(1, ["new"], id="first read"),
        pytest.param(2, [], id="second read"),
        pytest.param(3, [], id="third read"),
    ],
)
def test_refund_that_falls_later_stops_a_change(desk, old, reads, cancelled):
    booking_id = old.parts[0].booking_id
    desk.sandbox.faults.add("unknown_enum", "bookings.cancel_fee", times=1 + reads, **HIGH_REFUND)
    fee = desk.ferry.bookings.cancel_fee(booking_id)
    limits = {"max_penalty": {"EUR": fee.penalty_amount}}
    cause = caught(errors.OrderError, change, desk, old, **limits).cause
    assert isinstance(cause, errors.PenaltyExceededError)
    check_refund(desk, old, cause)
    assert desk.sandbox.counters.requests["bookings.create"] == 2
    assert desk.sandbox.counters.requests["bookings.cancel"] == len(cancelled)


def test_decimal_context_keeps_the_refund_limit(desk, old):
    """The limit is 50.40: what is paid back now, because no higher fee is allowed."""
    fee = {"penalty_amount": "10.00", "currency": "EUR", "ticket_status": "Issued"}
    fault = partial(desk.sandbox.faults.add, "wrong_shape", "bookings.cancel_fee", times=1)
    fault(value=fee | {"refund_amount": "50.40"})
    fault(value=fee | {"refund_amount": "50.10"})
    with localcontext(Context(prec=2)):
        cause = caught(errors.OrderError, change, desk, old, max_penalty={"EUR": 10}).cause
    assert (cause.min_refund, cause.refund) == (Decimal("50.40"), Decimal("50.10"))


# ---- Arguments, and the journal ---------------------------------------------------------------

BAD = {"availability_id": "a"}
"""A selection without a tariff."""


@pytest.mark.parametrize(
    "field",
    [
        "selections[1][0].tariff_id",
        "selections",
        "passengers",
        "order_id",
        "to[0].tariff_id",
        "expect_totals",
    ],
)
def test_invalid_argument_begins_no_order(desk, field):
    (selection,) = desk.selections(1)
    good = {
        "to": selection,
        "passengers": PASSENGERS,
        "expect_totals": {"EUR": 1},
        "max_penalty": {},
    }
    match field:
        case "selections[1][0].tariff_id":
            call = partial(orders.hold, passengers=PASSENGERS)
            subject = [selection, [BAD]]
        case "selections":
            call = partial(orders.hold, passengers=PASSENGERS)
            subject = []
        case "passengers":
            call = partial(orders.hold, passengers=[])
            subject = [selection]
        case "order_id":
            call = orders.resume
            subject = "none"
        case "to[0].tariff_id":
            call = partial(orders.change, **good | {"to": [BAD]})
            subject = "b"
        case "expect_totals":
            call = partial(orders.change, **good | {"expect_totals": {}})
            subject = "b"
    assert caught(errors.InvalidInputError, desk.run, call, subject).field == field
    assert desk.journal.entries() == desk.journal.load_orders() == ()


def test_read_only_client_begins_no_order(desk):
    view = desk.ferry.with_options(read_only=True)
    arguments = {"passengers": PASSENGERS, "journal": desk.journal}
    caught(errors.ReadOnlyError, orders.hold, view, desk.selections(1), **arguments)
    assert desk.journal.entries() == desk.journal.load_orders() == ()


def test_earlier_journal_gets_its_table(desk):
    with desk.journal._engine.connect() as connection:
        desk.journal.entries()  # makes the tables
        connection.exec_driver_sql("DROP TABLE ferry_journal_orders")
    assert orders.unfinished(journal=desk.journal) == ()
    assert desk.journal.forget(older_than=0) == 0
    order = desk.hold(1)
    assert orders.get(order.id, journal=desk.journal) == order


def test_second_program_cannot_save_an_order(desk, held):
    (record,) = desk.journal.load_orders(held.id)
    desk.journal.save_order(record)
    with pytest.raises(errors.JournalError, match="another program"):
        desk.journal.save_order(record)


@pytest.fixture
def settled_hold(desk):
    """An unfinished order whose entry is settled as not happened, and the id of the entry."""
    desk.sandbox.faults.add("lose_reply", "bookings.create")
    order = hold(desk, 1).order
    (entry,) = desk.journal.unresolved()
    desk.journal.settle(entry, happened=False)
    return order, entry.id


def test_finished_order_is_forgotten(desk):
    order = desk.hold(1)
    desk.journal.forget(older_than=0)
    caught(errors.InvalidInputError, orders.get, order.id, journal=desk.journal)


def test_entry_is_forgotten_when_its_order_ends(desk, settled_hold):
    order, entry_id = settled_hold
    desk.journal.forget(older_than=0)
    assert [entry.id for entry in desk.journal.entries()] == [entry_id]

    resume(desk, order)
    assert orders.unfinished(journal=desk.journal) == ()
    desk.journal.forget(older_than=0)
    assert desk.journal.entries() == desk.journal.load_orders() == ()


# ---- A failed reply that names a booking ------------------------------------------------------

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


# ---- What is kept on record -------------------------------------------------------------------


def test_resumed_order_keeps_the_text_of_its_cause(desk, old):
    dearer = caught(errors.OrderError, change, desk, old, expect_totals={"EUR": 1})
    again = resume(desk, dearer.order)
    assert str(again.cause) == str(dearer.cause)
    assert "expected 1.00 EUR" in str(again)


def test_resumed_order_keeps_the_code_alone(desk, refused_hold):
    again = resume(desk, refused_hold.order)
    assert refused_hold.cause.code in str(again)
    assert refused_hold.cause.message not in str(again)


@pytest.fixture
def damaged(desk, url):
    """An unfinished order whose record is damaged."""
    desk.sandbox.faults.add("lose_reply", "bookings.create", times=None)
    order = hold(desk, 1).order
    run_sql(url, f"UPDATE ferry_journal_orders SET content = 'x' WHERE id = '{order.id}'")  # noqa: S608 -- an id of the test
    return order


def test_damaged_order_takes_no_other_with_it(desk, damaged):
    whole = hold(desk, 2).order
    first, second = orders.unfinished(journal=desk.journal)
    assert (first.id, first.state) == (damaged.id, "unknown")
    assert isinstance(first.parts[0].error, errors.JournalError)
    assert damaged.id in str(first.parts[0].error)
    assert second == whole


def test_damaged_order_is_not_resumed(desk, damaged):
    with pytest.raises(errors.JournalError, match=damaged.id):
        desk.run(orders.resume, damaged.id)
