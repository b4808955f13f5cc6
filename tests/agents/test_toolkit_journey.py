"""A scripted agent books and cancels, with approval by a person and by codes."""

import re
from decimal import Decimal

import pytest

from ferry_sdk import AsyncFerry, ConfigurationError
from ferry_sdk.agents import AsyncToolkit, Toolkit
from tests.agents.agent import WRITES, error, order, query, result_of
from tests.support.effects import effects

DONE = ["bookings.create", "bookings.confirm", "bookings.cancel"]


def test_an_agent_books_with_a_persons_approval(toolkit_of, agree, asked, ferry_sandbox):
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
    assert re.search(r"; 1 traveller\b", create.summary)
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


def test_a_booking_made_elsewhere_is_read_first(toolkit_of, agree):
    booking_id = toolkit_of(writes=True, approve=agree).book()["booking_id"]
    other = toolkit_of(writes=True, approve=agree)
    refused = other.fail("bookings_confirm", "unseen_id", booking_id=booking_id)
    assert "bookings_get" in refused["next_step"]
    other.do("bookings_get", booking_id=booking_id)
    other.pay(booking_id)


@pytest.fixture
def reading_tools(toolkit_of):
    """The names of the tools that a toolkit has by default."""
    return {tool.name for tool in toolkit_of().definitions()}


def test_a_toolkit_only_reads_by_default(toolkit_of, reading_tools):
    writing = {tool.name for tool in toolkit_of(writes=True).definitions()}
    assert writing - reading_tools == {name.replace(".", "_") for name in WRITES}
    assert not any("mark_paid" in name for name in writing)


def test_a_read_only_client_offers_no_writes(toolkit_of, reading_tools):
    toolkit = toolkit_of({"read_only": True}, writes=True)
    assert {tool.name for tool in toolkit.definitions()} == reading_tools


@pytest.mark.parametrize(
    ("settings", "count"),
    [
        pytest.param({}, len(WRITES), id="nobody"),
        pytest.param({"approve": lambda _: True}, 0, id="a person"),
    ],
)
def test_writes_take_codes_where_nobody_is_asked(toolkit_of, settings, count):
    toolkit = toolkit_of(writes=True, **settings)
    arguments = [tool.input_schema["properties"] for tool in toolkit.definitions()]
    assert sum("confirmation_code" in names for names in arguments) == count


def test_a_preview_changes_nothing(toolkit_of, ferry_sandbox):
    records = []
    toolkit = toolkit_of(writes=True, audit=records.append)
    wanted = order(toolkit.sailings()[0])
    before = len(records)
    assert toolkit.preview("bookings_create", wanted).tool == "bookings_create"
    assert len(records) == before
    assert ferry_sandbox.counters.effects == ()


def test_a_call_may_have_its_own_approver(toolkit_of):
    toolkit = toolkit_of(writes=True)
    wanted = order(toolkit.sailings()[0])
    error(toolkit.perform("bookings_create", wanted, approve=lambda _: False), "declined")
    result_of(
        toolkit.perform("bookings_create", wanted, approve=lambda request: request.amount > 0)
    )


def test_a_code_is_no_argument_beside_an_approver(toolkit_of):
    toolkit = toolkit_of(writes=True)
    coded = {**order(toolkit.sailings()[0]), "confirmation_code": "BBBBBBBBBB"}
    refused = toolkit.perform("bookings_create", coded, approve=lambda _: True)
    assert error(refused, "invalid_arguments")["field"] == "confirmation_code"


def test_a_refused_preview_is_recorded(toolkit_of):
    records = []
    toolkit = toolkit_of(writes=True, approve=lambda _: True, audit=records.append)
    wanted = order(toolkit.sailings()[0])
    toolkit.do("bookings_create", **wanted)
    before = len(records)
    error(toolkit.preview("bookings_create", wanted), "already_done")
    error(toolkit.preview("bookings_get", {"booking_id": "b"}), "invalid_arguments")
    assert len(records) == before + 2


async def approve_later(_):
    return True


@pytest.fixture
def async_client(ferry_sandbox):
    return AsyncFerry(ferry_sandbox.token, base_url=ferry_sandbox.base_url)


each_wrong_limit = pytest.mark.parametrize(
    ("setting", "limit"),
    [
        pytest.param("spend_limit", {"eur": 5}, id="currency"),
        pytest.param("spend_limit", {"EUR": 5.0}, id="float"),
        pytest.param("penalty_limit", {"EUR": -1}, id="negative"),
    ],
)


@each_wrong_limit
def test_an_invalid_limit_is_named(ferry, setting, limit):
    with pytest.raises(ConfigurationError, match=setting):
        Toolkit(ferry, writes=True, **{setting: limit})


@each_wrong_limit
def test_an_async_toolkit_names_an_invalid_limit(async_client, setting, limit):
    with pytest.raises(ConfigurationError, match=setting):
        AsyncToolkit(async_client, writes=True, **{setting: limit})


def test_an_async_approver_needs_an_async_toolkit(ferry):
    with pytest.raises(ConfigurationError, match="approve"):
        Toolkit(ferry, writes=True, approve=approve_later)


def test_a_toolkit_takes_a_client_of_its_kind(ferry, async_client):
    with pytest.raises(ConfigurationError, match="AsyncToolkit takes"):
        Toolkit(async_client)
    with pytest.raises(ConfigurationError, match="Toolkit takes"):
        AsyncToolkit(ferry)
