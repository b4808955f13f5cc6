from datetime import timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from offline_service import ONE_TICKET, TWO_TICKETS, OfflineService, departure

from ferry_sdk.sandbox.bookings.fees import FEE_SCHEDULES, cancellation_fee
from ferry_sdk.sandbox.network.network import Network
from tests.support.tables import each

HOUR = timedelta(hours=1)
FAMILIES = st.sampled_from(sorted(FEE_SCHEDULES))
NOTICES = st.sampled_from([0.5, 1.0, 2.0])
AMOUNTS = st.decimals(0, 9999, places=2)
LEFT = st.timedeltas(timedelta(days=-2), timedelta(days=60))


@each(
    ("family", "left", "kept"),
    [
        ("flex", 24 * HOUR, "0.00"),
        ("flex", 24 * HOUR - timedelta(seconds=1), "20.00"),
        ("flex", 2 * HOUR, "20.00"),
        ("flex", 1 * HOUR, "50.00"),
        ("standard", 7 * 24 * HOUR, "20.00"),
        ("standard", 48 * HOUR, "50.00"),
        ("standard", 47 * HOUR, "100.00"),
        ("saver", 300 * 24 * HOUR, "100.00"),
        ("flex", timedelta(seconds=-1), "100.00"),
    ],
)
def test_the_penalty_follows_the_schedule_of_the_fare_family(family, left, kept):
    fee = cancellation_fee(Decimal("100.00"), family=family, notice=1.0, left=left)
    assert (str(fee.penalty), fee.refund) == (kept, Decimal(100) - Decimal(kept))


@each(("notice", "kept"), [(0.5, 0), (1.0, 0), (2.0, 20)])
def test_a_strict_company_requires_more_notice(notice, kept):
    fee = cancellation_fee(Decimal(100), family="flex", notice=notice, left=30 * HOUR)
    assert fee.penalty == kept


@given(paid=AMOUNTS, family=FAMILIES, notice=NOTICES, left=LEFT)
def test_penalty_and_refund_add_up_to_the_payment(paid, family, notice, left):
    fee = cancellation_fee(paid, family=family, notice=notice, left=left)
    assert fee.penalty + fee.refund == paid
    assert fee.penalty >= 0
    assert fee.refund >= 0
    assert fee.penalty == fee.penalty.quantize(Decimal("0.01"))


@given(paid=AMOUNTS, family=FAMILIES, notice=NOTICES, left=LEFT, later=st.timedeltas(timedelta()))
def test_the_penalty_never_falls_with_time(paid, family, notice, left, later):
    now = cancellation_fee(paid, family=family, notice=notice, left=left)
    then = cancellation_fee(paid, family=family, notice=notice, left=left - later)
    assert then.penalty >= now.penalty


def test_every_fare_family_has_a_schedule():
    offline = OfflineService()
    found = offline.search(ONE_TICKET, back=7)
    families = {
        tariff.level.family
        for one in found
        for tariff in offline.service.offers.find(one["id"]).tariffs
    }
    assert families == set(FEE_SCHEDULES)


def test_companies_have_different_rules():
    companies = Network.load().companies.values()
    assert {each.voucher_delay for each in companies} == {None, 0 * HOUR, HOUR / 6}
    assert {each.issuing_time for each in companies} == {0 * HOUR, timedelta(seconds=3)}
    assert {each.notice for each in companies} == {0.5, 1.0, 2.0}
    assert {each.one_ticket for each in companies} == {True, False}


def test_the_preview_changes_nothing_and_equals_the_cancellation():
    offline = OfflineService()
    created = offline.create()
    offline.confirm(created)
    before = offline.booking(created)
    effects = offline.counters.effects
    preview = offline.perform("bookings.cancel_fee", id=created["booking_id"])
    assert preview == offline.perform("bookings.cancel_fee", id=before["tickets"][0]["id"])
    assert (offline.booking(created), offline.counters.effects) == (before, effects)
    assert preview["ticket_status"] == "Issued"
    assert preview["currency"] == "EUR"
    assert round(preview["penalty_amount"] + preview["refund_amount"], 2) == created["total_price"]
    assert 0 < preview["penalty_amount"] < created["total_price"]
    answer = offline.perform("bookings.cancel", booking_id=created["booking_id"])
    assert answer["refund_amount"] == preview["refund_amount"]


def test_the_fee_rises_as_departure_approaches():
    offline = OfflineService()
    created = offline.create(name="FLEX")
    offline.confirm(created)
    sails = departure(offline.booking(created))
    ticket = offline.booking(created)["tickets"][0]["id"]
    penalties = []
    for left in (25 * HOUR, 23 * HOUR, HOUR, -HOUR):
        offline.clock.travel_to(sails - left)
        penalties.append(offline.perform("bookings.cancel_fee", id=ticket)["penalty_amount"])
    total = created["total_price"]
    assert penalties == [
        0,
        pytest.approx(0.2 * total, abs=0.02),
        pytest.approx(0.5 * total, abs=0.02),
        total,
    ]


def test_an_unpaid_booking_has_no_fee():
    offline = OfflineService()
    created = offline.create(name="SAVER")
    fee = offline.perform("bookings.cancel_fee", id=created["booking_id"])
    assert (fee["penalty_amount"], fee["refund_amount"], fee["ticket_status"]) == (0, 0, "Blocked")
    answer = offline.perform("bookings.cancel", booking_id=created["booking_id"])
    assert answer["refund_amount"] == 0


def test_after_a_cancellation_the_preview_returns_the_actual_amounts():
    offline = OfflineService()
    created = offline.create(TWO_TICKETS, back=7)
    offline.confirm(created)
    first, second = (ticket["id"] for ticket in offline.booking(created)["tickets"])
    before = offline.perform("bookings.cancel_fee", id=first)
    offline.perform("tickets.cancel", ticket_id=first)
    assert offline.perform("bookings.cancel_fee", id=first) == {
        **before,
        "ticket_status": "Canceled",
    }
    whole = offline.perform("bookings.cancel_fee", id=created["booking_id"])
    assert (
        whole["refund_amount"] == offline.perform("bookings.cancel_fee", id=second)["refund_amount"]
    )
