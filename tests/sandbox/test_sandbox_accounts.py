"""Accounts of one service: each has tokens, bookings, searches and MCP sessions of its own."""

import re

import httpx
import pytest

from ferry_sdk import APIError, AuthenticationError, Ferry, NotFoundError, PermissionDeniedError
from ferry_sdk.sandbox import InvalidOrderError, McpOptions, Sandbox, crossing
from tests.support.wire import TLS

NAMES = ("north", "south")


@pytest.fixture
def sandbox():
    """A service with two accounts."""
    with Sandbox(accounts=NAMES) as sandbox:
        yield sandbox


def client_of(sandbox, name):
    account = sandbox.accounts[name]
    return Ferry(
        account.token,
        base_url=sandbox.base_url,
        organisation_token=account.organisation_token,
        max_retries=0,
    )


@pytest.fixture
def north(sandbox):
    """A client of the first account."""
    with client_of(sandbox, "north") as ferry:
        yield ferry


@pytest.fixture
def south(sandbox):
    """A client of the second account."""
    with client_of(sandbox, "south") as ferry:
        yield ferry


def test_accounts_are_in_order(sandbox):
    assert [*sandbox.accounts] == [*NAMES]
    assert [account.name for account in sandbox.accounts.values()] == [*NAMES]


def test_every_token_is_different(sandbox):
    tokens = [
        token
        for account in sandbox.accounts.values()
        for token in (account.token, account.read_only_token, account.organisation_token)
    ]
    assert len(set(tokens)) == 6


def test_service_tokens_are_those_of_the_first(sandbox):
    first = sandbox.accounts["north"]
    assert sandbox.token == first.token
    assert sandbox.read_only_token == first.read_only_token
    assert sandbox.organisation_token == first.organisation_token


def test_given_tokens_are_those_of_the_first():
    sandbox = Sandbox(accounts=NAMES, token="made-up", read_only_token="only-reads")
    assert sandbox.accounts["north"].token == "made-up"
    assert sandbox.accounts["north"].read_only_token == "only-reads"
    assert sandbox.accounts["south"].token != "made-up"


def test_there_is_one_account_without_names():
    sandbox = Sandbox()
    assert [*sandbox.accounts] == ["default"]
    assert sandbox.accounts["default"].token == sandbox.token


def test_repr_of_an_account_hides_its_tokens(sandbox):
    assert repr(sandbox.accounts["south"]) == "Account(name='south')"


def test_accounts_cannot_be_changed(sandbox):
    with pytest.raises(TypeError):
        sandbox.accounts["west"] = sandbox.accounts["north"]


@pytest.mark.parametrize(
    "names",
    [
        pytest.param("north", id="a text"),
        pytest.param(("north", "north"), id="twice the same"),
        pytest.param(("",), id="empty"),
        pytest.param(("north sea",), id="white space"),
        pytest.param(("Zoë",), id="accent"),
        pytest.param(("n" * 65,), id="too long"),
        pytest.param((5,), id="a number"),
    ],
)
def test_invalid_names_are_refused(names):
    with pytest.raises(InvalidOrderError) as caught:
        Sandbox(accounts=names)
    assert caught.value.field == "accounts"


def test_control_token_differs_from_every_token():
    with pytest.raises(ValueError, match="differ"):
        Sandbox(accounts=NAMES, token="made-up", control_token="made-up")


# Ids of another account

FOREIGN = {
    "bookings.get": lambda ferry, made: ferry.bookings.get(made.booking_id),
    "bookings.confirm": lambda ferry, made: ferry.bookings.confirm(made.booking_id),
    "bookings.cancel": lambda ferry, made: ferry.bookings.cancel(made.booking_id),
    "bookings.cancel_fee": lambda ferry, made: ferry.bookings.cancel_fee(made.booking_id),
    "tickets.get": lambda ferry, made: ferry.tickets.get(made.tickets[0].id),
    "tickets.cancel": lambda ferry, made: ferry.tickets.cancel(made.tickets[0].id),
    "tickets.cancel_fee": lambda ferry, made: ferry.tickets.cancel_fee(made.tickets[0].id),
    "tickets.pdf": lambda ferry, made: ferry.tickets.pdf(made.tickets[0].id),
    "tickets.mark_paid": lambda ferry, made: ferry.tickets.mark_paid(
        made.tickets[0].id, external_payment_ref="psp-1"
    ),
    "mcp.confirm_booking": lambda ferry, made: ferry.mcp.confirm_booking(made.booking_id),
    "mcp.view_ticket": lambda ferry, made: ferry.mcp.view_ticket(made.tickets[0].id),
    "mcp.cancel_ticket": lambda ferry, made: ferry.mcp.cancel_ticket(made.tickets[0].id),
}


class Unknown:
    """A booking that no account has."""

    booking_id = "7a1c1a52-90f8-4dd5-a46a-5a51c0d6a7d1"

    class Ticket:
        id = "0bd6f0b4-4d5c-4a3f-9c0a-43fd0a0d6d11"

    tickets = (Ticket,)


def error_of(call, ferry, made):
    with pytest.raises(APIError) as caught:
        call(ferry, made)
    error = caught.value
    return type(error), error.status_code, error.code, error.message


@pytest.mark.parametrize("call", FOREIGN.values(), ids=FOREIGN)
def test_id_of_another_account_does_not_exist(sandbox, south, call):
    made = sandbox.make_booking("payment_due")
    assert error_of(call, south, made) == error_of(call, south, Unknown)


@pytest.mark.parametrize("call", FOREIGN.values(), ids=FOREIGN)
def test_another_account_changes_nothing(sandbox, north, south, call):
    made = sandbox.make_booking("payment_due")
    with pytest.raises(APIError):
        call(south, made)
    assert north.bookings.get(made.booking_id) == made


def test_booking_of_another_account_is_not_found(sandbox, north):
    made = sandbox.make_booking(account="south")
    with pytest.raises(NotFoundError):
        north.bookings.get(made.booking_id)


def test_search_of_another_account_cannot_be_booked(sandbox, north, south):
    sandbox.clock.freeze()
    order = crossing(north)
    sandbox.clock.advance(1)
    crossing(south)
    with pytest.raises(APIError, match="availability"):
        south.bookings.create(**order)


@pytest.mark.parametrize("name", NAMES)
def test_account_books_confirms_and_cancels(sandbox, name):
    with client_of(sandbox, name) as ferry:
        booking = ferry.bookings.create(**crossing(ferry))
        ferry.bookings.confirm(booking.booking_id)
        ferry.bookings.cancel(booking.booking_id)
        assert ferry.bookings.get(booking.booking_id).stage == "voided"


@pytest.mark.parametrize("name", NAMES)
def test_read_only_token_reads_its_account(sandbox, name):
    made = sandbox.make_booking("payment_due", account=name)
    token = sandbox.accounts[name].read_only_token
    with Ferry(token, base_url=sandbox.base_url) as ferry:
        assert ferry.bookings.get(made.booking_id).stage == "payment_due"
        with pytest.raises(PermissionDeniedError):
            ferry.bookings.confirm(made.booking_id)


def test_unknown_token_has_no_account(sandbox):
    with Ferry("made-up", base_url=sandbox.base_url) as ferry, pytest.raises(AuthenticationError):
        ferry.catalogue.ports()


def test_views_of_a_client_have_accounts_of_their_own(sandbox, north):
    south = north.with_options(token=sandbox.accounts["south"].token)
    booking = south.bookings.create(**crossing(south))
    assert south.bookings.get(booking.booking_id).booking_id == booking.booking_id
    with pytest.raises(NotFoundError):
        north.bookings.get(booking.booking_id)


def test_voucher_opens_by_its_key(sandbox, south):
    (ticket,) = sandbox.make_booking(account="south").tickets
    assert south.tickets.read_pdf(ticket.id).startswith(b"%PDF-")


def test_accounts_share_places():
    with Sandbox(accounts=NAMES, inventory=True) as sandbox:
        north = sandbox.service._sales["north"].offers
        south = sandbox.service._sales["south"].offers
        assert north.inventory is south.inventory


# MCP sessions


@pytest.fixture
def session_required():
    """A service of two accounts whose `/mcp` needs sessions."""
    with Sandbox(accounts=NAMES, mcp=McpOptions(session="required")) as sandbox:
        yield sandbox


def rpc(http, method, session=None, token=None, **params):
    headers = {} if session is None else {"mcp-session-id": session}
    if token is not None:
        headers["authorization"] = f"Bearer {token}"
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    return http.post("/mcp", json=body, headers=headers)


@pytest.fixture
def opened(session_required):
    """A client of HTTP, and a session of the first account."""
    account = session_required.accounts["north"]
    headers = {"authorization": f"Bearer {account.token}"}
    with httpx.Client(verify=TLS, base_url=session_required.base_url, headers=headers) as http:
        reply = rpc(http, "initialize", protocolVersion="2025-06-18")
        yield http, reply.headers["mcp-session-id"]


def test_session_is_of_its_account(session_required, opened):
    http, session = opened
    assert rpc(http, "ping", session).status_code == 200
    other = rpc(http, "ping", session, session_required.accounts["south"].token)
    assert (other.status_code, other.json()["error"]["message"]) == (404, "Session not found")


def test_another_account_cannot_end_a_session(session_required, opened):
    http, session = opened
    token = session_required.accounts["south"].token
    headers = {"mcp-session-id": session, "authorization": f"Bearer {token}"}
    assert http.delete("/mcp", headers=headers).status_code == 404
    assert rpc(http, "ping", session).status_code == 200


def test_read_only_token_shares_the_session(session_required, opened):
    http, session = opened
    token = session_required.accounts["north"].read_only_token
    assert rpc(http, "ping", session, token).status_code == 200


# What the service shows of accounts


def test_bookings_are_made_for_an_account(sandbox, south):
    made = sandbox.make_booking(account="south")
    assert south.bookings.get(made.booking_id) == made


def test_booking_is_made_over_http_for_an_account(sandbox, south):
    reply = httpx.post(
        f"{sandbox.base_url}/_sandbox/bookings", json={"account": "south"}, verify=TLS
    )
    assert south.bookings.get(reply.json()["booking_id"]).stage == "ticketed"


def test_unknown_account_is_named(sandbox):
    with pytest.raises(InvalidOrderError, match="north, south") as caught:
        sandbox.make_booking(account="west")
    assert caught.value.field == "account"


def test_list_of_bookings_names_their_accounts(sandbox):
    made = [sandbox.make_booking(account=name) for name in ("north", "south", "north")]
    state = httpx.get(f"{sandbox.base_url}/_sandbox/bookings", verify=TLS).json()
    rows = [(row["booking_id"], row["account"]) for row in state["bookings"]]
    names = ["north", "south", "north"]
    assert rows == [(one.booking_id, name) for one, name in zip(made, names, strict=True)][::-1]
    assert state["total"] == 3


def test_counters_are_of_the_whole_service(sandbox, north, south):
    for ferry in (north, south):
        ferry.bookings.create(**crossing(ferry))
    assert sandbox.counters.requests["bookings.create"] == 2
    assert len(sandbox.counters.effects_of("bookings.create")) == 2


def test_reset_clears_every_account(sandbox, south):
    made = sandbox.make_booking(account="south")
    sandbox.reset()
    with pytest.raises(NotFoundError):
        south.bookings.get(made.booking_id)
    assert south.bookings.create(**crossing(south)).stage == "payment_due"


# The state file


def test_accounts_keep_their_bookings(tmp_path):
    file = tmp_path / "state"
    with Sandbox(accounts=NAMES, state=file) as sandbox:
        made = {name: sandbox.make_booking(account=name) for name in NAMES}

    with Sandbox(accounts=NAMES, state=file) as sandbox:
        for name, other in (("north", "south"), ("south", "north")):
            with client_of(sandbox, name) as ferry:
                assert ferry.bookings.get(made[name].booking_id).booking_id
                with pytest.raises(NotFoundError):
                    ferry.bookings.get(made[other].booking_id)


def test_bookings_of_other_accounts_stay_in_the_file(tmp_path):
    file = tmp_path / "state"
    with Sandbox(accounts=NAMES, state=file) as sandbox:
        made = sandbox.make_booking(account="south")
    with Sandbox(state=file) as sandbox:
        sandbox.make_booking()
        with (
            Ferry(sandbox.token, base_url=sandbox.base_url) as ferry,
            pytest.raises(NotFoundError),
        ):
            ferry.bookings.get(made.booking_id)

    with (
        Sandbox(accounts=("south",), state=file) as sandbox,
        client_of(sandbox, "south") as ferry,
    ):
        assert ferry.bookings.get(made.booking_id).booking_id == made.booking_id


def test_file_without_accounts_is_that_of_the_default(tmp_path):
    file = tmp_path / "state"
    with Sandbox(state=file) as sandbox:
        made = sandbox.make_booking()
        record = sandbox.service._state.bookings()[0]
        older = re.sub(r',"account":"default"', "", record)
        assert older != record
        sandbox.service._state.save_bookings({made.booking_id: older}, used_ids=0)

    with Sandbox(state=file) as sandbox, client_of(sandbox, "default") as ferry:
        assert ferry.bookings.get(made.booking_id).booking_id == made.booking_id


def test_booking_is_made_for_the_first_account(sandbox, north):
    made = sandbox.make_booking()
    assert north.bookings.get(made.booking_id) == made
