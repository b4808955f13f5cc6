"""What agents of earlier versions left behind: later toolkits know it."""

import json
from datetime import timedelta
from decimal import Decimal

import pytest
from pydantic import TypeAdapter

from ferry_sdk.agents import AuditRecord, Toolkit
from ferry_sdk.agents.policy.answers import RefusedError
from ferry_sdk.agents.policy.audit_file import AuditFile
from ferry_sdk.agents.policy.budget import Budget
from ferry_sdk.agents.policy.state import AgentState
from ferry_sdk.agents.toolkit import state_of
from tests.agents.agent import PASSENGERS, approve_all, error, result_of
from tests.golden.agents import LIMITS, order_of
from tests.golden.files import versions
from tests.golden.world import MOMENT, client_of, new_service, standing_still


@pytest.fixture(params=versions(), ids=lambda version: f"{version}/agents.db")
def version(request):
    """A version that has golden files."""
    return request.param


@pytest.fixture
def ferry():
    """A client of a service that makes the same offers to everybody."""
    with new_service() as service, client_of(service) as ferry:
        yield ferry


@pytest.fixture
def toolkit_of(folder, ferry):
    """Return a function that makes a toolkit with the state file of a version."""

    def make(approve=approve_all, **settings):
        settings = {"tools": "all", "writes": True, "state": folder / "agents.db", **settings}
        toolkit = Toolkit(ferry, approve=approve, **settings)
        toolkit._runner.writes.approvals.clock = lambda: 60.0
        return toolkit

    return make


def entries(folder, kind):
    """Return the entries of a table, oldest first."""
    statement = "SELECT key, value FROM entries WHERE kind = ? ORDER BY place"
    rows = AgentState(folder / "agents.db").execute(statement, kind)
    return {key: json.loads(value) for key, value in rows}


def test_what_was_spent_counts(folder, toolkit_of):
    spent = sum(Decimal(amount) for amount, _ in entries(folder, "spent").values())
    limited = toolkit_of(spend_limit={"EUR": spent})
    refused = error(limited.call("bookings_create", order_of(limited, 47)), "spend_limit")
    assert Decimal(refused["spent"]) == spent


def test_penalties_count(folder):
    ((key, (amount, currency)),) = entries(folder, "penalties").items()
    booking_id, _ = json.loads(key)
    budget = Budget(None, {currency: amount}, AgentState(folder / "agents.db"))
    with pytest.raises(RefusedError, match="more than allowed"):
        budget.hold_penalty(booking_id, "another ticket", Decimal(1), currency)


def test_offer_that_was_shown_can_be_booked(folder, toolkit_of):
    offer = [*entries(folder, "trips")][-1]
    wanted = {"offer": offer, "passengers": PASSENGERS}
    assert toolkit_of().preview("bookings_create", wanted).currency == "EUR"


def test_write_that_was_done_is_not_repeated(toolkit_of):
    toolkit = toolkit_of()
    error(toolkit.call("bookings_create", order_of(toolkit, 40)), "already_done")


def test_unknown_outcome_is_settled(toolkit_of):
    toolkit = toolkit_of()
    (unknown,) = toolkit.unresolved
    wanted = order_of(toolkit, 41)
    error(toolkit.call("bookings_create", wanted), "outcome_unknown")
    toolkit.settle(unknown.correlation_id, happened=False)
    result_of(toolkit.call("bookings_create", wanted))


def test_writes_in_progress_are_taken_over(folder, toolkit_of):
    with standing_still(MOMENT + timedelta(minutes=11)):
        assert len(toolkit_of().unresolved) == 2
    assert entries(folder, "under_way") == {}


def test_refusals_count(toolkit_of):
    asked = []
    toolkit = toolkit_of(asked.append)
    wanted = order_of(toolkit, 42)
    for _ in range(2):
        error(toolkit.call("bookings_create", wanted), "declined")
    assert len(asked) == 1  # the person has refused twice then


def test_code_approves_its_write(folder, toolkit_of):
    ((code, _),) = entries(folder, "codes").values()
    toolkit = toolkit_of(None, **LIMITS)
    wanted = order_of(toolkit, 43) | {"confirmation_code": code}
    result_of(toolkit.call("bookings_create", wanted))


def test_question_takes_its_answer(folder, toolkit_of):
    module = pytest.importorskip(
        "ferry_sdk.agents.mcp_server.questions", reason="mcp is not installed"
    )
    (sent,) = entries(folder, "questions")
    toolkit = toolkit_of()
    questions = module.Questions(state_of(toolkit))
    assert questions.take(sent, "bookings_create", order_of(toolkit, 44))


def test_approval_of_a_question_is_on_record(folder, toolkit_of):
    toolkit = toolkit_of(**LIMITS)
    request = toolkit.preview("bookings_create", order_of(toolkit, 44))
    state = state_of(toolkit)
    assert [*entries(folder, "agreed")] == [state.fingerprint(request.digest)]


def test_audit_file_is_gone_on_with(folder):
    file = folder / "audit.jsonl"
    records = [
        TypeAdapter(AuditRecord).validate_json(line)
        for line in file.read_text("utf-8").splitlines()
    ]
    AuditFile(file)(records[-1])
    *before, last, again = file.read_text("utf-8").splitlines()
    assert (len(before), again) == (len(records) - 1, last)
