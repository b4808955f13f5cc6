"""A scripted agent books and cancels, with approval by a person and by codes."""

from decimal import Decimal

import pytest

from ferry_sdk import AsyncFerry, ConfigurationError, Ferry
from ferry_sdk.agents import AsyncToolkit, Toolkit
from tests.agents.agent import WRITES, error, order, query, result_of
from tests.support.effects import effects

DONE = ["bookings.create", "bookings.confirm", "bookings.cancel"]


def test_an_agent_books_and_cancels_with_approval_by_a_person(
    toolkit_of, agree, asked, ferry_sandbox
):
    records = []
    toolkit = toolkit_of(
        writes=True,
        approve=agree,
        spend_limit={"EUR": 1000},
        penalty_limit={"EUR": "500.00"},
        audit=records.append,
    )
    journeys = toolkit.do("catalogue_journeys")["items"]
    (journey,) = (one for one in journeys if one["route"] == "Tarifa → Tangier (city)")
    assert journey["journey_id"] == query()["out_journey_id"]
    booking = toolkit.book()
    confirmed = toolkit.do("bookings_confirm", booking_id=booking["booking_id"])
    read = toolkit.do("bookings_get", booking_id=booking["booking_id"])
    fee = toolkit.do("bookings_cancel_fee", id=booking["booking_id"])
    toolkit.do("tickets_get", ticket_id=confirmed["ticket_id"])
    cancelled = toolkit.do("bookings_cancel", booking_id=booking["booking_id"])
    assert read["stage"] == "ticketed"
    assert cancelled["refund_amount"] == fee["refund_amount"]
    assert effects(ferry_sandbox) == DONE
    assert [one.tool for one in asked] == ["bookings_create", "bookings_confirm", "bookings_cancel"]
    create, confirm, cancel = asked
    assert (create.amount, create.currency) == (Decimal(booking["total_price"]), "EUR")
    assert "Tarifa" in create.summary
    assert '"Ticket"' in create.summary
    assert "1 traveller" in create.summary
    assert create.travellers == ('"Marguerite Okonkwo"',)
    assert confirm.subject == {"booking_id": booking["booking_id"]}
    assert booking["booking_reference"] in confirm.summary
    assert cancel.amount == Decimal(fee["penalty_amount"])
    assert [one.status for one in records] == ["done"] * 8
    write = records[2]
    assert (write.tool, write.approval, write.outcome) == ("bookings_create", "callback", "done")
    assert (write.amount, write.currency) == (create.amount, "EUR")
    assert set(write.subject) == {"availability_id_1", "booking_id"}
    assert toolkit.unresolved == ()


def test_a_booking_made_elsewhere_is_read_before_it_is_changed(toolkit_of, agree):
    booking_id = toolkit_of(writes=True, approve=agree).book()["booking_id"]
    other = toolkit_of(writes=True, approve=agree)
    refused = other.fail("bookings_confirm", "unseen_id", booking_id=booking_id)
    assert "bookings_get" in refused["next_step"]
    other.do("bookings_get", booking_id=booking_id)
    other.pay(booking_id)


def test_a_toolkit_only_reads_by_default_and_takes_codes_where_nobody_is_asked(toolkit_of):
    writing = toolkit_of(writes=True)
    names = {one.name for one in toolkit_of().definitions()}
    writes = {one.replace(".", "_") for one in WRITES}
    assert {one.name for one in writing.definitions()} - names == writes
    viewed = toolkit_of({"read_only": True}, writes=True)
    assert {one.name for one in viewed.definitions()} == names
    assert all("mark_paid" not in one.name for one in writing.definitions())
    asking = toolkit_of(writes=True, approve=lambda _: True)
    for toolkit, taking in ((asking, 0), (writing, 4)):
        arguments = [one.input_schema["properties"] for one in toolkit.definitions()]
        assert sum("confirmation_code" in one for one in arguments) == taking


def test_a_preview_returns_the_approval_request_and_changes_nothing(toolkit_of, ferry_sandbox):
    records = []
    toolkit = toolkit_of(writes=True, audit=records.append)
    wanted = order(toolkit.sailings()[0])
    viewed = len(records)
    assert toolkit.preview("bookings_create", wanted).tool == "bookings_create"
    assert len(records) == viewed
    assert ferry_sandbox.counters.effects == ()
    refused = toolkit.perform("bookings_create", wanted, approve=lambda _: False)
    error(refused, "declined")
    coded = {**wanted, "confirmation_code": "BBBBBBBBBB"}
    refused = toolkit.perform("bookings_create", coded, approve=lambda _: True)
    assert error(refused, "invalid_arguments")["field"] == "confirmation_code"
    result_of(toolkit.perform("bookings_create", wanted, approve=lambda one: one.amount > 0))
    error(toolkit.preview("bookings_create", wanted), "already_done")
    error(toolkit.preview("bookings_get", {"booking_id": "b"}), "invalid_arguments")
    assert len(records) == viewed + 5


def test_an_invalid_setting_is_named(ferry_sandbox):
    async def approve(_):
        return True

    limits = [{"spend_limit": {"eur": 5}}, {"spend_limit": {"EUR": 5.0}}]
    async_ferry = AsyncFerry(ferry_sandbox.token, base_url=ferry_sandbox.base_url)
    with Ferry(ferry_sandbox.token, base_url=ferry_sandbox.base_url) as ferry:
        for settings in (*limits, {"penalty_limit": {"EUR": -1}}, {"approve": approve}):
            with pytest.raises(ConfigurationError, match=next(iter(settings))):
                Toolkit(ferry, **{"writes": True, **settings})
            if "approve" not in settings:
                with pytest.raises(ConfigurationError, match=next(iter(settings))):
                    AsyncToolkit(async_ferry, writes=True, **settings)
        with pytest.raises(ConfigurationError, match="AsyncToolkit takes"):
            Toolkit(async_ferry)
        with pytest.raises(ConfigurationError, match="Toolkit takes"):
            AsyncToolkit(ferry)
