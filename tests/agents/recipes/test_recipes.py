"""The recipes of the guide book and ask a person, with the frameworks' own scripted models."""

from datetime import timedelta

import pytest

from ferry_sdk.agents import Toolkit
from tests.agents.agent import PASSENGERS, TRAVELLERS, approve_all, book
from tests.agents.recipes.adapters import ADAPTERS, client_of
from tests.support.tiers import LONG, mostly_long

pytestmark = pytest.mark.timeout(300)  # importing a framework takes seconds
SEVERAL_A_TURN = ["langgraph", "openai_agents", "pydantic_ai"]
"""The recipes whose frameworks collect the questions of a turn."""
TRIP = {"origin": "Tarifa", "destination": "MATNG", "on": "2050-06-06", "passengers": TRAVELLERS}


either_answer = pytest.mark.parametrize("agrees", [True, False], ids=["agreed", "declined"])


def book_a_trip(results):
    """Search, book the cheapest offer, and tell the end."""
    if not results:
        return "trips_find", TRIP
    if len(results) == 1:
        offer = results[0]["result"]["offers"][0]["offer"]
        return "bookings_create", {"offer": offer, "passengers": PASSENGERS}
    return told(results[-1])


def told(result):
    """Return how a call ended: its status, the code of its error, or the framework's words."""
    if not isinstance(result, dict):
        return f"the framework: {result}"
    return str(result["error"]["code"] if "error" in result else result["status"])


@pytest.fixture(params=mostly_long(ADAPTERS))
def run(request, known_routes, ferry_sandbox, monkeypatch):
    monkeypatch.setenv("LANGSMITH_TRACING", "false")
    return lambda script, ask: ADAPTERS[request.param](ferry_sandbox, script, ask)


@pytest.mark.slow
@either_answer
def test_a_recipe_books_only_what_a_person_approves(run, ferry_sandbox, agrees):
    questions = []
    end = run(book_a_trip, lambda question: questions.append(question) or agrees)
    assert end == "done" or not agrees
    (question,) = questions
    assert "EUR" in question
    assert ferry_sandbox.counters.requests["bookings.create"] == agrees


@LONG
@either_answer
@pytest.mark.parametrize("run", SEVERAL_A_TURN, indirect=True)
def test_equal_calls_of_one_turn_are_one_question(run, ferry_sandbox, agrees):
    def book_twice(results):
        if len(results) > 1:
            return "the end"
        move = book_a_trip(results)
        return [move, move] if results else move

    questions = []
    run(book_twice, lambda question: questions.append(question) or agrees)
    assert len(questions) == 1
    assert ferry_sandbox.counters.requests["bookings.create"] == agrees


@LONG
def test_a_yes_is_not_for_a_higher_price(run, ferry_sandbox):
    with client_of(ferry_sandbox) as ferry:
        toolkit = Toolkit(ferry, tools="all", writes=True, approve=approve_all)
        named = {"booking_id": book(toolkit)["booking_id"]}
        ferry.bookings.confirm(**named)
        questions = []

        def cancel(results):
            assert len(results) < 6, results
            if not results:
                return "bookings_get", named
            if len(results) == 1 or told(results[-1]) in {"price_changed", "penalty_exceeded"}:
                return "bookings_cancel", named
            return told(results[-1])

        def ask(question):
            questions.append(question)
            if len(questions) == 1:
                ferry_sandbox.clock.advance(timedelta(days=29, hours=12))
            return len(questions) == 1

        run(cancel, ask)
        assert len(set(questions)) == 2, questions
        assert ferry_sandbox.counters.requests["bookings.cancel"] == 0
